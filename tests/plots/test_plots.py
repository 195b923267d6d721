"""Pictures: what they show, that words do not overlap, that colors can be told apart."""

import re
import sys
from dataclasses import replace
from itertools import combinations
from types import SimpleNamespace

import matplotlib as mpl
import networkx as nx
import numpy as np
import pytest
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from scipy.stats import chi2, ncx2

import blankets as bl
from blankets.errors import MissingPackageError, ParameterError
from blankets.planning import plan
from blankets.plots import (
    plot_blanket,
    plot_effects,
    plot_latent_blanket,
    plot_latent_posterior,
    plot_planning,
    plot_power,
    plot_prior_sensitivity,
    plot_roc,
    plot_stability,
)
from blankets.plots._graph import COLORS
from blankets.plots._style import CYCLE
from blankets.results import Blanket, Doubt, NamedEvidence, Sensitivity, Stability, Undecided

mpl.use("agg")

NAMES = [f"feature number {i:02d}" for i in range(30)]


@pytest.fixture(autouse=True)
def close():
    from matplotlib import pyplot

    yield
    pyplot.close("all")


def blanket_of(names, roles=None, children=None, **more):
    strengths = {
        name: NamedEvidence(x=name, y="outcome", statistic=9.0, dof=1, log_p=-6.0, effect=0.15 / (i + 1), n_rows=1000)
        for i, name in enumerate(names)
    }
    return Blanket(
        target="outcome", members=tuple(names), strengths=strengths, roles=roles or {}, common_children=children or {},
        algorithm="iamb", settings={}, columns=(*names, "outcome"), n_rows=1000, **more,
    )  # fmt: skip


def some_roles(names):
    roles = {name: ("parent", "child", "spouse", "neighbor")[i % 4] for i, name in enumerate(names)}
    return roles, {name: names[i - 1] for i, name in enumerate(names) if i % 4 == 2}


def overlapping(texts):
    """Return the pairs of words that overlap, and words that leave the picture."""
    figure = texts[0].figure
    figure.canvas.draw()
    boxes = [(t.get_text(), t.get_window_extent()) for t in texts if t.get_text() and t.get_visible()]
    assert len(boxes) > 1
    page = figure.bbox
    out = [word for word, b in boxes if b.x0 < page.x0 - 1 or b.x1 > page.x1 + 1 or b.y0 < -1 or b.y1 > page.y1 + 1]
    return [(a, b) for (a, x), (b, y) in combinations(boxes, 2) if x.overlaps(y)] + out


# Graph -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 5, 30])
@pytest.mark.parametrize("known", [True, False])
def test_names_in_the_graph_do_not_overlap(n, known):
    roles, children = some_roles(NAMES[:n]) if known else ({}, {})
    ax = plot_blanket(blanket_of(NAMES[:n], roles, children))
    names = [text for text in ax.texts if text.get_text()]
    assert len(names) == n + 1
    assert overlapping([*names, *ax.get_legend().get_texts(), ax.title]) == []
    boxes = [text.get_bbox_patch().get_window_extent() for text in names]
    assert not any(a.overlaps(b) for a, b in combinations(boxes, 2))


def test_lines_are_wider_for_stronger_members():
    ax = plot_blanket(blanket_of(NAMES[:4]))
    widths = {tuple(text.xy): text.arrow_patch.get_linewidth() for text in ax.texts if not text.get_text()}
    at = {text.get_text(): text.get_position() for text in ax.texts if text.get_text()}
    in_order = [widths[at[name]] for name in NAMES[:4]]
    assert in_order == sorted(in_order, reverse=True)
    # Cohen's w of 0.15 nats is 0.55 of the 0.6 at which lines are widest.
    assert in_order[0] == pytest.approx(0.8 + 3.2 * np.sqrt(2 * 0.15) / 0.6)


