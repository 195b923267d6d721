"""What to adjust for: valid sets under a perfect test, effects that cover the truth, published E-values."""

import networkx as nx
import numpy as np
import pytest
import statsmodels.api as sm

import blankets as bl
from blankets.errors import DataError, ParameterError
from blankets.independence import DSeparation
from blankets.search import Trace, find
from blankets.stats import e_value, predict_linear, treatment_effect

POOL = ("age", "lot", "diet", "noise")


def table(n: int = 2000, seed: int = 0, *, classes: bool = True) -> dict[str, np.ndarray]:
    """Return a treatment with the effect 2 that age confounds; lot is an instrument, diet is precision."""
    rng = np.random.default_rng(seed)
    age, lot, diet, noise, e = rng.normal(size=(5, n))
    chance = 1 / (1 + np.exp(-age - lot))
    drug = np.where(rng.random(n) < chance, "yes", "no") if classes else age + lot + rng.normal(size=n)
    t = (drug == "yes") if classes else drug
    score = 2.0 * t + age + diet + e
    return {"age": age, "lot": lot, "diet": diet, "noise": noise, "drug": drug, "score": score, "late": score + 1.0 * t}


def random_graph(rng: np.random.Generator, n: int = 9) -> nx.DiGraph:
    order = [f"v{j}" for j in rng.permutation(n)]
    graph = nx.DiGraph()
    graph.add_nodes_from(order)
    share = rng.choice([0.2, 0.35])
    graph.add_edges_from((order[i], order[j]) for i in range(n) for j in range(i + 1, n) if rng.random() < share)
    return graph


def test_the_sets_are_valid_in_random_graphs():
    """Both sets close every backdoor path: with the treatment's arrows cut they separate it from the outcome."""
    rng, checked = np.random.default_rng(1), 0
    while checked < 300:
        graph = random_graph(rng)
        t = f"v{rng.integers(9)}"
        after = nx.descendants(graph, t)
        if not after:
            continue
        y, checked = str(rng.choice(sorted(after))), checked + 1
        pool = [v for v in graph if v not in after and v != t]
        tests = DSeparation(graph)
        at = tests.names.index

        def blanket(target: str, among: list[str], required: tuple[str, ...] = (), tests=tests, at=at) -> set[str]:
            rest = [*among, *required]
            return {m for m in among if tests.test(at(m), at(target), [at(z) for z in rest if z != m]).dependent(0.01)}

        of_outcome, of_treatment = blanket(y, pool, (t,)), blanket(t, pool)
        cut = graph.copy()
        cut.remove_edges_from(list(graph.out_edges(t)))
        # Only the direct and indirect effects are left out: what is between them stays open in the graph that was cut.
        for some in (of_outcome, of_outcome | of_treatment):
            assert nx.is_d_separator(cut, {t}, {y}, some), (sorted(graph.edges), t, y, some)


def test_the_default_search_finds_the_blanket_of_a_pool():
    graph = nx.DiGraph([("c", "t"), ("c", "y"), ("t", "y"), ("i", "t"), ("p", "y")])
    tests = DSeparation(graph)
    found = find("iamb").run(
        tests, tests.names.index("y"), [tests.names.index(v) for v in "citp"], alpha=0.01, trace=Trace()
    )
    assert {tests.names[x] for x in found.members} == {"c", "t", "p"}


@pytest.mark.parametrize("classes", [True, False])
def test_confounder_precision_and_instrument(classes):
    found = bl.adjust(table(classes=classes), "drug", "score", before=POOL, rng=0)
    assert dict(found.roles) == {"age": "confounder", "diet": "precision", "lot": "instrument"}
    assert found.efficient == ("age", "diet")
    assert abs(found.effect.estimate - 2.0) < 0.75 * (found.effect.high - found.effect.low)  # three standard errors
    (none,) = [one for one in found.effects if one.given == "nothing"]
    assert not none.low < 2.0 < none.high
    assert set(found.to_networkx().predecessors("drug")) == {"age", "lot"}
    assert bl.Adjustment.from_json(found.to_json()) == found
    assert "age: goes with the treatment and with the outcome: it must be held fixed." in str(found)
    assert "Nobody said" not in str(found)


def test_the_slope_is_that_of_least_squares():
    data = table(5000, classes=False)
    columns = np.column_stack([data["age"], data["diet"]])
    found = treatment_effect(data["score"], data["drug"], columns, rng=np.random.default_rng(0)).difference
    fit = sm.OLS(data["score"], sm.add_constant(np.column_stack([data["drug"], columns]))).fit(cov_type="HC3")
    assert found[0] == pytest.approx(fit.params[1], abs=fit.bse[1] / 5)  # predictions come from other rows
    assert (found[2] - found[1]) / (2 * 1.96) == pytest.approx(fit.bse[1], rel=0.05)


