"""The planner: its arithmetic against SciPy and blankets.plan, and the page itself."""

import itertools
import json
import re
import shlex
import subprocess
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import beta, chi2, ncx2

import blankets as bl
import blankets.report
from blankets.cli._main import run
from blankets.errors import NotAnswerableError, ParameterError
from blankets.planning import plan
from browser.looks import PALE_TEXTS, WIDER_THAN_SCREEN

NUMERICS = Path(blankets.report.__file__).parent / "assets" / "noncentral.js"


def in_node(code, content):
    program = f"const P = require({json.dumps(str(NUMERICS))}); const x = JSON.parse(require('fs').readFileSync(0));"
    program += f"console.log(JSON.stringify({code}));"
    done = subprocess.run(
        ["node", "-e", program], input=json.dumps(content), capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout)


def test_tails_agree_with_scipy():
    rng = np.random.default_rng(1)
    dof = rng.choice([1, 2, 3, 4, 7, 16, 51, 100, 400], 2000)
    alpha = 10.0 ** rng.uniform(-6, -0.7, 2000)
    lam = np.where(rng.random(2000) < 0.02, 0.0, 10.0 ** rng.uniform(-3, 4, 2000))
    questions = np.column_stack([dof, alpha, lam]).tolist()
    answers = np.array(in_node("x.map(([d, a, l]) => [P.criticalValue(d, a), P.attainedPower(l, d, a)])", questions))
    critical = chi2.isf(alpha, dof)
    assert np.abs(answers[:, 0] / critical - 1).max() < 1e-11
    assert np.abs(answers[:, 1] - np.where(lam > 0, ncx2.sf(critical, dof, lam), alpha)).max() < 1e-9


LABELS = {
    "supervised": {},
    "pu": {"labels": "pu"},
    "pu-apart": {"labels": "pu", "sampling": "case-control"},
    "mcar": {"labels": "mcar"},
    "mar-c": {"labels": "mar-c"},
    "noisy": {},
    "predicted": {},
}
WRONG = ("noisy", "predicted")  # with an exact prior, inside of the regime


PRIORS = {
    "exact": lambda q: q["prior"],
    "below": lambda q: f"<{q['prior']}",
    "above": lambda q: f">{q['prior']}",
    "between": lambda q: (q["low"], q["high"]),
    "beta": lambda q: bl.Beta(mode=q["prior"], low=q["low"], high=q["high"]),
}


def test_the_beta_distribution_agrees_with_scipy():
    rng = np.random.default_rng(3)
    a, b = 1 + 4 * rng.random(500), 1 + 4 * rng.random(500)
    x, level = rng.random(500), rng.random(500)
    answers = np.array(
        in_node(
            "x.map(([a, b, v, u]) => [P.betaCdf(a, b, v), P.betaQuantile(a, b, u)])",
            np.column_stack([a, b, x, level]).tolist(),
        )
    )
    assert np.abs(answers[:, 0] - beta.cdf(x, a, b)).max() < 1e-13
    assert np.abs(answers[:, 1] / beta.ppf(level, a, b) - 1).max() < 1e-12


def questions():
    """Yield questions for the page and the same for `plan`: every regime, unknown and form of the prior."""
    rng = np.random.default_rng(2)
    unknowns = ("rows", "labeled", "power", "effect")
    for regime, unknown, kind, _ in itertools.product(LABELS, unknowns, PRIORS, range(12)):
        if (regime in ("supervised", "noisy") and unknown == "labeled") or (regime in WRONG and kind != "exact"):
            continue
        prior = round(float(rng.uniform(0.1, 0.9)), 3)
        ours = {
            "unknown": unknown,
            "regime": regime,
            "effect": round(float(10 ** rng.uniform(-3.5, -0.7)), 5),
            "power": round(float(rng.uniform(0.6, 0.995)), 3),
            "alpha": float(rng.choice([0.001, 0.01, 0.05])),
            "arity": int(rng.choice([2, 3, 10])),
            "strata": int(rng.choice([1, 4])),
            "rows": int(10 ** rng.uniform(2, 5)),
            "labeled": round(prior * float(rng.uniform(0.05, 0.9)), 4),
            "positives": round(prior * float(rng.uniform(0.05, 0.9)), 4),
            "negatives": round((1 - prior) * float(rng.uniform(0.05, 0.9)), 4),
            "priorKind": kind,
            "prior": prior,
            "low": round(prior * float(rng.uniform(0.3, 0.95)), 3),
            "high": round(1 - (1 - prior) * float(rng.uniform(0.3, 0.95)), 3),
            "assurance": float(rng.choice([0.5, 0.8, 0.9, 0.95])),
            "false_positive": round(float(rng.uniform(0, 0.4)), 3),
            "false_negative": round(float(rng.uniform(0, 0.4)), 3),
        }
        theirs = {key: ours[key] for key in ("effect", "power", "alpha", "arity", "strata", "rows")} | LABELS[regime]
        theirs.pop(unknown, None)
        if regime in WRONG:
            rates = [ours["false_positive"], ours["false_negative"]]
            right = (1 - rates[1], 1 - rates[0])
            known = {"noisy": bl.Noisy(*rates, prior=prior), "predicted": bl.Predicted(accuracy=right, prior=prior)}
            theirs["labels"] = known[regime]
        if regime not in ("supervised", "noisy") and unknown != "labeled":
            by_class = {"positives": ours["positives"], "negatives": ours["negatives"]}
            theirs["labeled"] = by_class if regime == "mar-c" else ours["labeled"]
        if regime not in ("supervised", "mcar", *WRONG):
            theirs |= {"prior": PRIORS[kind](ours), "assurance": ours["assurance"]}
        yield ours, theirs