def test_arrows_end_at_the_border_of_boxes():
    roles = {NAMES[0]: "parent", NAMES[1]: "child"}
    ax = plot_blanket(blanket_of(NAMES[:2], roles))
    ax.figure.canvas.draw()
    boxes = [t.get_bbox_patch().get_window_extent() for t in ax.texts if t.get_text()]
    arrows = [t.arrow_patch for t in ax.texts if not t.get_text()]
    for arrow in arrows:
        ends = arrow.get_path().vertices[[0, -1]]  # in pixels
        for x, y in ends:
            assert not any(b.x0 < x < b.x1 and b.y0 < y < b.y1 for b in boxes)


def test_titles_of_graphs():
    assert plot_blanket(blanket_of(["a"])).get_title() == "Markov blanket of outcome"
    assert plot_blanket(blanket_of(["a"], finds="neighbors")).get_title() == "Parents and children of outcome"
    assert plot_blanket(blanket_of(["a"]), title="Mine").get_title() == "Mine"


def test_of_very_many_members_the_strongest_are_drawn():
    names = [f"gene {i}" for i in range(200)]
    ax = plot_blanket(blanket_of(names))
    assert {text.get_text() for text in ax.texts if text.get_text()} == {"outcome", *names[:42]}
    assert ax.get_title() == "Markov blanket of outcome\nthe 42 strongest of 200 members"
    roles = {"a": "child", "b": "spouse"}
    ax = plot_blanket(blanket_of(["b", "a"], roles, {"b": "a"}), most=1)  # the child is not drawn, nor a line to it
    assert [text.get_text() for text in ax.texts if text.get_text()] == ["outcome", "b"]


@pytest.mark.parametrize("names", [[], ["", " "], ["x" * 80, "y " * 40], ["$a$", "b\nc", "&amp;", "<i>", "'\"`"]])
def test_odd_names_and_no_names_are_drawn(names):
    ax = plot_blanket(blanket_of(names))
    boxes = [text for text in ax.texts if text.get_bbox_patch() is not None]
    assert len(boxes) == len(names) + 1
    assert all(len(text.get_text()) <= 20 for text in boxes)
    ax.figure.canvas.draw()
    effects = plot_effects(blanket_of(names))
    assert len(effects.get_yticklabels()) == len(names)
    effects.figure.canvas.draw()


def test_a_member_without_a_test_has_a_thin_line():
    lost = NamedEvidence(
        x="a", y="outcome", statistic=np.nan, dof=np.nan, log_p=np.nan, effect=np.nan, n_rows=0, reliable=False
    )
    blanket = Blanket(
        target="outcome", members=("a",), strengths={"a": lost}, algorithm="iamb", settings={}, n_rows=9,
        columns=("a", "outcome"),
    )  # fmt: skip
    (line,) = [text for text in plot_blanket(blanket).texts if not text.get_text()]
    assert line.arrow_patch.get_linewidth() == 0.8


@pytest.fixture(scope="module")
def latent():
    rng = np.random.default_rng(1)
    ill = rng.random(2000) < 0.4
    hidden = np.where(rng.random(2000) < 0.85, ill, ~ill)
    table = {name: np.where(rng.random(2000) < 0.8, hidden, ~hidden) for name in ("a", "b", "c")} | {"ill": ill}
    return bl.discover_latent(table, "ill", n_restarts=4, rng=0), table


def test_latents_are_dashed(latent):
    found, _ = latent
    ax = found.plot()
    boxes = {text.get_text(): text.get_bbox_patch() for text in ax.texts if text.get_text()}
    assert set(boxes) == set(found.graph)
    assert {name for name, box in boxes.items() if box.get_linestyle() == "--"} == {one.name for one in found.latents}
    arrows = {(tuple(text.get_position()), tuple(text.xy)) for text in ax.texts if not text.get_text()}
    at = {text.get_text(): tuple(text.get_position()) for text in ax.texts if text.get_text()}
    assert arrows == {(at[start], at[end]) for start, end in found.graph.edges}
    assert [text.get_text() for text in ax.get_legend().get_texts()][-1] == "latent"
    assert overlapping([text for text in ax.texts if text.get_text()]) == []