def test_one_of_two_models_may_be_wrong():
    """The outcome is a curve of z: a line does not fit it, but the propensity is right; and the other way round."""
    covered, draws = np.zeros(2), 60
    for seed in range(draws):
        rng = np.random.default_rng(seed)
        z = rng.normal(size=1000)
        t = (rng.random(1000) < 1 / (1 + np.exp(-z))).astype(float)
        curved = treatment_effect(t + z**2 + rng.normal(size=1000), t, z[:, None], rng=rng).difference
        odd = (rng.random(1000) < 0.2 + 0.6 * (np.abs(z) < 1)).astype(float)
        line = treatment_effect(odd + z + rng.normal(size=1000), odd, z[:, None], rng=rng).difference
        covered += [curved[1] <= 1 <= curved[2], line[1] <= 1 <= line[2]]
    assert (covered / draws >= 0.95 - 3 * np.sqrt(0.95 * 0.05 / draws)).all()


def test_risk_ratios_and_published_e_values():
    """VanderWeele & Ding (2017): risk ratio 3.9 (1.8 to 8.7) has E-values 7.26 and 3.0."""
    assert [round(e_value(ratio), 2) for ratio in (3.9, 1.8, 1 / 3.9)] == [7.26, 3.0, 7.26]
    rng = np.random.default_rng(2)
    z = rng.normal(size=6000)
    t = rng.random(6000) < 1 / (1 + np.exp(-z))
    risk = np.clip(0.2 + 0.05 * z, 0.02, 0.9)
    ill = rng.random(6000) < np.where(t, 2 * risk, risk)
    found = bl.adjust({"z": z, "t": t, "ill": ill}, "t", "ill", before=["z"], rng=0)
    (ratio,) = [one for one in found.effects if one.measure == "risk ratio" and one.given == "all of these"]
    assert ratio.low < 2.0 < ratio.high
    assert found.e_value == pytest.approx(ratio.estimate + np.sqrt(ratio.estimate * (ratio.estimate - 1)))


def test_any_learner_and_groups():
    from sklearn.linear_model import LinearRegression, LogisticRegression

    data = table()
    plain = bl.adjust(data, "drug", "score", before=POOL, rng=0).effect
    pair = (LinearRegression(), LogisticRegression(C=1e6))
    assert bl.adjust(data, "drug", "score", before=POOL, rng=0, learner=pair).effect.estimate == pytest.approx(
        plain.estimate, abs=1e-3
    )
    twice = {name: np.repeat(column, 2) for name, column in data.items()} | {"who": np.repeat(np.arange(2000), 2)}
    grouped = bl.adjust(twice, "drug", "score", before=POOL, groups="who", rng=0).effect
    assert grouped.high - grouped.low == pytest.approx(plain.high - plain.low, rel=0.1)  # copies tell nothing new


def test_constant_predictions():
    assert predict_linear(np.zeros((5, 0)), np.ones(5), np.zeros((2, 0))).tolist() == [1.0, 1.0]


def test_what_is_refused_and_what_is_assumed():
    data = table()
    known = bl.Knowledge(tiers=[list(POOL), ["drug"], ["late", "score"]])
    with pytest.raises(ParameterError, match="late come after drug by your tiers: columns on which a treatment acts"):
        bl.adjust(data, "drug", "score", before=["age", "late"], knowledge=known)
    found = bl.adjust(data, "drug", "score", knowledge=known, rng=0)
    assert (found.before, found.assumed) == (POOL, False)
    assert "Nobody said which columns are before the treatment" in str(bl.adjust(data, "drug", "score", rng=0))
    with pytest.raises(ParameterError, match="'before' holds score"):
        bl.adjust(data, "drug", "score", before=["score"])
    with pytest.raises(ParameterError, match="treatment and outcome must be two columns"):
        bl.adjust(data, "drug", "drug")
    three = {**data, "drug": np.array(list("abc"))[np.arange(2000) % 3]}
    with pytest.raises(DataError, match="'drug' has 3 classes; an effect is that of a number or of one class"):
        bl.adjust(three, "drug", "score", before=POOL)
    with pytest.raises(DataError, match="rows with all of these values are too few for an effect of drug"):
        bl.adjust({name: column[:40] for name, column in data.items()}, "drug", "score", before=["age"])
    with pytest.raises(ParameterError, match="an estimator with fit and predict, or a pair of them"):
        bl.adjust(data, "drug", "score", before=POOL, learner="forest")
    from sklearn.linear_model import LogisticRegression

    with pytest.raises(ParameterError, match="a classifier cannot predict a number"):
        bl.adjust(data, "drug", "score", before=POOL, learner=LogisticRegression())