def same(unknown, ours, expected):
    if unknown in ("rows", "labeled"):
        return ours == expected
    return ours == pytest.approx(expected, rel=1e-6)


def test_answers_agree_with_plan():
    asked = list(questions())
    answers = in_node("x.map((q) => P.plan(q))", [ours for ours, _ in asked])
    assert len(asked) > 1000
    reached, spread, refused = 0, 0, 0
    for (ours, theirs), answer in zip(asked, answers, strict=True):
        unknown = ours["unknown"]
        if "error" in answer:
            with pytest.raises((ParameterError, NotAnswerableError)):
                plan(**theirs)
            refused += 1
            continue
        expected = plan(**theirs, n_draws=1)
        where = (ours, answer, expected.answer)
        if expected.answer is None:
            assert answer["answer"] is None, where
        else:
            assert same(unknown, answer["answer"], expected.answer), where
            reached += unknown in ("rows", "labeled")
        if expected.spread is not None:
            levels = zip(answer["quantiles"], expected.quantile([0.05, 0.5, 0.95]), strict=True)
            # JSON has no infinity.
            assert all(same(unknown, np.inf if a is None else a, b) for a, b in levels), where
            spread += 1
        assert answer["uncertain"] == (expected.spread is not None), where
        assert answer["power"] == pytest.approx(expected.power, abs=1e-9), where
        if expected.power < 1 - 1e-9:  # certainty can be had by any of them
            assert answer["design"]["name"] == expected.surrogate, where
            assert answer["labels"] == expected.n_labeled, where
    assert reached > 350
    assert spread > 200
    assert refused > 50


@pytest.mark.parametrize(
    ("question", "message"),
    [
        ({"regime": "pu", "labeled": 0.3, "prior": 0.2, "power": 0.9}, "There cannot be so many labels"),
        ({"regime": "supervised", "power": 0.005}, "The power wanted must be above"),
        (
            {"regime": "pu", "labeled": 0.1, "prior": 0.2, "priorKind": "above", "power": 0.9},
            "A lower bound of p(y=1) is not enough here",
        ),
    ],
)
def test_contradictions_are_told(question, message):
    asked = {"unknown": "rows", "effect": 0.05, "alpha": 0.01, "arity": 2, "rows": 100} | question
    assert in_node("P.plan(x)", asked)["error"].startswith(message)


# The page --------------------------------------------------------------------------------------------------------

CHOICES = [
    {"unknown": "rows", "regime": "supervised"},
    {"unknown": "effect", "regime": "mar-c", "rows": "900", "strata": "4"},
    {"unknown": "labeled", "regime": "pu", "effect": "0.0005", "rows": "300"},  # out of reach
    {"unknown": "labeled", "regime": "pu-apart", "rows": "300", "priorKind": "between", "high": "0.9"},  # the same
    {"unknown": "labeled", "regime": "pu-apart", "rows": "400", "priorKind": "between", "high": "0.4"},
    {"unknown": "power", "regime": "mcar", "rows": "900"},
    {"unknown": "rows", "regime": "mar-c", "arity": "5"},
    {"unknown": "rows", "regime": "noisy", "false_positive": "0.05", "false_negative": "0.2"},
    {"unknown": "effect", "regime": "noisy", "rows": "900"},
    {"unknown": "labeled", "regime": "predicted", "rows": "2000", "false_negative": "0.2"},
    {"unknown": "rows", "regime": "predicted", "arity": "3"},
    {"unknown": "power", "regime": "predicted", "rows": "900"},
    *(
        {"unknown": unknown, "regime": regime, "priorKind": kind}
        for regime in ("pu", "pu-apart", "mar-c")
        for unknown in ("rows", "labeled", "power", "effect")
        for kind in PRIORS
        if kind != "above" or regime == "mar-c"
    ),
]