def test_posterior_of_a_latent(latent):
    found, table = latent
    ax = found.plot_posterior(table, by=np.where(table["ill"], "ill", "well"))
    assert ax.get_title(loc="left") == f"Posterior of {found.latents[0].name}"
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["ill", "well"]


def test_spouses_and_strangers_of_a_graph_with_latents():
    graph = nx.DiGraph([("H1", "t"), ("t", "child"), ("spouse", "child"), ("H1", "far")])
    one = SimpleNamespace(name="H1")
    roles = {"H1": "parent", "child": "child", "spouse": "spouse", "far": "outside"}
    ax = plot_latent_blanket(SimpleNamespace(graph=graph, target="t", latents=[one], roles=roles))
    color = {text.get_text(): text.get_bbox_patch().get_facecolor()[:3] for text in ax.texts if text.get_text()}
    expected = {"t": "target", "H1": "parent", "child": "child", "spouse": "spouse", "far": "outside"}
    assert color == {name: to_rgb(COLORS[role]) for name, role in expected.items()}


# Lists -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 5, 30])
def test_effects(n):
    effects = {name: 0.15 / (i + 1) for i, name in enumerate(NAMES[:n])}
    intervals = {name: (0.8 * e, 1.3 * e) for name, e in effects.items()} | {NAMES[0]: None}
    ax = plot_effects(effects, intervals, subtitle="90% intervals")
    dots = ax.collections[0].get_offsets()
    np.testing.assert_allclose(dots, np.column_stack([list(effects.values()), range(n)]))
    bars = [line for line in ax.lines if len(set(line.get_ydata())) == 1 and line.get_linewidth() == 6]
    assert [tuple(bar.get_xdata()) for bar in bars] == [intervals[name] for name in NAMES[1:n]]
    assert overlapping(ax.get_yticklabels() + ax.get_xticklabels() + [ax.xaxis.label]) == []
    assert ax.get_title(loc="left") == "Effect sizes"
    low, high = ax.get_xlim()
    assert low == 0
    assert high > max(effects.values())
    ylow, yhigh = ax.get_ylim()
    assert ylow > yhigh  # the first is on top


def test_thirty_names_fit_axes_of_any_size():
    figure = Figure(figsize=(4, 3))
    ax = plot_effects(dict.fromkeys(NAMES, 0.1), ax=figure.add_subplot())
    figure.canvas.draw()
    boxes = [label.get_window_extent() for label in ax.get_yticklabels()]
    assert not any(a.overlaps(b) for a, b in combinations(boxes, 2))


def test_effects_of_a_blanket_and_of_a_ranking():
    ax = plot_effects(blanket_of(["a", "b"]))
    # The dot and the interval invert the noncentral law of the statistic.
    dots = ax.collections[0].get_offsets()[:, 0]
    np.testing.assert_allclose(ncx2.cdf(9.0, 1, 2000 * np.asarray(dots)), [0.5, 0.5], atol=1e-6)
    bar = next(line for line in ax.lines if line.get_linewidth() == 6)
    low, high = bar.get_xdata()
    assert ncx2.cdf(9.0, 1, 2000 * low) == pytest.approx(0.95, abs=1e-6)
    assert ncx2.cdf(9.0, 1, 2000 * high) == pytest.approx(0.05, abs=1e-6)
    rng = np.random.default_rng(0)
    y = rng.random(500) < 0.5
    table = {name: np.where(rng.random(500) < 0.1 * i, y, ~y) for i, name in enumerate("abcd", 5)} | {"y": y}
    ranking = bl.rank(table, "y")
    ax = ranking.plot(most=3)
    assert [label.get_text() for label in ax.get_yticklabels()] == list(ranking.names[:3])
    np.testing.assert_allclose(ax.collections[0].get_offsets()[:, 0], ranking.corrected[:3])
    bars = [line.get_xdata() for line in ax.lines if line.get_linewidth() == 6]
    np.testing.assert_allclose(bars, np.column_stack(ranking.interval(0.9))[:3])


