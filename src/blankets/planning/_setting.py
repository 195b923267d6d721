"""A planned study: what determines the power of its tests, and solving for the unknown.

A `Setting` holds the numbers; `Setting.power` has all the mathematics: λ = 2 κ N I, noncentral
chi-square. Each solver asks it the same question ("is this enough?") and searches; over integers the
search is exact. Rounding happens once, here, at the end (errata C1).

Everything is vectorized: the numbers may be arrays over draws of an uncertain prior or over the cells of
a table. ``effect`` and ``dof`` have one more axis, the last, over the members of a blanket that are
planned together; a single test is a blanket with one member.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray

from blankets.planning._shapes import least_power
from blankets.records import Bounds, plain, refuse, short
from blankets.regimes import Surrogate
from blankets.stats import attained_power, needed_alpha, needed_noncentrality, noncentrality

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Shape = Annotated[str, Literal["", "any", "spread"]]

MOST_ROWS = 2**50  # floats represent every whole number up to 2**53
TINY = float(np.finfo(float).tiny)
MOST_NATS = 50.0  # a variable would need 10²¹ levels for more
MOST_DOF = 1e15
_MOST_LEVELS, _MOST_DRAWN = 12, 2**30  # of a study that is drawn


@dataclass(frozen=True, kw_only=True)
class LabelDesign:
    """Which labels a test with one surrogate uses, and its κ."""

    surrogate: Surrogate  # what replaces the target
    counts: str  # what counts as a label: "labeled positives", "labeled negatives", "labeled rows"
    # (share of all rows that is labeled, p(y=1)) -> κ
    kappa: Callable[[Floats, Floats], Floats]
    # (effect, p(y=1), labels, rows, degrees of freedom) -> λ, where it is not 2 κ N I with the κ of weak effects
    noncentrality: Callable[[Floats, Floats, Floats, Floats, Floats], Floats] | None = None
    # (effect, p(y=1), labels, rows, degrees of freedom, level) -> power in drawn studies, where λ tells less
    drawn_power: Callable[[float, float, float, float, int, float], float] | None = None
    dof_factor: float = 1.0  # the surrogate's degrees of freedom over those of the full target (errata B14)
    # positives, negatives: the shares of these labels that come from each class; 0 if labels
    # do not bound p(y=1)
    positives: float = 0.0
    negatives: float = 0.0
    # p(y=1) -> the share up to which more labels give more power; default: all possible labels
    useful_share: Callable[[Floats], Floats] | None = None
    safe_side: str = ""  # which wrong value of p(y=1) costs no power: "overestimate", "underestimate", or "" if neither
    uses_prior: bool = True  # whether κ depends on p(y=1) at all
    assumption: str = ""  # what must be true for κ to be right
    by_stratum: bool = True  # whether κ is known stratum by stratum
    regime: str = ""  # what a missing label means, a key of `blankets.planning._designs.DESIGNS`
    # p(y=1|z) and the share of the effect in each stratum, if κ is averaged over strata; otherwise empty
    strata: tuple[tuple[float, float], ...] = ()
    # false positives and false negatives, as shares of the negatives and positives: of labels, or of a machine
    errors: tuple[float, ...] = ()

    def _said(self) -> dict[str, object]:
        said = {name: getattr(self, name) for name in ("regime", "surrogate", "positives", "strata")}
        return {**said, "errors": self.errors} if self.errors else said

    @classmethod
    def _from_data(cls, data: Any) -> LabelDesign:
        from blankets.planning._designs import design_from  # late: that module imports this one

        return design_from(data)

    def possible_share(self, prior: Floats) -> Floats:
        """Return the largest possible share of such labels among all rows, for each p(y=1)."""
        share = np.ones_like(prior)
        if self.positives:
            share = np.minimum(self.positives, prior) / self.positives
        if self.negatives:
            share = np.minimum(share, np.minimum(self.negatives, 1.0 - prior) / self.negatives)
        return share

    def possible_prior(self, share: float) -> tuple[float, float]:
        """Return the possible range of p(y=1) if this share of all rows has such a label."""
        room = 1.0 - 1e-9  # tolerance for rounding
        return share * self.positives * room, 1.0 - share * self.negatives * room

    @property
    def is_monotone(self) -> bool:
        """Whether every answer rises or falls with p(y=1), so that its quantiles are answers at quantiles of p(y=1)."""
        return self.safe_side != ""


@dataclass(frozen=True, kw_only=True)
class Setting:
    """Everything that the power of a planned test depends on; arrays broadcast against each other."""

    design: LabelDesign  # the surrogate and its κ
    # effect, dof (..., members): nats with the full target, and degrees of freedom of the test with the full target
    effect: Annotated[Floats, Bounds(math.ulp(0.0), MOST_NATS)]
    dof: Annotated[Floats, Bounds(math.ulp(0.0), MOST_DOF)]
    # alpha, rows, prior (...): level, rows, p(y=1)
    alpha: Annotated[Floats, Bounds(math.ulp(0.0), 1.0)]
    rows: Annotated[Floats, Bounds(1.0, MOST_ROWS)]
    # (...): labels, as a share of all rows or (``labeled_is_count``) as a number
    labeled: Annotated[Floats, Bounds(0.0, MOST_ROWS)]
    labeled_is_count: bool = False
    prior: Annotated[Floats, Bounds(TINY, 1.0 - 1e-16, known=False)]
    # what a row is worth: the share with all values that a test needs, divided by the design effect
    worth: Annotated[float, Bounds(TINY, 1.0)] = 1.0
    worst_case: bool = False  # whether `power` of several members is Bonferroni's lower bound instead of the product
    # Where ``dof`` + 1 levels are those of one feature: the effect lies in any of them, or is spread over all
    shape: Shape = ""

    def _check(self) -> None:
        if not self.effect.size or self.effect.ndim != 1 or self.effect.shape != self.dof.shape:
            refuse("'effect' and 'dof' in 'setting' differ in length, or are empty")
        for name in ("alpha", "rows", "labeled", "prior"):
            if getattr(self, name).ndim:
                refuse(f"{name!r} in 'setting' holds a list, not a number")
        if self.design.uses_prior == bool(np.isnan(self.prior)):
            refuse(f"'prior' in 'setting' holds {short(plain(self.prior))}")
        if self.share > self.design.possible_share(self.prior) * (1.0 + 1e-6):
            refuse(f"'labeled' in 'setting' holds {short(plain(self.labeled))}")

    @property
    def share(self) -> Floats:
        """Labels as a share of all rows."""
        return np.asarray(self.labeled / self.rows if self.labeled_is_count else self.labeled)

    @property
    def kappa(self) -> Floats:
        """κ: each row counts as much as κ rows with full labels."""
        of_weak = np.asarray(self.design.kappa(self.share, self.prior))
        if self.design.noncentrality is None:
            return of_weak
        full = noncentrality(self.effect, self.rows[..., None] * self.worth).sum(axis=-1)
        kept = self.noncentrality.sum(axis=-1) / full
        return np.where(np.isnan(kept), of_weak, kept)  # an effect or rows that nobody has said

    @property
    def noncentrality(self) -> Floats:
        """λ of each member, members last."""
        rows = self.rows[..., None] * self.worth
        if self.design.noncentrality is None:
            return noncentrality(self.effect, rows, self.kappa[..., None])
        labels = np.asarray(self.share)[..., None] * rows
        return self.design.noncentrality(self.effect, self.prior[..., None], labels, rows, self.dof)

    @property
    def test_dof(self) -> Floats:
        """Degrees of freedom of the test with the surrogate, members last."""
        return np.asarray(self.dof * self.design.dof_factor)

    def member_powers(self) -> Floats:
        """Return the power of each member's test, members last."""
        each = attained_power(self.noncentrality, self.test_dof, self.alpha[..., None])
        return np.minimum(each, self._at_one_level()) if self.may_be_at_one_level else each

    @property
    def may_be_at_one_level(self) -> bool:
        """Whether one level may carry the effect, and G keeps less of it there than κ says."""
        known = self.design.surrogate in (Surrogate.Y0, Surrogate.Y1) and self.design.regime in (
            "pu",
            "pu, drivers",
            "mar-c",
        )
        return self.shape == "any" and known and not self.design.strata and bool((self.dof > 1).all())

    def _at_one_level(self) -> Floats:
        prior = self.prior if self.design.surrogate is Surrogate.Y0 else 1.0 - self.prior
        worth = self.rows * self.worth
        prior, share, rows, alpha = (np.asarray(a)[..., None] for a in (prior, self.share, worth, self.alpha))
        return least_power(self.effect, prior, share, rows, self.dof, alpha)

    def drawn_power(self) -> float | None:
        """Return the power in studies that are drawn; None where none are, or for several members."""
        draw, known = self.design.drawn_power, (self.effect, self.dof, self.alpha, self.rows, self.labeled, self.prior)
        if draw is None or any(part.size != 1 or not np.isfinite(part).all() for part in known):
            return None
        if self.design.strata or self.dof % 1.0 or self.dof > _MOST_LEVELS - 1 or self.rows > _MOST_DRAWN:
            return None
        rows, dof = float(self.rows) * self.worth, int(self.dof.item())
        return draw(self.effect.item(), float(self.prior), float(self.share) * rows, rows, dof, float(self.alpha))

    def power(self) -> Floats:
        """Return the probability that all members are found."""
        each = self.member_powers()
        if self.worst_case:
            return np.asarray(np.maximum(0.0, 1.0 - (1.0 - each).sum(axis=-1)))
        return np.asarray(each.prod(axis=-1))


