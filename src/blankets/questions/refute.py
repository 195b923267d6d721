"""`refute`: change the data of a blanket in ways that must, or must not, change the blanket."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from blankets.arguments import generator_from, whole_number
from blankets.data import ReadingOptions
from blankets.errors import BlanketsWarning, DataError, LabelError, NotAnswerableError, ParameterError, TargetError
from blankets.questions._question import question
from blankets.questions.sensitivity import over_priors
from blankets.regimes import UNLABELED, Regime
from blankets.results import Blanket, Refutation, Trial, count_of, digits, joined
from blankets.stats import FalseMembers
from blankets.study import (
    Progress,
    Search,
    Seed,
    Study,
    Wanted,
    members_over,
    open_study,
    rows_drawn,
    second_opinion,
)
from blankets.voice import entry

SUBSET = 0.8  # share of the rows
HIDDEN = 0.5  # share of the labels
N_NOISE = 5  # columns of noise in each draw
OFTEN = 0.5  # share of the draws
# Of predictions: the p-value up to which columns outside make them better, and above which a member does not. The gain
# of a member that its test finds at p = 1e-8 has p above 0.2 in a tenth of tables; a weaker one may not be seen,
# and is not asked.
BETTER, NO_BETTER, STRONG = 0.05, 0.2, 1e-8


@question
def refute(
    blanket: Blanket,
    data: Any,
    *,
    y: ArrayLike | None = None,
    n_resamples: int = 20,
    n_jobs: int | None = None,
    progress: Progress = False,
    rng: Seed = None,
    **changes: Any,
) -> Refutation:
    """Try to refute a blanket: search again in data where it must be found, and in data where it must not.

    Parameters
    ----------
    blanket : Blanket
        A result of `discover`; it holds the call that made it.
    n_resamples : int
        Draws for each trial.
    **changes
        Arguments of `discover` that are not stored in the blanket, such as a ``prior`` of your own class.

    Returns
    -------
    Refutation

    Notes
    -----
    The blanket must pass these trials. *Same data*: it is found again. *Permuted target*: with shuffled labels, no
    more members are found than expected by chance. *Noise columns*: of shuffled copies of real columns, no more
    enter than expected by chance. *Row subsets*: each member is found in at least half of the draws of 80% of the
    rows. *Priors* (if labeling depends on the class): the members are the same for every p(y=1). *Fewer labels* (if
    some are missing): with half of the labels of each class hidden, no new member is found in more than half of the
    draws. *Learned prediction*: a ridge regression and boosted trees predict rows that they have not seen no better
    with columns outside, and worse without each member that is strong enough to be missed. This trial asks no test.

    Passing all trials does not prove that a blanket is true. Look again at a blanket that fails one.

    Examples
    --------
    >>> import numpy as np
    >>> import blankets as bl
    >>> rng = np.random.default_rng(7)
    >>> smoker, city = rng.random(500) < 0.3, rng.choice(["north", "south"], 500)
    >>> cough = rng.random(500) < np.where(smoker, 0.7, 0.1)
    >>> table = {"smoker": smoker, "city": city, "cough": cough}
    >>> tried = bl.discover(table, "smoker").refute(table, rng=0)
    >>> tried.stands, tried["row subsets"].figures
    (True, {'cough': 1.0})
    """
    if not isinstance(blanket, Blanket):
        raise ParameterError.out_of_range("blanket", blanket, "a Blanket, as discover returns it")
    whole_number("n_resamples", n_resamples, 1)
    began = time.perf_counter()
    generator = generator_from(rng)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BlanketsWarning)  # the first search has warned already
        given = as_before(blanket, changes)
        close = bool(given.get("close", True))
        wanted = Wanted.of(
            blanket.algorithm,
            given.get("options"),
            given.get("alpha", 0.01),
            close=close,
            knowledge=given.get("knowledge"),
        )
        about: dict[str, Any] = {name: given[name] for name in ("labels", "prior", "test") if name in given}
        reading = {name: given[name] for name in ReadingOptions.__annotations__ if name in given}
        target = blanket.target if y is None else None
        try:
            about |= {"n_jobs": n_jobs, "progress": progress, "numbers": True, "knows_groups": True, "pools": True}
            opened = open_study(data, target, y, reading=reading, **about)
            with opened as study:
                _check_same(blanket, study)
                tell = study.tell or (lambda sentence: None)
                trials = tuple(_Tampering(blanket, study, wanted, n_resamples, generator, tell).trials())
        except (LabelError, TargetError) as error:
            raise DataError(f"these are not the data of the blanket of {blanket.target!r}: {error}") from None
    return Refutation(
        target=blanket.target,
        members=blanket.members,
        trials=trials,
        n_resamples=n_resamples,
        seconds=time.perf_counter() - began,
        call=study.mark,
    )


def as_before(blanket: Blanket, changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of the call that made the blanket, with changes."""
    if blanket.call is None:
        raise DataError(f"the blanket of {blanket.target!r} has no call that says how to search again; ask discover")
    apart = {"prior": None} if isinstance(changes.get("labels"), Regime) else {}  # a regime holds its own
    return blanket.call.arguments(**{"y": None, "rng": None, **apart, **changes})