@pytest.mark.parametrize("members", [NAMES[:9], []])
def test_stability(members):
    shares = {name: 1 - i / 40 for i, name in enumerate(NAMES)}
    ax = plot_stability(shares, members)
    assert sorted(float(bar.get_width()) for bar in ax.patches) == pytest.approx(sorted(shares.values()))
    assert overlapping(ax.get_yticklabels()) == []
    assert (ax.get_legend() is None) == (not members)
    assert [line.get_xdata()[0] for line in ax.lines] == [0.5]
    assert plot_stability(shares, threshold=None).lines[:] == []


def test_stability_and_sensitivity_draw_themselves():
    stability = Stability(
        target="t", frequency={"a": 0.9, "b": 0.1}, members=("a",), n_resamples=10, method="pairs", fraction=0.5,
        mean_size=1.0, algorithm="iamb", n_rows=100,
    )  # fmt: skip
    ax = stability.plot()
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["in the blanket", "not in the blanket"]
    assert len(stability.plot(most=1).patches) == 1
    sensitivity = Sensitivity(
        target="t", ranges=(), runs=((0.1, ("a",)), (0.2, ("a", "b"))), kappas=(), breakpoints=(), notes=(),
        algorithm="iamb", n_rows=100, n_searches=1,
    )  # fmt: skip
    assert [label.get_text() for label in sensitivity.plot(used=0.2).get_yticklabels()] == ["a", "b"]


def test_sensitivity_to_the_prior():
    runs = [(round(0.1 * k, 1), NAMES[: 6 * k]) for k in range(1, 6)]
    ax = plot_prior_sensitivity(runs, used=0.3)
    assert [label.get_text() for label in ax.get_yticklabels()] == NAMES
    assert overlapping(ax.get_yticklabels()) == []
    filled = [
        c for c in ax.collections if len(c.get_offsets()) and to_rgb(c.get_facecolor()[0][:3]) == to_rgb(CYCLE[0])
    ]
    assert sum(len(c.get_offsets()) for c in filled) == sum(len(members) for _, members in runs)
    assert any(line.get_xdata()[0] == 0.3 for line in ax.lines)


def test_names_are_not_mathematics():
    ax = plot_effects({"cost in $ and $": 0.1, "tab\t": 0.2})
    ax.figure.canvas.draw()
    assert [label.get_text() for label in ax.get_yticklabels()] == [r"cost in \$ and \$", r"tab\t"]


# Curves ----------------------------------------------------------------------------------------------------------


def test_power_curves_by_rows_are_those_of_the_plan():
    rows = np.arange(50, 1000, 50)
    curves = {word: plan(effect=word, power=0.9).power_curve(rows) for word in ("small", "medium", "large")}
    ax = plot_power(curves, goal=0.9, log=True, subtitle="α = 0.01")
    for line, curve in zip(ax.lines, curves.values(), strict=False):
        np.testing.assert_array_equal(line.get_ydata(), curve["power"])
    assert [text.get_text() for text in ax.get_legend().get_texts()] == list(curves)
    assert len({line.get_linestyle() for line in ax.lines[:3]}) == 3  # told apart without colors
    assert (ax.get_xlabel(), ax.get_ylabel(), ax.get_xscale()) == ("rows", "power", "log")


def test_power_curve_by_labels_has_a_band_where_the_prior_is_uncertain():
    found = plan(effect=0.02, power=0.9, labels="pu", prior=(0.1, 0.3), rows=3000, rng=1)
    ax = plot_power(found.power_curve())
    assert ax.get_xlabel() == "labels"
    assert len(ax.collections) == 1
    assert ax.get_legend() is None


def test_a_plan_draws_itself():
    found = plan(effect=0.02, power=0.9, labels="pu", prior=0.2, rows=3000)
    ax = found.plot()
    assert (ax.get_xlabel(), [line.get_ydata()[0] for line in ax.lines[1:]]) == ("labels", [0.9])
    both = plot_power({"0.2": found, "0.4": plan(effect=0.02, power=0.9, labels="pu", prior=0.4, rows=3000)})
    assert [text.get_text() for text in both.get_legend().get_texts()] == ["0.2", "0.4"]


