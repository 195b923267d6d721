"""`refute`: tamper with the data of a blanket in ways that must, or must not, change it."""

from __future__ import annotations

import math
import re
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from blankets.arguments import generator_from, threads_from, whole_number
from blankets.errors import BlanketsWarning, DataError, LabelError, NotAnswerableError, ParameterError, TargetError
from blankets.progress import Progress, shown
from blankets.questions.discover import discover
from blankets.questions.sensitivity import sensitivity
from blankets.questions.stability import READING, members_over, rows_drawn
from blankets.regimes import UNLABELLED, Regime, prior_from, regime_from
from blankets.results import Blanket, Refutation, Trial, count_of, joined, number
from blankets.search import ALGORITHMS
from blankets.study._measured import Measured, read_measured
from blankets.study._setting import Seed
from blankets.study._study import Study, read_study

__all__ = ["refute"]

SUBSET = 0.8  # of the rows
HIDDEN = 0.5  # of the labels
N_NOISE = 5  # columns of noise in each draw
OFTEN = 0.5  # of the draws
_TESTING = ("alpha", "test", "dof", "reliability", "strength", "surrogate")
_PRIORS = (
    (re.compile(r"below (.+)"), r"<\1"),
    (re.compile(r"above (.+)"), r">\1"),
    (re.compile(r"between (.+) and (.+)"), r"\1-\2"),
)


def refute(
    blanket: Blanket,
    data: Any,
    *,
    y: ArrayLike | None = None,
    n_draws: int = 20,
    n_jobs: int | None = None,
    progress: Progress = False,
    rng: Seed = None,
    **changes: Any,
) -> Refutation:
    """Try to refute a blanket: search again where it must be found, and where it must not.

    Parameters
    ----------
    blanket : Blanket
        From `discover`.
    data, y
        The table from which it was found; another one is refused.
    n_draws : int
        Draws for each trial.
    n_jobs : int, optional
        Number of threads; default all processors. The answer does not depend on it.
    progress : bool or callable
        Show a progress line on a terminal, or call this with a sentence for every step.
    rng : int, Generator or None
        Seed of the draws.
    **changes
        Arguments of `discover` that the blanket does not know of any more, such as a ``prior`` that was handed over
        as a distribution.

    Returns
    -------
    Refutation

    Notes
    -----
    *Same data*: the blanket is found again. *Permuted target*: with the labels shuffled among the rows, no more
    members are found than chance lets in. *Noise columns*: of shuffled copies of real columns no more get in.
    *Row subsets*: each member is found in at least half of the draws of 80% of the rows. *Priors* (where labeling
    depends on the class): no member comes or goes with p(y=1). *Fewer labels* (where some are missing): with half of
    the labels of each class hidden, no new member is found in more than half of the draws.

    A blanket that stands is not thereby true; one that does not deserves a second look.

    Examples
    --------
    >>> import blankets as bl
    >>> rng = np.random.default_rng(7)
    >>> smoker, city = rng.random(500) < 0.3, rng.choice(["north", "south"], 500)
    >>> cough = rng.random(500) < np.where(smoker, 0.7, 0.1)
    >>> table = {"smoker": smoker, "city": city, "cough": cough}
    >>> tried = bl.discover(table, "smoker").refute(table, rng=0)
    >>> tried.stands, tried["row subsets"].figures
    (True, {'cough': 1.0})
    """
    asked = {name: value for name, value in locals().items() if name not in ("blanket", "changes")} | changes
    _check(blanket, n_draws)
    began = time.perf_counter()
    generator = generator_from(rng)
    with shown(progress) as tell, warnings.catch_warnings():
        warnings.simplefilter("ignore", BlanketsWarning)  # the blanket has said what there is to say
        study, how = _as_before(blanket, data, y, threads_from(n_jobs), changes)
        tamper = _Tampering(blanket, study, how, n_draws, generator, tell or (lambda sentence: None))
        trials = tuple(tamper.trials())
    return Refutation(
        target=blanket.target,
        members=blanket.members,
        trials=trials,
        n_draws=n_draws,
        seconds=time.perf_counter() - began,
        call=study.call("refute", asked),
    )


def _check(blanket: Blanket, n_draws: int) -> None:
    if not isinstance(blanket, Blanket):
        raise ParameterError.out_of_range("blanket", blanket, "a Blanket, as discover returns it")
    whole_number("n_draws", n_draws, 1)