def smallest_integer(enough: Callable[[Ints], NDArray[np.bool_]], low: Ints, high: Ints) -> Ints:
    """Return elementwise the smallest n in low..high that is enough, and high + 1 if none is.

    ``enough`` must stay true for larger n once it is true (power rises with n).

    Examples
    --------
    >>> square_root = smallest_integer(lambda n: n * n >= np.array([10, 49]), np.array([0, 0]), np.array([20, 5]))
    >>> square_root.tolist()
    [4, 6]
    """
    low, top = (np.array(bound, dtype=np.int64) for bound in np.broadcast_arrays(low, high))
    high = top + 1
    while (searching := low < high).any():
        middle = (low + high) // 2
        good = enough(np.minimum(middle, top))
        high = np.where(searching & good, middle, high)
        low = np.where(searching & ~good, middle + 1, low)
    return low


def solve(setting: Setting, unknown: str, target: Floats) -> Floats:
    """Return the value of the unknown at which the power reaches ``target``; NaN if none does.

    ``setting``: the study; its value of the unknown is ignored, except that degrees of freedom are multiples of its
    value (one more level of a feature adds that many). ``unknown``: "rows" and "labeled" give the smallest integer,
    "effect" and "alpha" the smallest value, "dof" the largest integer, "power" and "kappa" the power and κ of the
    study. ``target``: the wanted power; not used for "power" and "kappa".
    """
    return np.asarray(_SOLVERS[unknown](setting, target))