def test_contours_of_a_plan():
    found = plan(effect=0.02, power=0.9, labels="pu", prior=0.2, rows=3000)
    grid = found.power_grid()
    for i, j in ((0, 39), (20, 20), (39, 39)):
        n, labels = int(grid["rows"][j]), int(grid["labeled"][i])
        kappa = 4.0 * (labels / n) / (1 - labels / n)
        expected = ncx2.sf(chi2.isf(0.01, 1), 1, 2 * kappa * n * 0.02)
        assert grid["power"][i, j] == pytest.approx(expected, abs=1e-9)
    # No more positives can be labeled than there are.
    many = grid["labeled"][:, None] > 0.2 * grid["rows"][None, :]
    np.testing.assert_array_equal(np.isnan(grid["power"]), many)
    ax = found.plot_contour()
    assert ax.texts[-1].get_text() == f"3,000 rows, {found.answer} labels"
    with pytest.raises(ParameterError, match="give a plan, or 'rows', 'labeled' and 'power'"):
        plot_planning([1, 2])
    with pytest.raises(ParameterError, match="axis of a power curve"):
        plan(effect=0.02, power=0.9).plot_contour()


def test_curves_must_be_over_one_thing():
    with pytest.raises(ParameterError, match="all be over 'rows' or all over 'labeled'"):
        plot_power({"a": {"rows": [1], "power": [0.5]}, "b": {"labeled": [1], "power": [0.5]}})


def test_planning_contour_lies_where_the_power_is():
    rows, labels = np.geomspace(100, 10_000, 60), np.geomspace(10, 1000, 50)
    power = 1 - np.exp(-np.outer(labels, np.ones_like(rows)) / 100)  # 0.9 at 100 log 10 labels
    power[labels[:, None] > rows[None, :]] = np.nan
    ax = plot_planning(rows, labels, power, goal=0.9)
    lines = next(c for c in ax.collections if np.isclose(getattr(c, "levels", [0]), 0.9).any() and not c.filled)
    path = lines.get_paths()[int(np.flatnonzero(np.isclose(lines.levels, 0.9))[0])]
    np.testing.assert_allclose(path.vertices[:, 1], 100 * np.log(10), rtol=0.02)
    assert max(lines.get_linewidths()) == 2.8
    assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")


def test_roc():
    alpha = np.array([0.001, 0.01, 0.05, 0.2])
    curve = {"alpha": alpha, "false_positive_rate": alpha, "true_positive_rate": [0.5, 0.7, 0.8, 0.95]}
    ax = plot_roc({"iamb": curve, "pcmb": curve}, subtitle="Alarm")
    np.testing.assert_allclose(ax.lines[1].get_xdata(), [0, *alpha, 1])
    marks = [text.get_text() for text in ax.texts]
    assert marks[:3] == ["α = 0.001", "α = 0.01", "α = 0.05"]
    with pytest.raises(ParameterError, match="arrays of the curve 'bad' differ in length"):
        plot_roc({"bad": curve | {"alpha": [0.1]}})


def test_latent_posterior():
    rng = np.random.default_rng(0)
    p = rng.random(400)
    groups = np.where(rng.random(400) < p, "ill", "well")
    ax = plot_latent_posterior(np.column_stack([1 - p, p]), by=groups, bins=10)
    outlines = [patch for patch in ax.patches if not patch.get_fill()]
    for patch, group in zip(outlines, ("ill", "well"), strict=True):
        shares = patch.get_data().values
        assert shares.sum() == pytest.approx(1.0)
        np.testing.assert_allclose(shares[0], np.mean(p[groups == group] < 0.1))
    assert ax.get_xlabel() == "probability of state 1 of 2, counted from 0"
    assert plot_latent_posterior(np.column_stack([1 - p, p]), state=0).get_legend() is None


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0.1, 0.9],), "must have shape (rows, states), but has (2,)"),
        (([[0.1, 0.9]], ["a", "b"]), "'by' has 2 values for 1 rows"),
    ],
)
def test_latent_posterior_of_the_wrong_shape(arguments, message):
    with pytest.raises(ParameterError, match=re.escape(message)):
        plot_latent_posterior(*arguments)


