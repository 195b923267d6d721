"""discover_latent: the networks of the paper, data without latents, hidden labels, the result object."""

import json
import math
from xml.etree import ElementTree

import numpy as np
import pytest

from blankets import discover_latent
from blankets.data import Frame
from blankets.errors import DataError, NotAnswerableError, ParameterError, RegimeWarning, TargetError
from blankets.latent._choice import Merits, better
from blankets.latent._local import open_local
from blankets.latent._methods import Effort, lmb_csem, scsem, sem


def coin(rng, probability):
    return (rng.random(len(probability)) < probability).astype(int)


def four_nodes(rng, n_rows=10_000):
    """T -> C -> B, F with C hidden; conditional tables uniform at random."""
    t = coin(rng, np.full(n_rows, rng.random()))
    c = coin(rng, rng.random(2)[t])
    return Frame.from_codes(
        np.column_stack([t, coin(rng, rng.random(2)[c]), coin(rng, rng.random(2)[c])]), arities=[2] * 3
    )


def distance(found, true):
    hits = len(found & true)
    precision = hits / len(found) if found else 1.0
    return math.hypot(1 - precision, 1 - hits / len(true))


@pytest.mark.slow
def test_hidden_child_of_the_paper():
    # Gao & Ji, Table 1 (4BN) with the observed blanket handed over: LMB-CSEM below SCSEM below SEM.
    rng, errors = np.random.default_rng(2024), {"lmb-csem": [], "scsem": [], "sem": []}
    for repetition in range(50):
        stage = open_local(four_nodes(rng), 0, [1, 2])
        for name, method, n_restarts in (("lmb-csem", lmb_csem, 20), ("scsem", scsem, 20), ("sem", sem, 1)):
            effort = Effort(n_restarts=n_restarts, max_latents=1)
            outcome = method(stage, effort, np.random.default_rng(repetition))
            errors[name].append(distance(set(outcome.stage.members), {3}))
    means = {name: float(np.mean(values)) for name, values in errors.items()}
    assert means["lmb-csem"] <= 0.05
    assert means["lmb-csem"] < means["scsem"] < means["sem"]


def naive_bayes(rng, n_rows=4000, n_features=4):
    """T -> features, nothing hidden."""
    t = rng.integers(0, 2, n_rows)
    features = [np.where(rng.random(n_rows) < 0.2, 1 - t, t) for _ in range(n_features)]
    return {**{f"x{k}": column for k, column in enumerate(features)}, "T": t}


@pytest.mark.parametrize("n_features", [2, 3, 4])
def test_copies_of_the_target_do_not_win(n_features):
    found = discover_latent(
        naive_bayes(np.random.default_rng(n_features), n_features=n_features), "T", n_restarts=10, rng=0
    )
    assert found.latents == ()
    assert set(found.members) == {f"x{k}" for k in range(n_features)}
    assert all(score.refused for score in found.scores[1:])
    lowered = [score for score in found.scores[1:] if score.refused.startswith("it lowers the BIC by")]
    assert bool(lowered) == (n_features > 2)
    for score in lowered:
        said = float(score.refused.removeprefix("it lowers the BIC by ").removesuffix(" nats"))
        assert said == pytest.approx(found.scores[0].bic - score.bic, rel=0.06)  # two digits


def hidden_child(rng, n_rows=4000):
    """T -> H <- s, H -> a, b, c; p -> T; H hidden."""
    p, s = rng.integers(0, 2, (2, n_rows))
    t = np.where(rng.random(n_rows) < 0.2, 1 - p, p)
    h = coin(rng, np.array([[0.05, 0.4], [0.6, 0.95]])[t, s])
    leaves = [np.where(rng.random(n_rows) < 0.12, 1 - h, h) for _ in range(3)]
    return {"p": p, "s": s, "a": leaves[0], "b": leaves[1], "c": leaves[2], "T": t}, h


TABLE, HIDDEN = hidden_child(np.random.default_rng(5))


@pytest.fixture(scope="module")
def found():
    return discover_latent(TABLE, "T", n_restarts=20, rng=0, n_jobs=1)


def test_end_to_end(found):
    assert set(found.observed) == {"p", "s", "a", "b", "c"}
    assert set(found.members) == {"p", "s", "H1"}
    (latent,) = found.latents
    assert (latent.position, latent.certain) == ("child", True)
    assert set(latent.replaced) == set(latent.children) == {"a", "b", "c"}
    assert set(latent.parents) == {"s", "T"}
    # States go by p(T = last | state): the second one is h = 1.
    axes = [latent.parents.index("T"), latent.parents.index("s")]
    table = latent.table[..., 1].transpose(axes)
    assert table == pytest.approx(np.array([[0.05, 0.4], [0.6, 0.95]]), abs=0.08)
    assert latent.prevalence[1] == pytest.approx(HIDDEN.mean(), abs=0.04)
    assert len(found) == 3
    assert "H1" in found
    assert list(found) == list(found.members)