def _check_same(blanket: Blanket, study: Study) -> None:
    known = blanket.call.fingerprint if blanket.call else ""
    if known and study.fingerprint != known:
        raise DataError(
            f"these are not the data of the blanket of {blanket.target!r}: their fingerprint is "
            f"{study.fingerprint[:12]}..., and that of the blanket is {known[:12]}...; give the same table"
        )


@dataclass(eq=False)
class _Tampering:
    """Changes the rows, columns and labels of a study."""

    blanket: Blanket
    study: Study
    wanted: Wanted
    n_resamples: int
    rng: np.random.Generator
    tell: Callable[[str], None]

    def trials(self) -> Iterator[Trial]:
        """Yield the result of each trial."""
        yield self._again()
        yield self._permuted()
        yield self._noise()
        yield self._subsets()
        yield self._priors()
        yield self._fewer_labels()
        yield self._learned()

    def _search(self, study: Study, rng: Seed) -> Blanket:
        return Search.of(study, self.wanted, rng).blanket_of(study.target)

    def _draws(self, name: str) -> Iterator[np.random.Generator]:
        for k, rng in enumerate(self.rng.spawn(self.n_resamples)):
            self.tell(f"{name}: {k + 1} of {self.n_resamples}")
            yield rng

    def _again(self) -> Trial:
        self.tell("same data")
        call = self.blanket.call
        found = self._search(self.study, call.seed if call is not None and isinstance(call.seed, int) else None)
        lost = [x for x in self.blanket.members if x not in found]
        new = [x for x in found.members if x not in self.blanket]
        if not lost and not new:
            return Trial(name="same data", verdict="passed", words="The same members were found again.")
        words = f"Found again: {joined(found.members) or 'nothing'}; lost {joined(lost) or 'none'}, "
        return Trial(name="same data", verdict="failed", words=f"{words}new {joined(new) or 'none'}.")

    def _permuted(self) -> Trial:
        """Shuffle the labels, known and unknown, among the rows."""
        name = "permuted target"
        # Required members would be found in any data.
        freely = replace(self.wanted, knowledge=replace(self.wanted.knowledge, required=()))
        found = []
        for rng in self._draws(name):
            found.append(Search.of(self.study.shuffled(rng), freely, rng).blanket_of(self.study.target))
        silent = {x for group in self.wanted.knowledge.together for x in list(group)[1:]}  # a group enters as one
        mean = sum(len(set(each.members) - silent) for each in found) / self.n_resamples
        # With a false discovery rate, the probability of any.
        allowed = _mean(found, lambda one: one.alpha if one.at_most is None else one.at_most)
        figures = {"found": mean}
        if allowed is None:
            words = (
                f"{digits(mean)} members on average; {self.blanket.algorithm} controls no error rate to compare with."
            )
            return Trial(name=name, verdict="not asked", words=words, figures=figures)
        verdict = _within(mean, allowed, self.n_resamples)
        words = (
            f"With the target shuffled {digits(mean)} members were found on average; at most {digits(allowed)} are "
            f"expected by chance.{_excused(verdict, mean, allowed)}"
        )
        return Trial(name=name, verdict=verdict, words=words, figures=figures)

    def _noise(self) -> Trial:
        """Add columns that are shuffled copies of others."""
        name, features = "noise columns", self.study.features
        if not features:
            return Trial(name=name, verdict="not asked", words="There is no column to shuffle.")
        let_in, stayed, chances = 0, 0.0, []
        for rng in self._draws(name):
            new = dict(zip(_new_names(self.study.names), rng.choice(features, N_NOISE).tolist(), strict=True))
            found = self._search(self.study.with_noise(new, rng), rng)
            let_in += sum(x in new for x in found.members)
            stayed += sum(x in found for x in self.blanket.members) / max(len(self.blanket), 1)
            chances.append(found)
        tried = N_NOISE * self.n_resamples
        rate = _mean(chances, lambda one: one.alpha * max(one.chances / max(one.n_tested, 1), 1))
        kept = f" {stayed / self.n_resamples:.0%} of the members stayed." if len(self.blanket) else ""
        figures = {"let in": let_in / tried, "stayed": stayed / self.n_resamples}
        if rate is None:
            words = f"{let_in} of {tried} columns of noise entered.{kept}"
            return Trial(name=name, verdict="not asked", words=words, figures=figures)
        rate = min(rate, 1.0)
        verdict = _within(let_in, rate * tried, 1)
        expected = f"at most {digits(rate * tried)} are expected by chance.{_excused(verdict, let_in, rate * tried)}"
        words = f"{let_in} of {tried} columns of noise entered; {expected}{kept}"
        return Trial(name=name, verdict=verdict, words=words, figures=figures)

    def _subsets(self) -> Trial:
        """Search subsets of the rows."""
        name = "row subsets"
        drawn = rows_drawn(self.study, self.n_resamples, "subsample", SUBSET, self.rng.spawn(1)[0])
        shares = self._shares(self.study, drawn, name)
        figures = {x: shares.get(x, 0.0) for x in self.blanket.members}
        unsure = [f"{x} ({share:.0%})" for x, share in figures.items() if share < OFTEN]
        often = [x for x, share in shares.items() if share >= OFTEN and x not in self.blanket]
        words = f"In draws of {SUBSET:.0%} of the rows, " + (
            f"these members were found in fewer than half: {joined(unsure)}."
            if unsure
            else f"each member was found in {_at_least(min(figures.values(), default=1.0))} of them."
        )
        words += f" Not in the blanket, but found in half of them or more: {joined(often)}." if often else ""
        return Trial(name=name, verdict="failed" if unsure or often else "passed", words=words, figures=figures)

    def _shares(self, study: Study, drawn: Sequence[NDArray[np.int64]], name: str) -> dict[str, float]:
        """Return for each column the share of draws in which it is found."""
        seeds = self.rng.spawn(len(drawn))
        found = members_over(study, drawn, seeds, self.wanted, lambda sentence: self.tell(f"{name}: {sentence}"))
        names = dict.fromkeys(x for members in found for x in members)
        return {x: sum(x in members for members in found) / len(found) for x in names}

    def _priors(self) -> Trial:
        """Search under all values of p(y=1) that the labels allow."""
        name = "priors"
        if self.study.regime.name not in ("pu", "mar-c"):
            return Trial(name=name, verdict="not asked", words="No answer depends on p(y=1) here.")
        self.tell(name)
        open_to_all = replace(self.study.regime, prior=None, surrogate=None, force=False)  # type: ignore[type-var]
        try:
            found = over_priors(replace(self.study, regime=open_to_all), self.wanted, rng=0)
        except (NotAnswerableError, ParameterError) as error:
            return Trial(name=name, verdict="not asked", words=f"{error}.")
        if not found.sometimes:
            words = f"The same {count_of(len(found.always), 'member')} for every p(y=1) that the labels allow."
            return Trial(name=name, verdict="passed", words=words)
        words = f"Members for some values of p(y=1) only: {joined(found.sometimes)}; see {entry('sensitivity')}."
        return Trial(name=name, verdict="failed", words=words)

    def _learned(self) -> Trial:
        """Ask whether a learned prediction needs the members, and nothing else."""
        name, search = "learned prediction", Search.of(self.study, self.wanted, brief=True)
        whole = search.algorithm.finds == "blanket" and search.tests.names == self.study.names
        if self.study.labels.n_unlabeled or not whole:
            words = "It is asked of whole blankets, where every row is labeled and columns enter one by one."
            return Trial(name=name, verdict="not asked", words=words)
        self.tell(name)
        candidates = [self.study.names[x] for x in search.knows.candidates(self.study.target)]
        others = [x for x in candidates if x not in self.blanket and x not in self.blanket.undecided]
        found = second_opinion(self.study, self.blanket.members, others, self.rng.spawn(1)[0])
        if found is None:
            return Trial(name=name, verdict="not asked", words="Rows are too few, or classes too many.")
        own = {x: evidence.p for x, evidence in self.blanket.strengths.items()}
        weak = {x for x, p in own.items() if STRONG < p <= self.wanted.alpha}
        idle = [x for x, p in found.needed.items() if p > NO_BETTER and x not in weak]
        lean = found.missing <= BETTER
        figures = {**found.needed, **(found.outside if lean else {})}
        words = "On rows that they had not seen, predictions need each strong member, and no column outside."
        if idle or lean:
            said = [f"no worse without {joined(idle)}"] if idle else []
            said += [f"better with {joined([*found.outside])} (p = {digits(found.missing)})"] if lean else []
            words = f"On rows that they had not seen, predictions were {' and '.join(said)}."
        return Trial(name=name, verdict="failed" if idle or lean else "passed", words=words, figures=figures)

    def _fewer_labels(self) -> Trial:
        """Hide labels of each class."""
        name = "fewer labels"
        if not self.study.labels.n_unlabeled:
            return Trial(name=name, verdict="not asked", words="Every row is labeled; see the row subsets.")
        found = []
        for rng in self._draws(name):
            found.append(self._search(_with_fewer_labels(self.study, rng), rng).members)
        times = {x: sum(x in members for members in found) / self.n_resamples for x in self.blanket.members}
        new = {x for members in found for x in members if x not in self.blanket}
        often = [x for x in new if sum(x in members for members in found) > OFTEN * self.n_resamples]
        lost = [f"{x} ({share:.0%})" for x, share in times.items() if share < OFTEN]
        words = f"With {HIDDEN:.0%} of the labels hidden, " + (
            f"these members are mostly lost, because power is too low: {joined(lost)}."
            if lost
            else "all members are found."
        )
        words += f" New, and found in most draws: {joined(sorted(often))}." if often else ""
        return Trial(name=name, verdict="failed" if often else "passed", words=words, figures=times)


