"""Members are confirmed on rows that did not choose them."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf
from statsmodels.stats.multitest import multipletests

import blankets as bl
from blankets.errors import DataError, NotAnswerableError, ParameterError
from blankets.stats import holm


def table(n: int = 1200, seed: int = 0, effects: tuple[float, ...] = (0.4, 0.3)) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(6, n))
    y = sum(b * column for b, column in zip(effects, x, strict=False)) + rng.normal(size=n)
    return {**{f"x{j}": column for j, column in enumerate(x)}, "y": y}


def part(columns: dict[str, np.ndarray], rows: slice) -> dict[str, np.ndarray]:
    return {name: column[rows] for name, column in columns.items()}


def test_holm_is_that_of_statsmodels():
    p = np.random.default_rng(1).random(20) ** 3
    assert holm(np.log(p)) == pytest.approx(multipletests(p, method="holm")[1])


def test_members_are_tested_given_the_others_on_the_new_rows():
    whole = table()
    blanket = bl.discover(part(whole, slice(600)), "y")
    assert set(blanket.members) == {"x0", "x1"}
    found = blanket.confirm(part(whole, slice(600, None)))
    assert found.confirmed == blanket.members
    assert found.n_rows == 600
    fit = smf.ols("y ~ x0 + x1", pd.DataFrame(part(whole, slice(600, None)))).fit(cov_type="HC3")
    for name in ("x0", "x1"):  # three questions share the evidence, and its law has heavier tails than the normal one
        assert found.log_p[name] == pytest.approx(np.log(fit.pvalues[name]), rel=0.4)
    assert bl.confirm(blanket, part(whole, slice(600, None))) == found
    assert bl.Confirmation.from_json(found.to_json()) == found


def test_rows_are_set_aside_before_the_search():
    found = bl.discover(table(), "y", confirm=0.4, rng=1)
    assert (found.n_rows, found.confirmation.n_rows) == (720, 480)
    assert set(found.confirmation.confirmed) == {"x0", "x1"}
    assert "Confirmed on 480 other rows: 2 of 2 members (" in str(found)
    assert bl.Blanket.from_json(found.to_json()) == found


def test_groups_stay_together_and_series_are_cut_once():
    grouped = {**table(), "who": np.arange(1200) // 4}
    found = bl.discover(grouped, "y", confirm=0.5, groups="who", rng=2)
    assert found.confirmation.n_rows == 600
    assert "whole groups" in found.confirmation.how
    series = np.cumsum(np.random.default_rng(3).normal(size=(3, 400)), axis=1)
    timed = bl.discover(dict(zip("aby", series, strict=True)), "y", confirm=0.25, rng=2)
    assert "the last rows" in timed.confirmation.how


@pytest.mark.filterwarnings("ignore::blankets.errors.KnowledgeWarning")
def test_noise_is_seldom_confirmed():
    """No column matters; the members are named, so that each of 300 tables makes three sentences."""
    false, draws = 0, 300
    blanket = bl.discover(table(400), "y", knowledge=bl.Knowledge(required=["x2", "x3", "x4"]))
    for seed in range(draws):
        false += bool(set(blanket.confirm(table(100, seed + 10)).confirmed) - {"x0", "x1"})
    assert false / draws <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / draws)


def test_what_is_refused():
    whole = table()
    blanket = bl.discover(whole, "y")
    with pytest.raises(DataError, match="these are the rows in which the blanket was found"):
        blanket.confirm(whole)
    with pytest.raises(ParameterError, match="must be a Blanket, as discover returns it"):
        bl.confirm("age", whole)
    with pytest.raises(ParameterError, match="'confirm' must be a share of the rows between 0 and 1"):
        bl.discover(whole, "y", confirm=1.0)
    together = bl.discover(whole, "y", knowledge=bl.Knowledge(together=[["x0", "x1"]]))
    with pytest.raises(NotAnswerableError, match="columns that are in or out together are no single members"):
        together.confirm(table(seed=5))
