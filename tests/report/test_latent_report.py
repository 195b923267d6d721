"""The page about a blanket with latent members."""

import re

import numpy as np
import pytest

import blankets as bl
from blankets.errors import DataError


@pytest.fixture(scope="module")
def found():
    rng = np.random.default_rng(0)
    hidden = rng.random(3000) < 0.4
    table = {
        "<b>one</b>": rng.random(3000) < np.where(hidden, 0.85, 0.15),
        "two": rng.random(3000) < np.where(hidden, 0.8, 0.2),
        "three": rng.random(3000) < np.where(hidden, 0.8, 0.1),
        "target": rng.random(3000) < np.where(hidden, 0.8, 0.15),
    }
    return bl.discover_latent(table, "target", n_restarts=4, rng=0)


def test_the_page_tells_what_was_found(found, tmp_path):
    page = found.report(tmp_path / "latent.html").read_text(encoding="utf-8")
    assert found.latents
    for text in ("Latent Markov blanket of target", found.latents[0].name, "What competed", found.method):
        assert text in page
    assert f"{found.latents[0].table.ravel()[0]:.3f}" in page
    assert len(page) < 200_000
    # The rows of a latent's table are named by the levels of its parents, or said to hold always.
    first = found.latents[0]
    assert (">target = False</th>" in page) if first.parents == ("target",) else (">always</th>" in page)


def test_names_stay_text_and_nothing_is_loaded(found, tmp_path):
    page = found.report(tmp_path / "latent.html").read_text(encoding="utf-8")
    assert "<b>one</b>" not in page
    assert "&lt;b&gt;one&lt;/b&gt;" in page
    assert not re.findall(r'(?:src|href)="(?!#)', page)
    assert "default-src 'none'" in page


def test_a_folder_that_is_not_there(found, tmp_path):
    with pytest.raises(DataError, match="cannot write"):
        found.report(tmp_path / "no" / "latent.html")
