"""`rank`, `select`, `mutual_information` and `plan` without cutting: against ordinary regressions and closed forms."""

import numpy as np
import pytest
from scipy import stats
from statsmodels.multivariate.cancorr import CanCorr

import blankets as bl
from blankets.errors import NotAnswerableError, ParameterError
from blankets.stats import explained_information

N = 400


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(11)
    a, b, noise = rng.normal(size=(3, N))
    copy = a + 0.2 * rng.normal(size=N)
    site = np.array(["north", "south", "west"])[rng.integers(0, 3, N)]
    y = a**2 + 0.8 * b + 1.5 * (site == "north") + rng.normal(size=N)
    return {"a": a, "b": b, "copy": copy, "noise": noise, "site": site, "y": y / np.std(y)}


def functions(values):
    """Return what a column is told by: a light-tailed number and its squared rank, or indicators."""
    if values.dtype.kind != "f":
        return np.column_stack([values == level for level in np.unique(values)[1:]]).astype(float)
    heavy = abs(stats.skew(values)) > 1 or stats.kurtosis(values) > 2
    u = (2 * stats.rankdata(values) - 1) / len(values) - 1
    return np.column_stack([stats.norm.ppf((u + 1) / 2) if heavy else values, u**2])


def unexplained(y, *columns):
    """Return 1 - R² of a least squares fit."""
    design = np.column_stack([np.ones(len(y)), *columns])
    left = y - design @ np.linalg.lstsq(design, y, rcond=None)[0]
    return (left @ left) / ((y - y.mean()) @ (y - y.mean()))


def nats(y, x, *given):
    return -np.log(unexplained(y, *given, x) / unexplained(y, *given)) / 2


def own(values):
    return functions(values)[:, 0]


def test_information_is_that_of_the_r_squared_of_a_regression(table):
    ranking = bl.rank(table, "y")
    expected = {x: nats(own(table["y"]), functions(table[x])) for x in table if x != "y"}
    assert list(ranking.names) == sorted(expected, key=expected.get, reverse=True)
    np.testing.assert_allclose(ranking.information, [expected[x] for x in ranking], rtol=1e-9)
    assert ranking.estimator == "explained variance"
    assert ranking.notes[0].startswith("Information without cutting: -½ ln(1 - R²)")
    assert bl.Ranking.from_json(ranking.to_json()) == ranking


def test_information_given_a_category_is_that_of_the_partial_r_squared(table):
    told = bl.mutual_information(table, "b", "y", given=["site"])
    expected = nats(own(table["y"]), functions(table["b"]), functions(table["site"]))
    assert told.value == pytest.approx(expected, rel=1e-9)
    assert bl.test(table, "b", "y", given=["site"]).estimate.value == pytest.approx(expected, rel=1e-9)
    assert bl.Estimate.from_json(told.to_json()) == told


def test_information_about_several_classes_is_that_of_canonical_correlations(table):
    told = bl.mutual_information(table, "y", "site")
    x, y = functions(table["y"]), functions(table["site"])
    r = CanCorr(y - y.mean(axis=0), x - x.mean(axis=0)).cancorr
    assert told.value == pytest.approx(-np.log1p(-(r**2)).sum() / 2, rel=1e-9)
    squared = bl.mutual_information(table, "y", "site", loss="squared")
    assert squared.value == pytest.approx((r**2).sum() / 2, rel=1e-9)


def unit(columns):
    q, _ = np.linalg.qr(columns - columns.mean(axis=0))
    return q.T