def _as_before(
    blanket: Blanket, data: Any, y: ArrayLike | None, n_jobs: int, changes: Mapping[str, Any]
) -> tuple[Study | Measured, dict[str, Any]]:
    """Read the table as it was read for the blanket; return it with the arguments of the search."""
    said = dict(blanket.settings)
    if said.get("surrogate") == "full":
        del said["surrogate"]
    entry = ALGORITHMS.get(blanket.algorithm)
    options = [] if entry is None else [name for name in entry.options if name != "rng"]
    how = {name: said[name] for name in (*_TESTING, *options) if name in said}
    how |= {"algorithm": blanket.algorithm, "force": said.get("surrogate_is_valid") is False}
    reading = {name: said[name] for name in READING if name in said}
    made = {} if blanket.call is None else blanket.call.options
    about = {name: made[name] for name in ("positive", "unlabeled_marker") if name in made}
    if made.get("given_drivers") is False:
        how["given_drivers"] = False
    own = dict(changes)
    regime = own.pop("labels") if "labels" in own else _regime(blanket, own.pop("prior", None))
    for name in [name for name in own if name in (*READING, "positive", "unlabeled_marker")]:
        (reading if name in READING else about)[name] = own.pop(name)
    target = blanket.target if y is None else None
    about["labels"] = regime
    study: Study | Measured
    try:
        if said.get("test") == "fisher-z":
            study = read_measured(data, target, y, n_jobs=n_jobs, about_labels=about, reading=reading)
        else:
            study = read_study(data, target, y, n_jobs=n_jobs, **about, **reading)
    except (LabelError, TargetError) as error:
        raise DataError(f"these are not the data of the blanket of {blanket.target!r}: {error}") from None
    known = "" if blanket.call is None else blanket.call.fingerprint
    if known and study.fingerprint != known:
        raise DataError(
            f"these are not the data of the blanket of {blanket.target!r}: their fingerprint is "
            f"{study.fingerprint[:12]}..., and that of the blanket is {known[:12]}...; give the same table"
        )
    return study, how | own


def _regime(blanket: Blanket, prior: object) -> Regime:
    """Return the label regime of a blanket."""
    name, sampling = str(blanket.settings.get("labels") or "supervised"), blanket.settings.get("sampling")
    said = blanket.settings.get("prior")
    if prior is None and said is not None:
        text = str(said)
        for pattern, form in _PRIORS:
            if found := pattern.fullmatch(text):
                text = found.expand(form)
        try:
            prior = prior_from(text)
        except ParameterError:
            raise ParameterError(f"p(y=1) was handed over as {said}; give it again with prior=...") from None
    if name == "supervised":
        return regime_from(name)
    return regime_from(name, prior=prior, sampling=sampling)