def choose(page, choices):
    # The regime first: which questions can be asked depends on it. Then what is known of the prior.
    first = {"regime": 0, "unknown": 1, "priorKind": 2}
    for name, value in sorted(choices.items(), key=lambda item: first.get(item[0], 3)):
        field = page.locator(f"#plan-{name}")
        field.select_option(value) if name in first else field.fill(value)


def name_of(choices):
    return "-".join(choices.values())


@pytest.mark.parametrize("choices", CHOICES, ids=name_of)
def test_page_says_what_plan_says(visit, planner_page, choices, capsys):
    page = visit(planner_page)
    choose(page, choices)
    call = page.locator("#plan-python").inner_text()
    expected = eval(call.splitlines()[1], {"bl": bl})
    headline, sentence = repr(expected).splitlines()[:2]
    assert page.locator("#plan-sentence").inner_text() == sentence
    told = page.locator("#plan-answer").inner_text()
    assert told == headline or (
        expected.answer is None and told == re.sub(r"; κ would have to be [^ ]+\.$", ".", headline)
    )
    taken = page.locator("#plan-notes").inner_text().replace(" must depend ", " depends ").replace(" must be ", " are ")
    first_two = expected.assumptions[: 1 if choices["regime"] == "supervised" else 2]
    assert [text for text in first_two if text.split(".")[0] not in taken] == []
    command = page.locator("#plan-cli").inner_text().replace("\n", " ")
    assert run([*shlex.split(command)[1:], "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["answer"] == expected.answer


def test_range_of_the_prior(visit, planner_page):
    page = visit(planner_page)
    choose(page, {"regime": "pu", "unknown": "labeled", "priorKind": "beta", "low": "0.1", "high": "0.3"})
    assert page.locator("label[for=plan-prior]").inner_text() == "p(y=1), most likely"
    assert page.locator("#plan-curve .band").count() == 1
    page.fill("#plan-prior", "0.3")
    assert "The most likely p(y=1) must lie within its range" in page.locator("#plan-answer").inner_text()
    page.fill("#plan-low", "0.5")
    assert "The range of p(y=1) is empty" in page.locator("#plan-answer").inner_text()
    choose(page, {"priorKind": "above"})
    assert "A lower bound of p(y=1) is not enough here" in page.locator("#plan-answer").inner_text()


def test_sliders_and_fields_move_together(visit, planner_page):
    page = visit(planner_page)
    slider = page.locator("input[data-of=effect]")
    before = page.locator("#plan-answer").inner_text()
    slider.focus()
    for _ in range(20):
        page.keyboard.press("ArrowLeft")
    effect = float(page.locator("#plan-effect").input_value())
    assert effect < 0.045
    answer = page.locator("#plan-answer").inner_text()
    assert answer == f"Rows needed: {plan(effect=effect, power=0.95, alpha=0.01, arity=2).answer}."
    assert answer != before
    page.fill("#plan-effect", "0.5")
    assert slider.input_value() == "1000"
    page.fill("#plan-effect", "7")
    assert page.locator("#plan-answer").inner_text() == "Effect must be between 0.0001 and 0.5."
    page.fill("#plan-effect", "0.045")
    page.fill("#plan-arity", "2.5")
    assert "Levels of the feature must be a whole number between 2 and 50." in page.locator("#plan-answer").inner_text()


def test_curves_pass_through_the_answer(visit, planner_page):
    page = visit(planner_page)
    for id_ in ("plan-curve", "plan-effects"):
        dot = page.evaluate(
            f"(({{cx, cy}}) => [cx.baseVal.value, cy.baseVal.value])(document.querySelector('#{id_} circle'))"
        )
        path = page.locator(f"#{id_} .curve").get_attribute("d")
        points = np.array([pair.split(",") for pair in path.removeprefix("M").split(" L")], float)
        assert np.interp(dot[0], points[:, 0], points[:, 1]) == pytest.approx(dot[1], abs=2.0)
        assert page.locator(f"#{id_}").get_attribute("aria-label")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [380, 1280])
@pytest.mark.parametrize("choices", [CHOICES[0], CHOICES[1], CHOICES[2], CHOICES[4], CHOICES[-1]], ids=name_of)
def test_it_fits_and_can_be_read(visit, planner_page, width, scheme, choices):
    page = visit(planner_page, width=width, scheme=scheme)
    choose(page, choices)
    assert page.evaluate(WIDER_THAN_SCREEN) <= 0
    found = page.evaluate(PALE_TEXTS)
    assert found["seen"] > 25
    assert found["pale"] == []


def test_copy(visit, planner_page):
    page = visit(planner_page)
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.click("[data-copy=plan-sentence]")
    page.get_by_text("Copied").wait_for()
    assert page.evaluate("navigator.clipboard.readText()") == page.locator("#plan-sentence").inner_text()