def test_scores_by_subspace(found):
    names = [score.subspace for score in found.scores]
    assert names[:3] == ["observed", "parent", "child"]
    assert any(name.startswith("spouse through") for name in names)
    best = next(s for s in found.scores if s.subspace == "child")
    assert best.refused == ""
    assert best.mi > found.scores[0].mi
    assert best.bic > found.scores[0].bic


def test_posterior_follows_the_hidden_values_and_ignores_the_target(found):
    rows = found.posterior(TABLE)
    assert rows.shape == (4000, 2)
    assert rows.sum(axis=1) == pytest.approx(1.0)
    # Three leaves, each wrong with probability 0.12: the majority errs in 4% of rows, less with s and p.
    assert np.mean(rows.argmax(axis=1) == HIDDEN) > 0.95
    without = {name: column for name, column in TABLE.items() if name != "T"}
    flipped = {**TABLE, "T": 1 - TABLE["T"]}
    assert np.array_equal(found.posterior(without), rows)
    assert np.array_equal(found.posterior(flipped), rows)
    assert not np.allclose(found.posterior(flipped, use_target=True), found.posterior(TABLE, use_target=True))


def test_predictions_are_bayes_rule(found):
    predicted = found.predict_proba(TABLE)
    assert predicted.sum(axis=1) == pytest.approx(1.0)
    keys = np.column_stack([TABLE[name] for name in ("p", "s", "a", "b", "c")]) @ (1 << np.arange(5))
    for key in np.flatnonzero(np.bincount(keys) > 200):
        here = keys == key
        share = TABLE["T"][here].mean()
        # within four standard errors of the share in the data
        assert predicted[here, 1][0] == pytest.approx(share, abs=4 * math.sqrt(0.25 / here.sum()))


def test_explanations_and_json(found):
    text = found.explain("H1")
    assert "H1 is a latent child of 'T'." in text
    assert "tell nothing more about the target" in text
    assert found.explain("p") == "'p' is a member of the blanket of 'T'."
    assert found.explain("a") == "'a' was in the observed blanket; H1 made it irrelevant."
    with pytest.raises(ParameterError, match="unknown column 'T'"):
        found.explain("T")
    plain = json.loads(found.to_json())
    assert plain["schema_version"] == 4
    assert plain["members"] == list(found.members)
    assert plain["latents"][0]["position"] == "child"
    assert "Latent Markov blanket of 'T'" in repr(found)
    with pytest.raises(ParameterError, match="unknown latent 'H2'; did you mean 'H1'"):
        found.latent("H2")


def test_picture_is_well_formed_and_names_are_escaped():
    table = {f"<b>{name}": column for name, column in TABLE.items()}
    found = discover_latent(table, "<b>T", n_restarts=4, rng=0)
    root = ElementTree.fromstring(found.picture())
    boxes = root.findall(".//{http://www.w3.org/2000/svg}rect")
    assert len(boxes) == len(found.graph)
    assert sum("stroke-dasharray" in box.attrib for box in boxes) == len(found.latents)
    assert len(root.findall("{http://www.w3.org/2000/svg}path")) == found.graph.number_of_edges()
    assert "<b>" not in found._repr_html_()
    assert "&lt;b&gt;T" in found._repr_html_()


def test_names_of_latents_do_not_collide():
    table = {("H1" if name == "a" else name): column for name, column in TABLE.items()}
    assert discover_latent(table, "T", n_restarts=4, rng=0, max_latents=1).latents[0].name == "H1_"


def test_seeds_threads_and_progress():
    told = []
    runs = [
        discover_latent(TABLE, "T", blanket=["s", "a", "b", "c"], n_restarts=4, rng=3, n_jobs=n, progress=told.append)
        for n in (1, 2)
    ]
    first, second = ({**run.to_dict(), "call": None} for run in runs)
    assert first == second
    assert "latent 1, parent: restart 1 of 4" in told


def test_any_algorithm_gives_the_observed_blanket():
    found = discover_latent(TABLE, "T", algorithm="iamb", n_restarts=4, rng=0)
    assert set(found.observed) == {"p", "s", "a", "b", "c"}
    assert found.settings["algorithm"] == "iamb"
    bdeu = discover_latent(TABLE, "T", algorithm="sll", options={"score": "bdeu"}, n_restarts=1, rng=0)
    assert set(bdeu.observed) == {"p", "s", "a", "b", "c"}


