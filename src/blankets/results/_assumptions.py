"""`Assumptions`: what must be true for a blanket to be right, how it looks here, and what to do next."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Literal

import numpy as np

from blankets.data import MISSING_IS_A_LEVEL
from blankets.errors import guarded
from blankets.records import Saved
from blankets.regimes import ASSUMED
from blankets.results._determined import determined
from blankets.results._missed import instead, missed
from blankets.results._notes import UNSURE
from blankets.results._text import html_table
from blankets.results._words import count_of, digits, joined, shown, size_of, w_of, wrapped
from blankets.voice import entry, option, part

if TYPE_CHECKING:
    from blankets.results._blanket import Blanket

Verdict = Literal["violated", "doubtful", "fine", "not seen"]
_ORDER: tuple[Verdict, ...] = ("violated", "doubtful", "not seen", "fine")
_WORDS = {"not seen": "no data can show"}

ROWS_A_FREEDOM = 20  # with fewer rows per degree of freedom the chi-square distribution is a poor approximation
SHARE_BY_CHANCE = 0.1  # expected share of false members from which the text mentions chance
FEW_GROUPS = 30
SHARE_DROPPED = 0.05  # share of the rows
MEDIUM = 0.045  # Cohen's medium effect, in nats
NOTHING = "Nothing."


@dataclass(frozen=True, slots=True, kw_only=True)
class Assumption:
    """One assumption of a blanket."""

    name: str  # the assumption, in a few words
    verdict: Verdict  # how it looks here; "not seen" if data of this kind cannot show it
    words: str  # what was seen, a sentence
    next_step: str  # what to do, a sentence


@guarded
@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Assumptions(Saved):
    """The assumptions of a blanket, each with a verdict; print it.

    Made by `Blanket.check_assumptions`.

    Attributes
    ----------
    target : str
        The target of the blanket.
    checks : tuple of Assumption
        The assumptions; violated ones come first.

    Examples
    --------
    >>> import numpy as np
    >>> import blankets as bl
    >>> rng = np.random.default_rng(7)
    >>> smoker = rng.random(500) < 0.3
    >>> cough = rng.random(500) < np.where(smoker, 0.7, 0.1)
    >>> found = bl.discover({"smoker": smoker, "cough": cough}, "smoker").check_assumptions()
    >>> found["tests could be done"].verdict, found.doubtful
    ('fine', ())
    >>> bl.Assumptions.from_json(found.to_json()) == found
    True
    >>> found
    Assumptions behind the blanket of smoker: 2 no data can show, 4 fine
      not seen: dependences are those of a graph. ...
    """

    _schema = "blankets/assumptions"

    target: str
    checks: tuple[Assumption, ...]

    def __getitem__(self, name: str) -> Assumption:
        for check in self.checks:
            if check.name == name:
                return check
        raise KeyError(f"no assumption {name!r}; there are {', '.join(check.name for check in self.checks)}")

    def __len__(self) -> int:
        return len(self.checks)

    def __iter__(self) -> Iterator[Assumption]:
        return iter(self.checks)

    @property
    def doubtful(self) -> tuple[str, ...]:
        """Names of the violated or doubtful assumptions."""
        return tuple(check.name for check in self.checks if check.verdict in ("violated", "doubtful"))

    def __repr__(self) -> str:
        lines = [self._title()]
        for check in self.checks:
            then = "" if check.next_step == NOTHING else f" Next: {check.next_step}"
            lines.append(wrapped(f"{check.name}. {check.words}{then}", f"  {check.verdict}: "))
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        rows = [[check.verdict, check.name, check.words, check.next_step] for check in self.checks]
        table = html_table(["verdict", "what must hold", "what was seen", "next step"], rows)
        return f"<div><strong>{escape(self._title())}</strong>{table}</div>"

    def _title(self) -> str:
        verdicts = [check.verdict for check in self.checks]
        counts = [f"{verdicts.count(v)} {_WORDS.get(v, v)}" for v in _ORDER if v in verdicts]
        return f"Assumptions behind the blanket of {shown(self.target)}: {', '.join(counts)}"


def check_assumptions(blanket: Blanket) -> Assumptions:
    """Check all assumptions of a blanket."""
    checks = [check for look in _LOOKS if (check := look(blanket)) is not None]
    checks.sort(key=lambda check: _ORDER.index(check.verdict))
    return Assumptions(target=blanket.target, checks=tuple(checks))


def _said(name: str, verdict: Verdict, words: str, next_step: str) -> Assumption:
    return Assumption(name=name, verdict=verdict, words=words, next_step=next_step)


def _copies(blanket: Blanket) -> Assumption | None:
    copies = [name for name in blanket.data.get("copies_of_target", ()) if name in blanket.columns]
    if not copies:
        return None
    words = f"{joined(copies)} equals the target in every row, so nothing else can matter."
    return _said("no copy of the target", "violated", words, f"Leave it out: {option(exclude=copies[:8])}.")


def _surrogate(blanket: Blanket) -> Assumption | None:
    regime = str(blanket.settings.get("labels") or "supervised")
    if blanket.settings.get("surrogate_is_valid") is False:
        counted = f"What was counted in place of the target, {blanket.settings.get('surrogate')!r}"
        words = f"{counted}, is not valid under {regime!r}; you asked for it anyway."
        return _said("labels", "violated", words, "Leave 'surrogate' and 'force' out.")
    if regime not in ASSUMED:
        return None
    words = f"The tests are right if {ASSUMED[regime]}."
    step = (
        f"{entry('audit')} shows which columns differ between labeled and unlabeled rows; ask how rows were "
        f"chosen for labeling."
    )
    return _said("labels", "not seen", words, step)


def _prior(blanket: Blanket) -> Assumption | None:
    if blanket.settings.get("labels") not in ("pu", "mar-c"):
        return None
    prior = blanket.settings.get("prior")
    step = f"See {part('refute(data)')}, or {entry('sensitivity')}, for the blanket under other values."
    if prior is None:
        return _said(
            "the share of positives", "doubtful", "p(y=1) is not known, so the power is not known either.", step
        )
    return _said("the share of positives", "not seen", f"p(y=1) was assumed to be {prior}.", step)


def _levels(blanket: Blanket) -> Assumption:
    name = "tests keep their level"
    if blanket.settings.get("test") == "auto":
        return _said(name, "fine", "The tests are calibrated.", NOTHING)
    if blanket.settings.get("test") == "fisher-z":
        words = "They do if the columns are jointly normal. A dependence that is not linear is not seen."
        return _said(name, "not seen", words, f"Compare with {option(test='auto')}, which sees curves too.")
    final = [e for e in blanket.strengths.values() if e.reliable and e.dof > 0]
    looks = blanket.passed_over
    at = np.flatnonzero(looks.reliable & (looks.dof > 0))
    ratios = [e.n_rows / e.dof for e in final] + (looks.n_rows[at] / looks.dof[at]).tolist()
    if not ratios:
        return _said(name, "fine", "There was no test to doubt.", NOTHING)
    least, thin = min(ratios), sum(ratio < ROWS_A_FREEDOM for ratio in ratios)
    words = f"Each of the last tests had at least {digits(least)} rows for each degree of freedom"
    if least >= ROWS_A_FREEDOM:
        return _said(name, "fine", f"{words}.", NOTHING)
    many = f"{thin} of {len(ratios)} had fewer than {ROWS_A_FREEDOM}, where chi-square is a poor guide."
    return _said(name, "doubtful", f"{words}; {many}", f"Search again with {option(test='auto')}, and compare.")


def _chance(blanket: Blanket) -> Assumption:
    name, known = "members are not there by chance", blanket.false_members
    if known is None:
        words = f"{blanket.algorithm} controls no error rate, or the result does not say which."
        return _said(name, "not seen", words, f"See {part('refute(data)')}: a permuted target, and columns of noise.")
    if known.expected is None:
        words = (
            f"How many of {count_of(len(blanket), 'member')} are false by chance is not known for {blanket.algorithm}."
        )
        return _said(name, "not seen", words, f"See {part('refute(data)')}: a permuted target, and columns of noise.")
    share = known.share_of(len(blanket))
    words = f"{known.words.capitalize()} of {count_of(len(blanket), 'member')} are expected to be false."
    if share <= SHARE_BY_CHANCE or not blanket.members:
        return _said(name, "fine", words, NOTHING)
    step = f"Take a smaller alpha, or {option(algorithm='iamb-fdr')}, which controls the share of false members."
    return _said(name, "doubtful", words, step)


def _done(blanket: Blanket) -> Assumption:
    name = "tests could be done"
    looks = blanket.passed_over
    done = {int(x) for x in looks.columns[looks.reliable]}
    never = [blanket.columns[x] for x in dict.fromkeys(looks.columns[~looks.reliable].tolist()) if x not in done]
    few = [x for x, e in blanket.strengths.items() if len(e.given) < len(blanket) - 1]
    doubtful = blanket.unchecked if blanket.closed else few
    alone = [x for x, e in blanket.strengths.items() if not e.reliable or x in doubtful]
    never = list(dict.fromkeys([*never, *(x for x in blanket.undecided if blanket.cannot_say(x) and x not in never)]))
    if not never and not alone:
        return _said(name, "fine", "Rows were enough for the tests that decided.", NOTHING)
    words = [f"Rows were too few to test {joined(never)} given the members, or at all."] if never else []
    words += [f"Rows were too few to test {joined(alone)} given all other members."] if alone else []
    step = (
        f"Merge levels (discretize='equal-frequency', {option(n_bins=3)}), or collect more rows; "
        f"{entry('plan')} says how many."
    )
    return _said(name, "doubtful", " ".join(words), step)


def _power(blanket: Blanket) -> Assumption | None:
    found = missed(blanket, (0.95,))
    effects = found.effects[0][np.isfinite(found.effects[0])]
    if not len(effects):
        return None
    typical, name = float(np.median(effects)), "weak members would be seen"
    on = "" if blanket.settings.get("effective_rows") else instead(blanket.settings)
    words = (
        f"Of the columns left out, half would have been found with probability 0.95 only if their effect{on} were "
        f"above Cohen's w {w_of(typical)} ({size_of(typical)})."
    )
    if typical < MEDIUM:
        return _said(name, "fine", words, f"{part('could_have_missed()')} says it for each column.")
    return _said(name, "doubtful", words, f"{entry('plan')} says how many rows or labels a weaker effect needs.")


def _faithful(blanket: Blanket) -> Assumption:
    name = "dependences are those of a graph"
    if told := determined(blanket):
        words = f"{joined(tuple(told))} are determined exactly by columns that were left out as well."
        return _said(
            name,
            "violated",
            words,
            f"Keep one of them ({entry('audit')} names such pairs), or take {option(algorithm='iamb')}.",
        )
    if blanket.equivalents:
        pairs = [f"{shown(b)} in the place of {shown(a)}" for a, others in blanket.equivalents.items() for b in others]
        words = f"The blanket is not the only one: {joined(pairs, 4)} would do as well."
        return _said(name, "doubtful", words, f"Name them when you report the blanket; see {part('equivalents')}.")
    kept = [x for x in blanket.members if x in blanket.data.get("duplicates", {})]
    if kept:
        words = f"{joined(kept)} stand for columns that repeat them, and the blanket holds with either."
        return _said(name, "doubtful", words, "Name both when you report the blanket.")
    words = "Two influences that cancel exactly, or columns that only matter together, would be missed."
    return _said(name, "not seen", words, "Compare with another algorithm, such as 'iamb' next to 'pcmb'.")


def _sound(blanket: Blanket) -> Assumption | None:
    from blankets.search import ALGORITHMS

    entry = ALGORITHMS.get(blanket.algorithm)
    if gave_up := [trouble for trouble in blanket.troubles if trouble in UNSURE]:
        words = f"The search gave up in part ({joined(gave_up)}); a note says more."
        return _said("the search is right", "doubtful", words, f"Compare with {option(algorithm=('iamb', 'pcmb'))}.")
    if entry is None:
        return None
    if entry.sound:
        return _said("the search is right", "fine", f"With perfect tests {entry.name} finds the blanket.", NOTHING)
    words = f"{entry.name} can err even with perfect tests."
    return _said("the search is right", "doubtful", words, f"Compare with {option(algorithm='pcmb')}.")


def _binning(blanket: Blanket) -> Assumption | None:
    cut = tuple(blanket.data.get("binned", ()))
    if not cut:
        return None
    words = f"{joined(cut)} {'was' if len(cut) == 1 else 'were'} cut into levels; what is lost by cutting is not seen."
    return _said(
        "cutting loses nothing", "not seen", words, f"Compare with other bins, or without {option('discretize')}."
    )


def _interactions(blanket: Blanket) -> Assumption | None:
    numbers = tuple(blanket.data.get("numbers", ()))
    if not numbers:
        return None
    words = (
        "Where a number is involved, tests see what a column does by itself and with what is given. Two columns that "
        "act only together (an exclusive or) are looked for among up to 400; three are not."
    )
    return _said(
        "no pure interaction", "not seen", words, f"Compare with {option(test='g')}, which cuts numbers and sees it."
    )


def _gaps(blanket: Blanket) -> Assumption | None:
    given, dropped = blanket.data.get("n_rows_given", 0), blanket.data.get("dropped_rows", 0)
    if (complete := blanket.data.get("complete_rows")) is not None:
        return _testwise(blanket, complete)
    if blanket.data.get("missing_policy") == "level" and blanket.data.get("missing"):
        words = f"Missing is a level of {joined(tuple(blanket.data['missing']))}. {MISSING_IS_A_LEVEL}"
        return _said("being missing is a state", "doubtful", words, f"Compare with {option(missing='testwise')}.")
    if not dropped:
        return None
    words = f"{dropped:,} of {given:,} rows were deleted for missing values, as if they were missing at random."
    verdict: Verdict = "doubtful" if dropped > SHARE_DROPPED * given else "fine"
    return _said("deleted rows are like the others", verdict, words, f"Compare with {option(missing='testwise')}.")


def _testwise(blanket: Blanket, complete: int) -> Assumption:
    fewest = min((e.n_rows for e in blanket.strengths.values()), default=blanket.n_rows)
    words = (
        f"Values are missing in {joined(tuple(blanket.data.get('missing', ())))}; {complete:,} of "
        f"{count_of(blanket.data.get('n_rows', blanket.n_rows), 'row')} are complete. Each test used the rows that "
        f"have what it needs (at least {fewest:,} behind a member). That is right if gaps come by chance, or depend "
        f"only on columns in the test's own conditioning set."
    )
    verdict: Verdict = "doubtful" if 2 * fewest < blanket.n_rows else "not seen"
    return _said("gaps are harmless", verdict, words, f"Ask {entry('audit')} whether gaps depend on the target.")


def _rows(blanket: Blanket) -> Assumption:
    if n_groups := blanket.settings.get("n_groups"):
        words = f"{n_groups:,} groups ({blanket.settings.get('groups')}) are assumed to be independent draws."
        few = n_groups < FEW_GROUPS
        step = (
            "Collect more groups: p-values are rough." if few else f"{part('refute(data)')} looks at subsets of groups."
        )
        return _said("groups are independent", "doubtful" if few else "not seen", words, step)
    words = f"The {count_of(blanket.n_rows, 'row')} are assumed to be independent draws from one population."
    step = f"If several belong together, such as visits of a patient, say so with {option('groups')}."
    return _said("rows are independent", "not seen", words, step)


def _causes(blanket: Blanket) -> Assumption | None:
    if not blanket.roles:
        return None
    words = "Parents and children are causes and effects only if no hidden column influences two of those shown."
    return _said("roles are causal", "not seen", words, f"Look for hidden ones with {entry('discover_latent')}.")


_LOOKS: tuple[Callable[[Blanket], Assumption | None], ...] = (
    *(_copies, _surrogate, _prior, _levels, _chance, _done, _power),
    *(_faithful, _sound, _binning, _interactions, _gaps, _rows, _causes),
)
