"""What the first sentences claim is what the rows below them show, in simulated tables of every kind."""

import re

import numpy as np
import pandas as pd
import pytest

import blankets as bl
from blankets.report import report_content
from blankets.results import Doubt


def weak_and_strong(seed):
    rng = np.random.default_rng(seed)
    x = pd.DataFrame(rng.integers(0, 2, (1000, 20))).add_prefix("x")
    return x.assign(y=(rng.random(1000) < 0.2 + 0.5 * x.x0 + 0.1 * x.x1).astype(int)), {}


def noise(seed):
    rng = np.random.default_rng(1000 + seed)
    x = pd.DataFrame(rng.integers(0, 2, (1000, 50))).add_prefix("x")
    return x.assign(y=(rng.random(1000) < 0.2 + 0.5 * x.x0).astype(int)), {}


def numbers(seed):
    rng = np.random.default_rng(seed)
    x = pd.DataFrame(rng.normal(size=(300, 12))).add_prefix("x")
    return x.assign(y=x.x0 + 0.15 * x.x1 + rng.normal(size=300)), {}


def few_rows_and_copies(seed):
    rng = np.random.default_rng(seed)
    x = pd.DataFrame(rng.integers(0, 6, (150, 8))).add_prefix("x")
    near = np.where(rng.random(150) < 0.1, rng.integers(0, 6, 150), x.x0)
    return x.assign(near=near, y=(x.x0 + rng.integers(0, 2, 150)) % 3), {}


def holes(seed):
    table, _ = numbers(seed)
    return table.mask(np.random.default_rng(seed).random(table.shape) < 0.1).assign(y=table.y), {"missing": "testwise"}


def positives_only(seed):
    table, _ = weak_and_strong(seed)
    labeled = (table.y == 1) & (np.random.default_rng(seed).random(1000) < 0.5)
    return table.assign(y=np.where(labeled, 1.0, np.nan)), {"labels": "pu"}


def something_forbidden(seed):
    return weak_and_strong(seed)[0], {"knowledge": bl.Knowledge(forbidden=["x0"])}


@pytest.mark.parametrize(
    "made", [weak_and_strong, noise, numbers, few_rows_and_copies, holes, positives_only, something_forbidden]
)
@pytest.mark.parametrize("seed", range(9))
@pytest.mark.filterwarnings("ignore::blankets.errors.KnowledgeWarning")
def test_the_headline_claims_what_the_rows_show(made, seed):
    table, how = made(seed)
    blanket = bl.discover(table, "y", **how)
    alpha, members = 0.01, set(blanket.members)
    out = [name for name in table.columns if name in blanket.columns and name not in (*members, "y")]
    nothing, little = set(), set()
    for name in out:
        last = blanket.explain(name).evidence
        if last is not None and last.reliable and members <= set(last.given):
            (little if last.p <= alpha else nothing).add(name)
    meaning = report_content(blanket)["meaning"]
    if members:
        found = re.search(r"(?:the other|([\d,]+|one) other|the other ([\d,]+)) columns? tells? nothing more", meaning)
        counts = {"one": 1, None: len(out)}
        claimed = 0 if found is None else counts.get(found[1]) or int(found[1])
        assert claimed <= len(nothing - little)
    weak = {name for name, one in blanket.undecided.items() if one.reason is Doubt.WEAK}
    assert weak == little - set(how.get("knowledge", bl.Knowledge()).forbidden) - set(blanket.partly)
    assert all(name in meaning for name in sorted(weak)[:1]) or len(weak) > 5
    for name in nothing:
        assert "says dependent" not in str(blanket.explain(name))