# All -------------------------------------------------------------------------------------------------------------

PICTURES = {
    "drawing a blanket": lambda ax: plot_blanket(blanket_of(["a"]), ax=ax),
    "drawing a blanket with latents": lambda ax: plot_latent_blanket(
        SimpleNamespace(graph=nx.DiGraph([("H1", "t")]), target="t", latents=[], roles={"H1": "parent"}), ax=ax
    ),
    "drawing effects": lambda ax: plot_effects({"a": 0.1}, ax=ax),
    "drawing stability": lambda ax: plot_stability({"a": 0.1}, ax=ax),
    "drawing power": lambda ax: plot_power({"rows": [1, 2], "power": [0.1, 0.2]}, ax=ax),
    "drawing a plan": lambda ax: plot_planning([1, 2], [1, 2], [[0.1, 0.6], [0.6, 0.9]], ax=ax),
    "drawing sensitivity to the prior": lambda ax: plot_prior_sensitivity([(0.1, ["a"])], ax=ax),
    "drawing a ROC curve": lambda ax: plot_roc({}, ax=ax),
    "drawing a posterior": lambda ax: plot_latent_posterior([[0.5, 0.5]], ax=ax),
}


@pytest.mark.parametrize("task", sorted(PICTURES))
def test_every_picture_returns_its_axes_or_says_what_it_needs(task, monkeypatch):
    ax = Figure().add_subplot()
    assert PICTURES[task](ax) is ax
    ax.figure.canvas.draw()
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingPackageError, match=rf"{task} needs .*pip install 'blankets\[plot\]'"):
        PICTURES[task](None)


def luminance(color):
    linear = [v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4 for v in to_rgb(color)]
    return float(np.dot([0.2126, 0.7152, 0.0722], linear))


# Machado, Oliveira & Fernandes (2009), severity 1: what a color becomes for protanopes and deuteranopes.
SIMULATED = {
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
}


@pytest.mark.parametrize("kind", sorted(SIMULATED))
def test_colors_can_be_told_apart(kind):
    for palette in (list(COLORS.values()), list(CYCLE)):
        seen = [np.array(SIMULATED[kind]) @ to_rgb(color) for color in palette]
        assert min(np.linalg.norm(a - b) for a, b in combinations(seen, 2)) > 0.1


def test_names_in_boxes_have_contrast():
    assert all((luminance(color) + 0.05) / 0.05 > 4.5 for color in COLORS.values())  # black on each


def test_pictures_mark_what_was_not_checked_or_decided():
    few = Undecided(Doubt.FEW_ROWS, 5000.0)
    blanket = blanket_of(["age", "sex"], unchecked=("sex",), undecided={f"u{i}": few for i in range(6)})
    blanket = replace(blanket, columns=(*blanket.columns, *blanket.undecided))
    ax = plot_blanket(blanket)
    styles = {text.get_text(): text.get_bbox_patch().get_linestyle() for text in ax.texts if text.get_bbox_patch()}
    assert (styles["age"], styles["sex"]) == ("-", ":")
    assert "not checked for redundancy" in [label.get_text() for label in ax.get_legend().get_texts()]
    assert ax.get_title().endswith("\nundecided: u0, u1, u2, u3 and 2 more")
    ax = plot_effects(blanket)
    faces = [to_rgb(face) for face in ax.collections[0].get_facecolor()]
    assert faces == [to_rgb(CYCLE[0]), to_rgb("white")]
    assert [label.get_text() for label in ax.get_legend().get_texts()] == ["not checked for redundancy"]
    assert "undecided: u0, u1, u2, u3 and 2 more" in [text.get_text() for text in ax.texts]
    clear = plot_effects(blanket_of(["age"]))
    assert clear.get_legend() is None
