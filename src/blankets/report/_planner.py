"""The planner: a page with sliders that shows how many rows or labels a study needs."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from blankets.errors import ParameterError, guarded
from blankets.records import write_whole
from blankets.report._html import Html, asset, many, page, tag

Start = dict[str, float | str]  # initial values of the page


class _Slider(NamedTuple):
    """A number that can be set by a slider or typed."""

    name: str
    label: str
    low: float
    high: float
    value: float
    help: str
    scale: str = "linear"  # or "log"
    step: str = "any"


_SLIDERS = (
    _Slider(
        *("effect", "Effect", 0.0001, 0.5, 0.045),
        "How much the feature tells about the target (information in nats): 0.005 is small, 0.045 medium, 0.125 large.",
        "log",
    ),
    _Slider("power", "Power wanted", 0.5, 0.999, 0.95, "Probability that the test finds the effect."),
    _Slider("alpha", "Level α", 0.00001, 0.2, 0.01, "Probability of finding what is not there.", "log"),
    _Slider("rows", "Rows", 10, 10_000_000, 3000, "All rows, labeled or not.", "log", "1"),
    _Slider("labeled", "Labeled share", 0.0005, 1, 0.05, "Labels over all rows.", "log"),
    _Slider("positives", "Labeled positives, share", 0.0005, 0.99, 0.05, "Labeled positives over all rows.", "log"),
    _Slider("negatives", "Labeled negatives, share", 0.0005, 0.99, 0.1, "Labeled negatives over all rows.", "log"),
    _Slider(
        "false_positive", "Wrong among negatives", 0, 0.49, 0.1, "Share of the negatives that are labeled positive."
    ),
    _Slider(
        "false_negative", "Wrong among positives", 0, 0.49, 0.1, "Share of the positives that are labeled negative."
    ),
    _Slider("prior", "p(y=1)", 0.01, 0.99, 0.2, "Share of positives among all rows, labeled or not."),
    _Slider("low", "p(y=1) at least", 0.01, 0.98, 0.1, "The smallest that it may be."),
    _Slider("high", "p(y=1) at most", 0.02, 0.99, 0.3, "The largest that it may be."),
    _Slider("assurance", "How sure to be", 0.5, 0.99, 0.9, "Probability, over that range, that the answer is enough."),
    _Slider("arity", "Levels of the feature", 2, 50, 2, "A yes/no feature has 2.", "linear", "1"),
    _Slider("strata", "Strata", 1, 64, 1, "Combinations of the columns that the test conditions on.", "linear", "1"),
)
_CHOICES = {
    "unknown": (
        "I want to know",
        {
            "rows": "how many rows",
            "labeled": "how many labels",
            "power": "the power",
            "effect": "the smallest effect that is found",
        },
    ),
    "regime": (
        "Labels",
        {
            "supervised": "every row has one",
            "pu": "only some positives have one",
            "pu-apart": "positives collected apart",
            "mcar": "some rows, at random",
            "mar-c": "some of each class",
            "noisy": "every row has one, some are wrong",
            "predicted": "a machine's, and gold ones for some rows",
        },
    ),
    "priorKind": (
        "What is known of p(y=1)",
        {
            "exact": "its value",
            "below": "an upper bound",
            "above": "a lower bound",
            "between": "a range",
            "beta": "a most likely value, a range",
        },
    ),
}


@guarded
def planner(path: str | Path, **start: float | str) -> Path:
    """Write the planner as one HTML page that needs no server and no network.

    Parameters
    ----------
    path : str or Path
        The file to write.
    **start
        Initial values of the page: ``unknown`` ("rows", "labeled", "power" or "effect"), ``regime`` ("supervised",
        "pu", "pu-apart", "mcar", "mar-c", "noisy" or "predicted"), ``effect``, ``power``, ``alpha``, ``rows``,
        ``labeled``, ``prior``, ``arity``, ``false_positive`` and ``false_negative`` (of labels, or of a machine), ...

    Returns
    -------
    Path
        The file.

    Examples
    --------
    >>> import tempfile
    >>> from blankets.report import planner
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = planner(f"{folder}/planner.html", regime="pu", effect=0.053, power=0.99)
    ...     print(file.stat().st_size < 100_000)
    True
    """
    _check(start)
    head = tag(
        "header",
        tag("h1", "How many rows, how many labels?"),
        tag(
            "p",
            "Power of tests of independence, and what it takes to reach it, for data with all, some, only positive or "
            "wrong labels. Nothing leaves this page.",
        ),
    )
    text = page(
        title="Study planner: rows, labels, power",
        description="Sample size and labeling budget of tests of independence, with full or partial labels.",
        body=tag("main", head, planner_body(start), class_="sheet"),
        styles=[asset("base.css"), asset("planner.css")],
        scripts=[asset("noncentral.js"), asset("planner.js")],
    )
    return write_whole(path, text)


def _check(start: Start) -> None:
    """Refuse values that the page does not accept."""
    sliders = {slider.name: slider for slider in _SLIDERS}
    for name, value in start.items():
        if name in _CHOICES:
            if value not in _CHOICES[name][1]:
                raise ParameterError.not_one_of(name, value, _CHOICES[name][1])
        elif name not in sliders:
            raise ParameterError.not_one_of("value of the planner", name, [*_CHOICES, *sliders])
        elif isinstance(value, str) or not sliders[name].low <= value <= sliders[name].high:
            allowed = f"between {sliders[name].low:g} and {sliders[name].high:g}"
            raise ParameterError.out_of_range(name, value, allowed)


def planner_body(start: Start) -> Html:
    """Return the planner without its page: controls on one side, answers on the other."""
    chosen = {"unknown": "rows", "regime": "supervised", "priorKind": "exact"} | start
    selects = {name: _select(name, str(chosen[name])) for name in _CHOICES}
    sliders = {slider.name: _control(slider, float(start.get(slider.name, slider.value))) for slider in _SLIDERS}
    controls = [selects["unknown"], selects["regime"]]
    for name, control in sliders.items():
        controls += [selects["priorKind"], control] if name == "prior" else [control]
    form = tag("form", *controls, class_="controls-of-plan", aria_label="The study", autocomplete="off")
    answers = tag(
        "div",
        tag("p", "", id="plan-sentence", class_="plan-sentence"),
        tag("button", "Copy the sentence", type="button", data_copy="plan-sentence"),
        tag("ul", "", id="plan-notes", class_="hint"),
        tag("div", _chart("plan-curve"), _chart("plan-effects"), class_="charts"),
        _call("The same in Python", "plan-python"),
        _call("On the command line", "plan-cli"),
        class_="answers-of-plan",
    )
    answer = tag("p", "", id="plan-answer", class_="plan-answer", role="status")
    return tag("div", answer, form, answers, tag("noscript", tag("p", "The planner needs scripts.")), class_="plan")


def _call(title: str, identifier: str) -> Html:
    button = tag("button", "Copy", type="button", data_copy=identifier, aria_label=f"Copy: {title}")
    head = tag("div", tag("h3", title), button, class_="call")
    return many(head, tag("pre", tag("code", "", id=identifier), tabindex="0"))


def _chart(identifier: str) -> Html:
    svg = tag("svg", id=identifier, viewBox="0 0 360 240", role="img", aria_label="")
    return tag("figure", tag("figcaption", "", id=f"{identifier}-title"), svg)


def _select(name: str, chosen: str) -> Html:
    label, choices = _CHOICES[name]
    options = [
        tag("option", words, value=value, selected="" if value == chosen else None) for value, words in choices.items()
    ]
    return tag("label", tag("span", label), tag("select", *options, id=f"plan-{name}", name=name), class_="choice")


def _control(slider: _Slider, value: float) -> Html:
    bounds = {"min": f"{slider.low:.10g}", "max": f"{slider.high:.10g}"}
    typed = tag(
        "input",
        type="number",
        id=f"plan-{slider.name}",
        name=slider.name,
        value=f"{value:.10g}",
        step=slider.step,
        aria_describedby=f"plan-{slider.name}-help",
        **bounds,
    )
    # The slider moves in thousandths of its way; what they mean is set by the script.
    slid = tag(
        "input",
        type="range",
        min="0",
        max="1000",
        data_of=slider.name,
        data_scale=slider.scale,
        aria_label=slider.label,
    )
    words = tag("span", slider.help, tag("b", "", data_word=slider.name), id=f"plan-{slider.name}-help", class_="hint")
    label = tag("label", slider.label, for_=f"plan-{slider.name}")
    return tag("div", many(label, typed, slid, words), class_="slider", data_control=slider.name)