@pytest.mark.parametrize(("classes", "kappa"), [(1, 0.6), (2, 1.0)])
@pytest.mark.parametrize("loss", ["log", "squared"])
def test_the_variance_is_that_of_the_jackknife(table, kappa, classes, loss):
    few, times = 100, 20  # each row many times, so that to leave one out is a small change
    y = functions(table["site"]) if classes == 2 else np.sin(table["y"])[:, None]
    x, y, z = (np.tile(f[:few], (times, 1)) for f in (functions(table["a"]), y, table["b"][:, None]))
    n = few * times

    def told(rows):
        return explained_information(unit(x[rows]), unit(y[rows]), unit(z[rows]), kappa=kappa, loss=loss)

    without = np.array([told(np.arange(n) != i).value for i in range(few)])
    jackknife = (n - 1) ** 2 / n * np.var(without)
    assert float(told(np.full(n, True)).variance) == pytest.approx(jackknife, rel=0.02)


def test_a_surrogate_of_several_classes_has_no_kappa():
    with pytest.raises(ParameterError, match="κ is that of a surrogate with two classes"):
        explained_information(np.eye(2, 5), np.eye(2, 5), np.zeros((0, 5)), kappa=0.5)


def test_behind_labels_of_one_class_r_squared_is_larger_by_one_over_kappa():
    rng = np.random.default_rng(4)
    x, z = rng.normal(size=(2, 1000))
    positive = rng.random(1000) < 1 / (1 + np.exp(1 - x - z))
    label = np.where(positive & (rng.random(1000) < 0.5), 1.0, np.nan)
    table = {"x": x, "z": z, "y": label}
    s, prior = (label == 1).astype(float), 0.4
    kappa = s.mean() / (1 - s.mean()) * (1 - prior) / prior
    share = 1 - unexplained(s, functions(x))
    told = bl.mutual_information(table, "x", "y", labels="pu", prior=prior)
    assert told.value == pytest.approx(-np.log(1 - share / kappa) / 2, rel=1e-9)
    both = bl.select(table, "y", k=2, labels="pu", prior=prior)
    first, second = both.names
    shares = [1 - unexplained(s, functions(table[first]), *more) for more in ([], [functions(table[second])])]
    # The given number has eight functions, the one that is tested two: the first alone is what is exact here.
    assert both.relevance[0] == pytest.approx(-np.log(1 - shares[0] / kappa) / 2, rel=1e-9)
    assert both.scores[1] == pytest.approx(-np.log(1 - shares[1] / kappa) / 2, rel=0.05)
    through = bl.rank(table, "y", labels="pu")
    assert through.information[list(through).index("x")] == pytest.approx(-np.log(1 - share) / 2, rel=1e-9)


def test_labels_missing_by_chance_use_labeled_rows_and_by_class_one_class(table):
    rng = np.random.default_rng(5)
    ill = (table["y"] > np.median(table["y"])).astype(float)
    hidden = {"b": table["b"], "noise": table["noise"], "ill": np.where(rng.random(N) < 0.5, ill, np.nan)}
    seen = ~np.isnan(hidden["ill"])
    chance = bl.mutual_information(hidden, "b", "ill", labels="mcar")
    assert chance.value == pytest.approx(nats(ill[seen], functions(hidden["b"][seen])), rel=1e-9)
    assert chance.n_rows == seen.sum()
    s, prior = np.nan_to_num(hidden["ill"]), 0.3  # few positives: their labels tell more
    kappa = s.mean() / (1 - s.mean()) * (1 - prior) / prior
    share = 1 - unexplained(s, functions(hidden["b"]))
    by_class = bl.mutual_information(hidden, "b", "ill", labels="mar-c", prior=prior)
    assert by_class.value == pytest.approx(-np.log(1 - share / kappa) / 2, rel=1e-9)
    by_feature = bl.mutual_information(hidden, "b", "ill", labels="mar-f")
    assert "Continuous, cut into levels by the rule sturges: b." in by_feature.notes
    picked = bl.select(hidden, "ill", k=1, labels="mcar")
    assert picked.names == ("b",)