def most_labels(setting: Setting) -> Ints:
    """Return the largest useful number of labels: ⌊Nπ⌋ positives, for example (errata C4)."""
    share = setting.design.useful_share or setting.design.possible_share
    return np.asarray(np.floor(setting.rows * share(setting.prior) + 1e-9)).astype(np.int64)


def needed_kappa(setting: Setting, target: Floats) -> Floats:
    """Return the κ at which a single test would reach ``target`` with the given rows."""
    wanted = needed_noncentrality(target, setting.test_dof[..., 0], setting.alpha)
    return wanted / noncentrality(setting.effect[..., 0], setting.rows * setting.worth)


def _rows(setting: Setting, target: Floats) -> Floats:
    def enough(rows: Ints) -> NDArray[np.bool_]:
        return np.asarray(replace(setting, rows=rows.astype(float)).power() >= target)

    # If labels are a fixed number, there must be at least as many rows.
    least = np.asarray(setting.labeled + 1 if setting.labeled_is_count else 1, dtype=np.int64)
    high = np.broadcast_to(least, enough(least).shape).copy()
    while not (enough(high) | (high >= MOST_ROWS)).all():
        high = np.where(enough(high), high, np.minimum(2 * high, MOST_ROWS))
    found = smallest_integer(enough, np.broadcast_to(least, high.shape), high)
    return np.where(found <= high, found, np.nan)


