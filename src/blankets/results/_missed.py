"""What a search could have missed: for each column left out, the smallest effect that its decisive test would find.

The decisive test of a column is the last one that found it independent of the target. In this test an effect of
I nats has noncentrality λ = 2 κ N I: κ N is the setting ``effective_rows``, the number of fully labeled rows with
the same power. If κ is not known (no prior, or labeling that depends on features), the number of counted rows is
used instead, and effects are those on the surrogate that was counted in place of the target. For conditional tests
κ is the unconditional one, an approximation (errata B4).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from blankets.results._evidence import NamedEvidence
from blankets.results._words import size_of, w_of
from blankets.stats import detectable_effect

if TYPE_CHECKING:
    from blankets.results._blanket import Blanket

POWERS = (0.8, 0.95)


@dataclass(frozen=True, slots=True, eq=False)
class Missed:
    """Decisive tests of the columns left out, as arrays."""

    columns: NDArray[np.int64]  # (n,): positions in the list of all column names, ascending
    # dof, n_rows (n,): degrees of freedom and rows of the decisive tests
    dof: NDArray[np.float64]
    n_rows: NDArray[np.int64]
    given: tuple[tuple[str, ...], ...]  # their conditioning sets
    powers: tuple[float, ...]  # probabilities of detection
    effects: NDArray[np.float64]  # (powers, n): smallest effects in nats that are found with these probabilities

    def table(self, names: Sequence[str]) -> list[dict[str, object]]:
        """Return one row for each column."""
        return [
            {
                "column": names[x],
                **{f"effect_{100 * p:g}": float(e) for p, e in zip(self.powers, effects, strict=True)},
                "given": given,
                "dof": float(dof),
                "n_rows": int(n),
            }
            for x, effects, given, dof, n in zip(
                self.columns, self.effects.T, self.given, self.dof, self.n_rows, strict=True
            )
        ]

    def groups(self) -> list[dict[str, object]]:
        """Return columns grouped by equal tests, by number: a short form for 139,351 columns."""
        like = np.unique(np.stack([self.dof, self.n_rows]), axis=1) if len(self.columns) else np.zeros((2, 0))
        groups = [np.flatnonzero((self.dof == dof) & (self.n_rows == n_rows)) for dof, n_rows in like.T]
        return [
            {
                **{f"effect_{100 * p:g}": e[at[0]] for p, e in zip(self.powers, self.effects, strict=True)},
                "dof": self.dof[at[0]],
                "n_rows": self.n_rows[at[0]],
                "columns": self.columns[at],
            }
            for at in groups
        ]


def missed(blanket: Blanket, powers: Sequence[float] = POWERS) -> Missed:
    """Return the decisive tests of the columns left out, with the effects that they would find."""
    level = _log_alpha(blanket.settings)
    position = {name: j for j, name in enumerate(blanket.columns)}
    decisive: dict[int, tuple[float, int, tuple[str, ...]]] = {}
    for step in blanket.decisions:
        if _settles(step.evidence, blanket.target, level) and step.x not in blanket.members:
            decisive[position[step.x]] = step.evidence.dof, step.evidence.n_rows, step.evidence.given
    looks = blanket.passed_over
    for i in np.flatnonzero(looks.reliable & (looks.log_p > level)).tolist():
        decisive[int(looks.columns[i])] = float(looks.dof[i]), int(looks.n_rows[i]), looks.givens[looks.given[i]]
    columns = np.array(sorted(decisive), np.int64)
    dof, n_rows, given = zip(*(decisive[x] for x in columns.tolist()), strict=True) if decisive else ((), (), ())
    freedom, rows = np.array(dof, float), np.array(n_rows, np.int64)
    effects = _effects(freedom, rows, blanket.settings, powers)
    return Missed(columns, freedom, rows, tuple(given), tuple(powers), effects)


def detectable_by(evidence: Iterable[NamedEvidence], target: str, settings: Mapping[str, Any]) -> dict[float, float]:
    """Return the effects that the decisive test of a column would find; {} if no test was decisive."""
    settled = [e for e in evidence if _settles(e, target, _log_alpha(settings))]
    if not settled:
        return {}
    last = settled[-1]
    effects = _effects(np.array([last.dof]), np.array([last.n_rows]), settings, POWERS)
    return {power: float(effect) for power, effect in zip(POWERS, effects[:, 0], strict=True)}


def in_words(detectable: Mapping[float, float], settings: Mapping[str, Any]) -> str:
    """Say what the decisive test would have found."""
    on = "" if settings.get("effective_rows") else instead(settings)
    found = ", of ".join(f"{w_of(e)} ({size_of(e)}) with probability {p:g}" for p, e in detectable.items())
    return (
        f"The test that settled it would have found an effect{on} of Cohen's w {found}; a weaker one could have been "
        f"missed."
    )


def instead(settings: Mapping[str, Any]) -> str:
    """Say what the effect refers to if κ is not known."""
    surrogate = settings.get("surrogate", "full")
    if surrogate == "full":
        return ""
    return " among the labeled rows" if surrogate == "listwise" else " on what is counted in place of the target"


def _settles(evidence: NamedEvidence, target: str, level: float) -> bool:
    return evidence.reliable and evidence.y == target and evidence.log_p > level


def _log_alpha(settings: Mapping[str, Any]) -> float:
    """Return the logarithm of the level; without a level no test is decisive."""
    alpha = settings.get("alpha")
    return math.log(alpha) if isinstance(alpha, float) and 0 < alpha < 1 else math.inf


def _effects(
    dof: NDArray[np.float64], n_rows: NDArray[np.int64], settings: Mapping[str, Any], powers: Sequence[float]
) -> NDArray[np.float64]:
    """Return the smallest effects found, shape (powers, tests); infinite if there was nothing to test."""
    alpha, effective = settings.get("alpha", np.nan), settings.get("effective_rows")
    rows = np.full(len(dof), float(effective)) if effective else n_rows.astype(float)
    out = np.full((len(powers), len(dof)), np.inf)
    # λ depends only on the degrees of freedom, and 139,351 tests have few different ones.
    for free in np.unique(dof[dof > 0]):
        at = dof == free
        for k, power in enumerate(powers):
            out[k, at] = detectable_effect(power, rows[at], free, alpha)
    return out