def test_two_latents_one_after_another():
    rng = np.random.default_rng(1)
    t = rng.integers(0, 2, 6000)
    one, two = (np.where(rng.random(6000) < 0.2, 1 - t, t) for _ in range(2))
    leaves = {
        f"{name}{k}": np.where(rng.random(6000) < 0.1, 1 - h, h)
        for name, h in (("a", one), ("b", two))
        for k in range(3)
    }
    found = discover_latent({**leaves, "T": t}, "T", n_restarts=10, rng=0)
    assert [latent.name for latent in found.latents] == ["H1", "H2"]
    assert set(found.members) == {"H1", "H2"}
    assert {tuple(sorted(latent.replaced)) for latent in found.latents} == {("a0", "a1", "a2"), ("b0", "b1", "b2")}
    right = {}
    for latent in found.latents:
        truth = one if "a0" in latent.replaced else two
        right[latent.name] = np.mean(found.posterior(leaves, latent.name).argmax(axis=1) == truth)
    assert min(right.values()) > 0.95


@pytest.mark.parametrize("score", ["bic", "error", "cll"])
def test_other_scores(score):
    found = discover_latent(TABLE, "T", n_restarts=6, rng=0, score=score, max_latents=1)
    observed, *tried = found.scores
    if found.latents:
        winner = max((s for s in tried if not s.refused), key=lambda s: s.bic)
        assert {"bic": winner.bic >= observed.bic, "error": winner.error <= observed.error, "cll": True}[score]
    assert found.score == score


@pytest.mark.parametrize("method", ["sem", "scsem"])
def test_other_methods(method):
    found = discover_latent(TABLE, "T", n_restarts=10, rng=0, method=method)
    assert found.method == method
    assert [score.subspace for score in found.scores] == ["observed", "anywhere"]
    assert found.latents[0].name == "H1"


def test_missing_labels_are_missing_values():
    rng = np.random.default_rng(11)
    hidden = rng.random(4000) < 0.5
    partly = {**TABLE, "T": [None if gone else int(value) for gone, value in zip(hidden, TABLE["T"], strict=True)]}
    found = discover_latent(partly, "T", n_restarts=10, rng=0, labels="mcar")
    assert set(found.members) == {"p", "s", "H1"}
    # the class share of all rows is estimated, although half of the labels are gone
    predicted = found.predict_proba({name: TABLE[name] for name in ("p", "s", "a", "b", "c")})[:, 1]
    assert predicted.mean() == pytest.approx(TABLE["T"].mean(), abs=0.03)
    with pytest.warns(RegimeWarning, match="2,038 of 4,000 rows have no value of the target and are left out"):
        discover_latent(partly, "T", blanket=["p", "a"], n_restarts=1)
    for regime in ("pu", "mar-c"):
        with pytest.raises(NotAnswerableError, match=f"labels='{regime}': whether a label is missing depends"):
            discover_latent(partly, "T", labels=regime)
    assert discover_latent(partly, "T", blanket=["p", "a"], labels="mar-f", n_restarts=1).settings["labels"] == "mar-f"


def test_labels_missing_by_features_do_not_bias_the_class_share():
    # Labels go missing where p = 1, so labeled rows alone have too few positives; EM on all rows is not misled.
    gone = (TABLE["p"] == 1) & (np.random.default_rng(0).random(4000) < 0.8)
    partly = {**TABLE, "T": [None if g else int(value) for g, value in zip(gone, TABLE["T"], strict=True)]}
    found = discover_latent(partly, "T", blanket=["p", "s", "a", "b", "c"], n_restarts=10, rng=0, labels="mar-f")
    share = found.predict_proba({name: TABLE[name] for name in ("p", "s", "a", "b", "c")})[:, 1].mean()
    assert abs(TABLE["T"][~gone].mean() - TABLE["T"].mean()) > 0.1
    assert share == pytest.approx(TABLE["T"].mean(), abs=0.03)


def test_hidden_spouse_then_hidden_child():
    """T -> X <- H with leaves a, b, c; T -> K with leaves d, e, f; H and K hidden."""
    rng = np.random.default_rng(7)
    t, h = rng.integers(0, 2, (2, 8000))
    x = coin(rng, np.array([[0.05, 0.9], [0.9, 0.2]])[t, h])
    k = np.where(rng.random(8000) < 0.2, 1 - t, t)
    table = {name: np.where(rng.random(8000) < 0.1, 1 - h, h) for name in "abc"}
    table |= {name: np.where(rng.random(8000) < 0.1, 1 - k, k) for name in "def"}
    found = discover_latent({**table, "X": x, "T": t}, "T", blanket=[*"abcdef", "X"], n_restarts=20, rng=0)
    places = {latent.replaced: latent.position for latent in found.latents}
    assert places["a", "b", "c"] == "spouse"
    assert places["d", "e", "f"] in ("parent", "child")
    assert set(found.members) == {"X", "H1", "H2"}


