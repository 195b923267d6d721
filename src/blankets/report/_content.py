"""The content of a report: every word and number, as plain data. The page only arranges them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

from blankets.errors import guarded
from blankets.records import plain
from blankets.report._effects import effects
from blankets.report._health import health
from blankets.report._label_regime import is_partial, labels, planner_caution
from blankets.report._neighborhood import neighborhood
from blankets.report._reproduce import made_with, reproduce
from blankets.report._terms import terms
from blankets.report._trail import trail
from blankets.results import (
    count_of,
    digits,
    emptied,
    expected_words,
    false_members_sentence,
    format_seconds,
    joined,
    partly_sentence,
    rest_sentence,
    shown,
    size_of,
    undecided_sentence,
)
from blankets.search import ALGORITHMS
from blankets.stats import detectable_effect, w_from_effect

if TYPE_CHECKING:
    from blankets.latent import LatentBlanket
    from blankets.results import Blanket

SCHEMA_VERSION = 1

_TESTS = {"auto": "calibrated tests", "g": "G tests", "x2": "X² tests", "fisher-z": "tests of partial correlation"}


@guarded
def report_content(
    blanket: Blanket,
    *,
    source: str = "",
    stability: Mapping[str, float] | None = None,
    sensitivity: Sequence[tuple[float, Sequence[str]]] | None = None,
    latent: LatentBlanket | None = None,
) -> dict[str, Any]:
    """Return the whole content of a report, as plain lists, dicts, strings and numbers.

    ``blanket``, ``source``, ``stability``, ``sensitivity``, ``latent``: as for `report`.

    Examples
    --------
    >>> from blankets.results import Blanket, NamedEvidence
    >>> e = NamedEvidence(x="age", y="ill", statistic=52.0, dof=2, log_p=-26.0, effect=0.026, n_rows=1000)
    >>> blanket = Blanket(target="ill", members=("age",), strengths={"age": e}, algorithm="iamb",
    ...                   settings={"alpha": 0.01, "test": "g"}, columns=("age", "hair", "ill"), n_rows=1000)
    >>> report_content(blanket)["answer"]
    'The Markov blanket of ill consists of one of the 2 columns searched: age.'
    """
    what = "Markov blanket" if blanket.finds == "blanket" else "Parents and children"
    content = {
        "schema": "blankets/report",
        "schema_version": SCHEMA_VERSION,
        "title": f"{what} of {shown(blanket.target)}",
        "description": f"{what} of {shown(blanket.target)}, with the evidence for every column.",
        "target": blanket.target,
        "answer": _answer(blanket),
        "meaning": _meaning(blanket),
        "assumptions": _assumptions(blanket),
        "facts": _facts(blanket),
        "why": [[f"Why {blanket.algorithm}", blanket.why_algorithm]] if blanket.why_algorithm else [],
        "checks": [f"{one.what} {one.advice}" for one in blanket.checks],
        "notes": list(blanket.warnings),
        "neighborhood": neighborhood(blanket, latent),
        "latents": None if latent is None else _latents(latent),
        "effects": effects(blanket),
        "trail": trail(blanket),
        "labels": labels(blanket),
        "sensitivity": _sensitivity(blanket, sensitivity),
        "stability": _stability(blanket, stability),
        "health": health(blanket),
        "planner_caution": planner_caution(blanket),
        "settings": [[key, _setting(value)] for key, value in blanket.settings.items() if key != "prior_facts"],
        "reproduce": reproduce(blanket, source),
        "versions": made_with(blanket),
    }
    return {**content, "terms": terms(partial=is_partial(blanket))}


def _answer(blanket: Blanket) -> str:
    """Return the answer in one sentence."""
    searched, found = len(blanket.columns) - 1, len(blanket)
    target = shown(blanket.target)
    if not found:
        what = "is left" if emptied(blanket) else f"was found to depend on {target}"
        return f"None of the {searched:,} columns searched {what}."
    of = "all" if found == searched > 1 else "one of" if found == 1 else f"{found:,} of"
    if blanket.finds == "blanket":
        start = f"The Markov blanket of {target} consists of {of}"
    else:
        start = f"The parents and children of {target} are {of}"
    return f"{start} the {count_of(searched, 'column')} searched: {joined(blanket.members, 12)}."


def _meaning(blanket: Blanket) -> str:
    """Say what the answer means for the columns left out, and which effects the rows could show."""
    target, rest = shown(blanket.target), len(blanket.columns) - 1 - len(blanket)
    alpha = _alpha(blanket)
    if emptied(blanket):
        return "Columns that depend on it were left out given each other, as near copies are."
    if not blanket.members and is_partial(blanket):
        return "With partial labels there may be too few labels: the planner says how many are needed."
    little = undecided_sentence(blanket)
    if not blanket.members:
        smallest = float(detectable_effect(0.95, blanket.n_rows, 1, alpha)) if alpha else float("nan")
        return (
            f"With {count_of(blanket.n_rows, 'row')} a dependence between two columns of two levels would have been "
            f"found with probability 0.95 from Cohen's w = {digits(float(w_from_effect(smallest)), 2)} on "
            f"({size_of(smallest)}; 0.1 is small, 0.3 medium, 0.5 large).{f' {little}' if little else ''}"
        )
    if blanket.finds != "blanket":
        return (
            f"{'It depends' if len(blanket) == 1 else 'They depend'} on {target} whatever else is known; other columns "
            "may still help to predict it, through a common child."
        )
    if not rest:
        sure = not (blanket.unchecked or blanket.weak)
        more = f": each of them tells something about {target} that the others do not" if sure else ""
        return f"No column was left out{more}."
    if not blanket.closed:
        return f"The other columns were left out by the search; they were not tested given all members for {target}."
    return " ".join(filter(None, (rest_sentence(blanket), partly_sentence(blanket), undecided_sentence(blanket))))


def _assumptions(blanket: Blanket) -> list[str]:
    """Return the assumptions of the answer, most important first."""
    test = _TESTS.get(str(blanket.settings.get("test")), "tests of independence")
    alpha = _alpha(blanket)
    level = f" at level {alpha:g} each" if alpha else ""
    said = [
        "The rows are independent draws from one population.",
        f"Each decision rests on {test}{level}; the level holds for a single test, and {blanket.n_tests:,} were made.",
        *filter(None, [false_members_sentence(blanket)]),
        "Dependences are those of a graph (faithfulness): no two influences cancel exactly.",
    ]
    if known := blanket.settings.get("knowledge"):
        said.append(str(known))
    entry = ALGORITHMS.get(blanket.algorithm)
    if entry is not None and not entry.sound:
        said.append(f"{blanket.algorithm} can miss or add members even with perfect tests; it was chosen for speed.")
    if blanket.data.get("numbers"):
        said.append("Where a number is involved, a pure interaction of three columns or more is not seen.")
    if blanket.data.get("binned"):
        said.append("Continuous columns were cut into levels; what is lost by cutting cannot be found.")
    if blanket.roles:
        said.append(
            "Roles (parent, child, spouse) are read from independences. They are causes and effects only if no "
            "hidden column influences two of those shown."
        )
    return said


def _facts(blanket: Blanket) -> list[list[str]]:
    """Return how the blanket was found, as labels and values."""
    facts = [
        ["Rows", f"{blanket.n_rows:,}"],
        ["Columns searched", f"{len(blanket.columns) - 1:,}"],
        ["Algorithm", blanket.algorithm],
        ["Tests made", f"{blanket.n_tests:,}"],
        ["Time", format_seconds(blanket.seconds)],
    ]
    known = blanket.false_members
    if alpha := _alpha(blanket):
        fdr = known is not None and known.controls == "fdr"
        facts.insert(3, ["False discovery rate" if fdr else "Level of each test", f"{alpha:g}"])
    if known is not None and known.n_tested and (words := expected_words(known)):
        facts.append(["False members expected", words])
    return facts


def _alpha(blanket: Blanket) -> float | None:
    alpha = blanket.settings.get("alpha")
    return alpha if isinstance(alpha, float) and 0.0 < alpha < 1.0 else None


def _latents(latent: LatentBlanket) -> list[str]:
    """Return a paragraph for each latent variable."""
    told = [latent.explain(one.name) for one in latent.latents]
    return told or [f"None was found by {latent.method}: the observed columns explain the data as well without any."]


def _sensitivity(blanket: Blanket, runs: Sequence[tuple[float, Sequence[str]]] | None) -> dict[str, object] | None:
    """Return which columns are members for each class prior."""
    if not runs:
        return None
    ever = dict.fromkeys([*blanket.members, *(name for _, members in runs for name in members)])
    # Neighboring priors with the same members make one column.
    alike = [(members, [prior for prior, _ in group]) for members, group in groupby(runs, key=lambda run: set(run[1]))]
    rows = [[shown(name), [name in members for members, _ in alike]] for name in ever]
    always = [name for name in ever if all(name in members for members, _ in alike)]
    words = f"Members for every prior: {joined(always) or 'none'}."
    ends = [[f"{prior:.3g}" for prior in dict.fromkeys((priors[0], priors[-1]))] for _, priors in alike]
    return {"priors": [" to ".join(pair) for pair in ends], "rows": rows, "words": words}


def _stability(blanket: Blanket, shares: Mapping[str, float] | None) -> dict[str, object] | None:
    """Return how often each column was a member over resamples, members and frequent others first."""
    if not shares:
        return None
    order = sorted(shares, key=lambda name: (name not in blanket.members, -shares[name]))
    drawn = [name for name in order if name in blanket.members or shares[name] > 0][:60]
    rows = [[shown(name), name in blanket.members, round(float(shares[name]), 4)] for name in drawn]
    unsure = [name for name in blanket.members if shares.get(name, 0.0) < 0.5]
    words = f"Members found in fewer than half of the resamples: {joined(unsure) or 'none'}."
    if rest := len(order) - len(drawn):
        never = all(shares[name] == 0 for name in order[len(drawn) :])
        found = "never found" if never else "found less often than those"
        words += f" {count_of(rest, 'other column')} {'was' if rest == 1 else 'were'} {found}."
    return {"rows": rows, "words": words}


def _setting(value: object) -> str:
    content = plain(value)
    if isinstance(content, dict):
        return ", ".join(f"{shown(key)}: {_setting(item)}" for key, item in content.items()) or "none"
    if isinstance(content, list):
        return joined([str(item) for item in content]) or "none"
    return {None: "not given", True: "yes", False: "no"}.get(content, shown(str(content), 120))