def _labeled(setting: Setting, target: Floats) -> Floats:
    def enough(labeled: Ints) -> NDArray[np.bool_]:
        counted = replace(setting, labeled=labeled.astype(float), labeled_is_count=True)
        return np.asarray(counted.power() >= target)

    most = most_labels(setting)
    found = smallest_integer(enough, np.ones_like(most), most)
    return np.where(found <= most, found, np.nan)


def _dof(setting: Setting, target: Floats) -> Floats:
    step = setting.dof[..., 0]

    def too_many(steps: Ints) -> NDArray[np.bool_]:
        return np.asarray(replace(setting, dof=(steps * step)[..., None]).power() < target)

    shape = too_many(np.ones((), np.int64)).shape
    high = np.ones(shape, np.int64)
    while not (too_many(high) | (high >= 2**30)).all():
        high = np.where(too_many(high), high, 2 * high)
    largest = smallest_integer(too_many, np.ones(shape, np.int64), high) - 1
    return np.where(largest >= 1, largest * step, np.nan)


def _effect(setting: Setting, target: Floats) -> Floats:
    wanted = needed_noncentrality(target, setting.test_dof[..., 0], setting.alpha)
    kappa = setting.design.kappa(setting.share, setting.prior)  # of weak effects
    least = wanted / noncentrality(1.0, setting.rows * setting.worth, kappa)

    def missing(effect: Floats) -> Floats:
        return target - replace(setting, effect=effect[..., None]).power()

    by_kappa = not setting.may_be_at_one_level and setting.design.noncentrality is None
    return least if by_kappa else _smallest(missing, least, np.full_like(least, MOST_NATS))


def _alpha(setting: Setting, target: Floats) -> Floats:
    least = needed_alpha(target, setting.test_dof[..., 0], setting.noncentrality[..., 0])

    def missing(alpha: Floats) -> Floats:
        return target - replace(setting, alpha=alpha).power()

    return _smallest(missing, least, np.ones_like(least)) if setting.may_be_at_one_level else least


def _smallest(missing: Callable[[Floats], Floats], low: Floats, high: Floats) -> Floats:
    """Return elementwise the value from ``low`` to ``high`` at which no power is missing, by false position (Illinois).

    ``missing`` falls; where it is still above 0 at the end, that is the answer.
    """
    a, b = np.log(low), np.log(high)
    over, under = missing(low), missing(high)
    c = b
    for _ in range(100):
        c = np.where(over > 0, (b * over - a * under) / np.maximum(over - under, TINY), a)
        now = missing(np.exp(c))
        if (np.abs(now) <= 1e-13).all() or (b - a <= 1e-15 * np.abs(b)).all():
            break
        short = now > 0
        over, under = np.where(short, now, over / 2.0), np.where(short, under / 2.0, now)
        a, b = np.where(short, c, a), np.where(short, b, c)
    return np.where(missing(high) > 0, high, np.exp(c))


_SOLVERS: dict[str, Callable[[Setting, Floats], Floats]] = {
    "alpha": _alpha,
    "dof": _dof,
    "effect": _effect,
    "kappa": lambda setting, _: setting.kappa,
    "labeled": _labeled,
    "power": lambda setting, _: setting.power(),
    "rows": _rows,
}