def _new_names(names: Sequence[str]) -> list[str]:
    """Return new names for columns of noise."""
    new = []
    for k in range(N_NOISE):
        name = f"noise {k + 1}"
        while name in names:
            name += "'"
        new.append(name)
    return new


def _with_fewer_labels(study: Study, rng: np.random.Generator) -> Study:
    """Return the study with half of the labels of each class hidden; at least one of each stays."""
    codes = study.labels.codes.copy()
    for code in np.unique(codes[codes != UNLABELED]):
        rows = rng.permutation(np.flatnonzero(codes == code))
        codes[rows[: int(HIDDEN * len(rows))]] = UNLABELED
    return study.with_labels(codes)


def _mean(found: Sequence[Blanket], number: Callable[[FalseMembers], float]) -> float | None:
    """Return the mean of a number of false members; None if it is not known."""
    known = [blanket.false_members for blanket in found]
    return None if None in known else float(np.mean([number(one) for one in known if one is not None]))


def _at_least(share: float) -> str:
    return "all" if share == 1 else f"at least {share:.0%}"


def _excused(verdict: str, seen: float, allowed: float) -> str:
    """Say why a trial was passed although more was seen than is expected at most."""
    return " So few draws may have more." if verdict == "passed" and seen > allowed else ""


def _within(seen: float, allowed: float, n: int) -> Any:
    """Tell whether the mean of n counts is at most three standard errors above what is allowed."""
    return "passed" if n * seen <= n * allowed + 3 * math.sqrt(n * allowed) + 1e-9 else "failed"