def test_small_blankets_are_returned_as_they_are():
    found = discover_latent({"a": TABLE["p"], "T": TABLE["T"]}, "T")
    assert found.members == ("a",)
    assert found.latents == ()
    assert "too small to be improved by a latent" in found.warnings[0]
    assert "note: the observed blanket is too small" in repr(found)
    with pytest.raises(ParameterError, match="no latent was found in the blanket of 'T'"):
        found.posterior({"a": [0]})


def test_columns_near_a_small_blanket_help_to_tell_a_latent():
    # One leaf hangs on T directly and hides the others from it: T -> a, H -> a, b, c, d is seen only with b, c, d.
    rng = np.random.default_rng(4)
    t = rng.integers(0, 2, 5000)
    h = np.where(rng.random(5000) < 0.35, 1 - t, t)
    a = np.where(rng.random(5000) < 0.02, 1 - h, h)
    rest = {name: np.where(rng.random(5000) < 0.3, 1 - h, h) for name in "bcd"}
    found = discover_latent({"a": a, **rest, "T": t}, "T", n_restarts=10, rng=0)
    assert found.observed == ("a",)
    assert len(found.graph) > 3
    near = next(name for name in found.graph if name in rest)
    assert found.explain(near) == f"{near!r} is not in the blanket of 'T'; it was looked at because it is near."
    assert not set(found.members) & set(rest)


@pytest.mark.parametrize(
    ("kwargs", "error", "message"),
    [
        ({"method": "lmb"}, ParameterError, "unknown method 'lmb'; did you mean 'lmb-csem'"),
        ({"score": "mii"}, ParameterError, "unknown score 'mii'; did you mean 'mi'"),
        ({"completion": "hard"}, ParameterError, "unknown completion 'hard'"),
        ({"arity": 1}, ParameterError, "'arity' must be a whole number, at least 2, but it is 1"),
        ({"n_restarts": 0}, ParameterError, "'n_restarts' must be a whole number, at least 1, but it is 0"),
        ({"prior": 0.2}, ParameterError, "there is no argument 'prior'"),
        ({"mising": "level"}, ParameterError, "there is no argument 'mising'; did you mean 'missing'"),
        ({"alpha": 7}, ParameterError, "'alpha' must be a significance level between 0 and 1, both excluded"),
        ({"blanket": "ab"}, ParameterError, "'blanket' must be a sequence of column names, but it is 'ab'"),
        ({"blanket": ["a", "a"]}, ParameterError, "holds the target, or a name twice: 'a', 'a'"),
        ({"blanket": ["a", "z"]}, DataError, "there is no column 'z'"),
        ({"algorithm": "imab"}, ParameterError, "unknown algorithm 'imab'; did you mean 'iamb'"),
        ({"options": {"k": 3}}, ParameterError, "algorithm 'iamb' has no option 'k'"),
        ({"target": None}, TargetError, "no target was named"),
    ],
)
def test_wrong_arguments(kwargs, error, message):
    arguments = {"target": "T", **kwargs}
    with pytest.raises(error, match=message):
        discover_latent(TABLE, arguments.pop("target"), **arguments)


def test_blankets_too_large_for_exact_steps():
    codes = np.random.default_rng(0).integers(0, 2, (200, 15))
    frame = Frame.from_codes(codes, arities=[2] * 15)
    with pytest.raises(ParameterError, match="a blanket of 14 members with 1 latents makes 16 nodes, more than 15"):
        discover_latent(frame, "x0", blanket=frame.names[1:])


def test_lack_of_memory_is_said(monkeypatch, found):
    assert found.warnings == ()
    monkeypatch.setattr("blankets.latent._completions.ROOM", 1)
    short = discover_latent(TABLE, "T", blanket=["s", "a", "b", "c"], n_restarts=2, rng=0)
    assert short.warnings == ("memory is short, so nodes had at most 1 of the other nodes as parents",)


def test_ties_go_to_bic():
    one, two = (Merits(mi=0.1, bic=bic, error=0.2, cll=-5.0) for bic in (-10.0, -11.0))
    assert better(one, two, "mi")
    assert not better(two, one, "error")
    with pytest.raises(ParameterError, match="unknown score 'auc'"):
        better(one, two, "auc")