@dataclass(eq=False)
class _Tampering:
    """Tampers with the rows, columns and labels of a study."""

    blanket: Blanket
    study: Study | Measured
    how: dict[str, Any]
    n_draws: int
    rng: np.random.Generator
    tell: Callable[[str], None]

    def trials(self) -> Iterator[Trial]:
        """Yield what became of each attempt."""
        yield self._again()
        yield self._permuted()
        yield self._noise()
        yield self._subsets()
        yield self._priors()
        yield self._fewer_labels()

    def _search(self, study: Study | Measured, rng: np.random.Generator) -> Blanket:
        return discover(study, rng=rng, **self.how)

    def _draws(self, name: str) -> Iterator[np.random.Generator]:
        for k, rng in enumerate(self.rng.spawn(self.n_draws)):
            self.tell(f"{name}: {k + 1} of {self.n_draws}")
            yield rng

    def _again(self) -> Trial:
        self.tell("same data")
        made = self.blanket.call
        seed = made.seed if made is not None and isinstance(made.seed, int) else None
        found = discover(self.study, rng=seed, **self.how)
        lost = [x for x in self.blanket.members if x not in found]
        new = [x for x in found.members if x not in self.blanket]
        if not lost and not new:
            return Trial(name="same data", verdict="passed", words="The same members were found again.")
        words = f"Found again: {joined(found.members) or 'nothing'}; lost {joined(lost) or 'none'}, "
        return Trial(name="same data", verdict="failed", words=f"{words}new {joined(new) or 'none'}.")

    def _permuted(self) -> Trial:
        """Shuffle the labels, known and unknown ones, among the rows."""
        name = "permuted target"
        found = []
        for rng in self._draws(name):
            found.append(self._search(self.study.permuted(rng.permutation(self.study.n_rows)), rng))
        mean = sum(map(len, found)) / self.n_draws
        allowed = _allowed(found)
        figures = {"found": mean}
        if allowed is None:
            words = f"{number(mean)} members on average; {self.blanket.algorithm} holds no error rate to compare with."
            return Trial(name=name, verdict="not asked", words=words, figures=figures)
        words = (
            f"With the target shuffled {number(mean)} members were found on average, and chance lets in at most "
            f"{number(allowed)}."
        )
        return Trial(name=name, verdict=_within(mean, allowed, self.n_draws), words=words, figures=figures)

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
        tried = N_NOISE * self.n_draws
        rate = _rate(chances)
        kept = f" {stayed / self.n_draws:.0%} of the members stayed." if len(self.blanket) else ""
        figures = {"let in": let_in / tried, "stayed": stayed / self.n_draws}
        if rate is None:
            words = f"{let_in} of {tried} columns of noise got in.{kept}"
            return Trial(name=name, verdict="not asked", words=words, figures=figures)
        words = f"{let_in} of {tried} columns of noise got in; chance lets in at most {number(rate * tried)}.{kept}"
        return Trial(name=name, verdict=_within(let_in, rate * tried, 1), words=words, figures=figures)

    def _subsets(self) -> Trial:
        """Search subsets of the rows."""
        name = "row subsets"
        drawn = rows_drawn(self.study, self.n_draws, "subsample", SUBSET, self.rng.spawn(1)[0])
        shares = self._shares(self.study, drawn, name)
        figures = {x: shares.get(x, 0.0) for x in self.blanket.members}
        unsure = [f"{x} ({share:.0%})" for x, share in figures.items() if share < OFTEN]
        often = [x for x, share in shares.items() if share >= OFTEN and x not in self.blanket]
        words = f"In draws of {SUBSET:.0%} of the rows, " + (
            f"these members were found in fewer than half: {joined(unsure)}."
            if unsure
            else f"each member was found in at least {min(figures.values(), default=1.0):.0%} of them."
        )
        words += f" Not in the blanket, but found in half of them or more: {joined(often)}." if often else ""
        return Trial(name=name, verdict="failed" if unsure or often else "passed", words=words, figures=figures)

    def _told(self, name: str, sentence: str) -> None:
        self.tell(f"{name}: {sentence}")

    def _shares(self, study: Study | Measured, drawn: Sequence[NDArray[np.int64]], name: str) -> dict[str, float]:
        """Return in which share of some draws of rows each column is found."""
        seeds = self.rng.spawn(len(drawn))
        found = members_over(study, list(drawn), seeds, self.how, study.n_jobs, partial(self._told, name))
        names = dict.fromkeys(x for members in found for x in members)
        return {x: sum(x in members for members in found) / len(found) for x in names}

    def _priors(self) -> Trial:
        """Search under all values of p(y=1) that the labels allow."""
        name = "priors"
        if not isinstance(self.study, Study) or self.study.regime.name not in ("pu", "mar-c"):
            return Trial(name=name, verdict="not asked", words="No answer depends on p(y=1) here.")
        self.tell(name)
        how = {key: value for key, value in self.how.items() if key not in ("surrogate", "force")}
        try:
            found = sensitivity(replace(self.study, regime=_without_prior(self.study.regime)), rng=0, **how)
        except (NotAnswerableError, ParameterError) as error:
            return Trial(name=name, verdict="not asked", words=f"{error}.")
        if not found.sometimes:
            words = f"The same {count_of(len(found.always), 'member')} for every p(y=1) that the labels allow."
            return Trial(name=name, verdict="passed", words=words)
        words = f"Members for some values of p(y=1) only: {joined(found.sometimes)}; see bl.sensitivity."
        return Trial(name=name, verdict="failed", words=words)

    def _fewer_labels(self) -> Trial:
        """Hide labels of each class."""
        name = "fewer labels"
        if not isinstance(self.study, Study) or not self.study.labels.n_unlabeled:
            return Trial(name=name, verdict="not asked", words="Every row is labeled; see the row subsets.")
        found = []
        for rng in self._draws(name):
            found.append(self._search(_with_fewer_labels(self.study, rng), rng).members)
        times = {x: sum(x in members for members in found) / self.n_draws for x in self.blanket.members}
        new = {x for members in found for x in members if x not in self.blanket}
        often = [x for x in new if sum(x in members for members in found) > OFTEN * self.n_draws]
        lost = [f"{x} ({share:.0%})" for x, share in times.items() if share < OFTEN]
        words = f"With {HIDDEN:.0%} of the labels hidden, " + (
            f"these members are mostly lost, for want of power: {joined(lost)}." if lost else "all members are found."
        )
        words += f" New, and found in most draws: {joined(sorted(often))}." if often else ""
        return Trial(name=name, verdict="failed" if often else "passed", words=words, figures=times)


def _without_prior(regime: Regime) -> Regime:
    return regime_from(regime.name, sampling=regime.sampling if regime.name == "pu" else None)


def _new_names(names: Sequence[str]) -> list[str]:
    """Return names for columns of noise that no column has."""
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
    for code in np.unique(codes[codes != UNLABELLED]):
        rows = rng.permutation(np.flatnonzero(codes == code))
        codes[rows[: int(HIDDEN * len(rows))]] = UNLABELLED
    return replace(study, labels=replace(study.labels, codes=codes), drawn=True)


def _allowed(found: Sequence[Blanket]) -> float | None:
    """Return how many false members chance lets in on average; for a false discovery rate it is that of any at all."""
    known = [blanket.false_members for blanket in found]
    if any(one is None for one in known):
        return None
    return float(np.mean([one.alpha if one.controls == "fdr" else one.at_most for one in known if one is not None]))


def _rate(found: Sequence[Blanket]) -> float | None:
    """Return the share of noise that chance lets in."""
    known = [blanket.false_members for blanket in found]
    if any(one is None for one in known):
        return None
    rates = [one.alpha if one.controls == "fdr" else one.at_most / max(one.n_tested, 1) for one in known if one]
    return min(float(np.mean(rates)), 1.0)


def _within(seen: float, allowed: float, n: int) -> Any:
    """Tell whether a mean of n counts is within three standard errors of what is allowed, or one single count is."""
    return "passed" if n * seen <= n * allowed + 3 * math.sqrt(n * allowed) + 1e-9 else "failed"
