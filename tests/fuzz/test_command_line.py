"""Arguments of the command line at random: an exit code that the README names, and never a traceback."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from blankets.cli._main import run

COMMANDS = (
    *("discover", "select", "rank", "test", "advise", "explain", "algorithms", "plan", "simulate", "versions"),
    *("audit", "refute", "stability", "sensitivity", "latent", "pack"),
)
WORDS = (
    "a",
    "b",
    "t",
    "",
    "nan",
    "-1",
    "0",
    "0.5",
    "1e999",
    "iamb",
    "pcmb",
    "pu",
    "mcar",
    "<0.4",
    "level",
    "名",
    "x y",
)
OPTIONS = (
    *("--target", "--algorithm", "--alpha", "--json", "--explain", "--labels", "--prior", "--missing", "--exclude"),
    *("--keep", "--option", "-k", "--criterion", "--given", "--effect", "--power", "--rows", "--labeled", "--arity"),
    *("--seed", "--test", "--roles", "--zz", "--positive", "--discretize", "--n-bins", "--draws", "--fraction"),
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("files")
    rows = np.random.default_rng(4).integers(0, 2, (80, 3))
    (path / "good.csv").write_text("a,b,t\n" + "".join(f"{a},{b},{t}\n" for a, b, t in rows))
    (path / "bad.csv").write_bytes(b"\xff\xfe\0")
    return path


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    command=st.sampled_from(COMMANDS),
    file=st.sampled_from(["good.csv", "bad.csv", "none.csv", ""]),
    target=st.sampled_from([[], ["--target", "t"]]),
    words=st.lists(st.sampled_from(WORDS + OPTIONS), max_size=5),
)
@pytest.mark.filterwarnings("ignore::blankets.errors.BlanketsWarning")
def test_arguments_at_random(folder, command, file, target, words):
    assert run([command, str(folder / file), *target, *words]) in (0, 2, 3)


def test_the_codes_that_the_readme_names(folder):
    good, bad = str(folder / "good.csv"), str(folder / "bad.csv")
    assert run(["discover", good, "--target", "t"]) == 0
    assert run(["discover", good]) == 2
    assert run(["discover", good, "--target", "zz"]) == 3
    assert run(["discover", bad, "--target", "t"]) == 3