@pytest.mark.parametrize("criterion", ["mim", "mrmr", "mifs"])
def test_a_selection_is_that_of_regressions(table, criterion):
    picked = bl.select(table, "y", criterion=criterion, k=3)
    for place, name in enumerate(picked.names):
        score = nats(own(table["y"]), functions(table[name]))
        before = picked.names[:place] if criterion != "mim" else ()
        shared = 0.0
        for other in before:
            x = table[name]
            if x.dtype.kind == "f":
                shared += nats(own(x), functions(table[other]))
            else:  # Wilks' lambda of its indicators
                f, g = functions(x), functions(table[other])
                r = CanCorr(f - f.mean(axis=0), g - g.mean(axis=0)).cancorr
                shared += -np.log1p(-(r**2)).sum() / 2
        score -= shared / max(len(before), 1) if criterion == "mrmr" else shared
        assert picked.scores[place] == pytest.approx(score, abs=1e-9)
    assert "Information without cutting" in picked.labels


def test_what_a_copy_tells_is_not_new(table):
    assert {"a", "copy"} - set(bl.select(table, "y", criterion="mrmr", k=4).names)
    assert set(bl.select(table, "y", criterion="cmi", k=3).names) in ({"a", "b", "site"}, {"copy", "b", "site"})
    with pytest.raises(NotAnswerableError, match="criterion 'disr' divides by an entropy, which numbers do not have"):
        bl.select(table, "y", criterion="disr", k=2)


def test_rows_without_a_value_are_left_out_column_by_column(table):
    a = table["a"].copy()
    a[:100] = np.nan
    holes = {**table, "a": a}
    rest = {name: values[100:] for name, values in table.items()}
    ranking, complete = bl.rank(holes, "y"), bl.rank(rest, "y")
    at = list(ranking).index("a")
    assert ranking.information[at] == pytest.approx(complete.information[list(complete).index("a")], rel=1e-9)
    assert bl.mutual_information(holes, "a", "y").n_rows == N - 100
    picked = bl.select(holes, "y", criterion="mim", k=5)
    np.testing.assert_allclose(picked.relevance, ranking.information, rtol=1e-9)


def test_a_plan_for_a_number_has_its_correlation_or_difference():
    def rows(nats, kappa=1.0):
        limit = stats.chi2.isf(0.01, 2)
        n = np.arange(2, 2000)
        return n[np.argmax(stats.ncx2.sf(limit, 2, 2 * kappa * n * nats) >= 0.9)]

    assert bl.plan(correlation=-0.3, power=0.9).answer == rows(-np.log(1 - 0.09) / 2)
    found = bl.plan(difference=0.6, prior=0.25, power=0.9)
    p, d = 0.25, 0.6
    share = p * (1 - p) * d**2 / (1 + p * (1 - p) * d**2)  # variance between classes over all variance
    assert found.answer == rows(-np.log(1 - share) / 2)
    assert "The two classes, of which the positive one has 0.25 of the rows, differ by 0.6" in repr(found)
    hidden = bl.plan(correlation=0.3, power=0.9, labels="pu", prior=0.2, labeled=0.05)
    assert hidden.answer == rows(-np.log(1 - 0.09) / 2, 0.05 / 0.95 * 0.8 / 0.2)
    assert "levels" not in repr(hidden)
    table = bl.planning_table(correlation=[0.2, 0.3], power=0.9)
    assert table.answers[1] == rows(-np.log(1 - 0.09) / 2)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"correlation": 0.0}, "'correlation' must be between -1 and 1, and not 0"),
        ({"difference": 0}, "'difference' must be a number of standard deviations, not 0"),
        ({"correlation": 0.2, "difference": 1.0}, "give 'correlation' or 'difference', not both"),
        ({"correlation": 0.2, "effect": 0.1}, "leave out 'effect' and 'effect_w'"),
        ({"correlation": 0.2, "arity": 3}, "leave out 'arity', 'dof', 'target_arity' and 'strata'"),
        ({"difference": 0.5, "prior": (0.1, 0.3)}, "give 'prior' as a number"),
    ],
)
def test_what_does_not_go_with_the_effect_of_a_number_is_refused(options, message):
    with pytest.raises(ParameterError, match=message):
        bl.plan(power=0.9, **options)
