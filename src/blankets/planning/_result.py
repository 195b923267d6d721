"""`Plan`: the answer to a planning question; it prints as a sentence for a study protocol."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from html import escape
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from blankets.arguments import one_of
from blankets.errors import ParameterError, guarded
from blankets.planning._prior import Knowledge
from blankets.planning._sentences import headline, others, sentence
from blankets.planning._setting import MOST_ROWS, Floats, Setting
from blankets.planning._spread import Spread, Unknown
from blankets.records import Bounds, Count, NonNegative, Saved, refuse, short

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_ASKED = {
    "alpha": "Smallest level",
    "dof": "Most degrees of freedom",
    "effect": "Smallest effect that is found",
    "power": "Power",
    "rows": "Rows needed",
}


@dataclass(frozen=True, kw_only=True)
class Alternative:
    """The answer to the same question with another surrogate; ``answer`` is None if it is out of reach."""

    surrogate: str
    counts: str
    answer: Count | NonNegative | None


@guarded
@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Plan(Saved):
    """The answer to a planning question, and everything that it depends on.

    Attributes
    ----------
    unknown : str
        What was solved for: "rows", "labeled", "power", "effect", "alpha" or "dof".
    answer : float or None
        Its value; None if it is out of reach, and then `power` is the best possible.
    wanted_power : float or None
        The power asked for; None if power was the unknown.
    regime : str
        What a missing label means.
    prior : str
        What is known of p(y=1), in words.
    setting : Setting
        The study at the answer (at the best possible, if the goal is out of reach).
    needed_kappa : float or None
        For a single test and a goal out of reach: the κ that would be needed.
    spread : Spread or None
        With an uncertain prior: how the answer is distributed over it.
    alternatives : tuple of Alternative
        What the other surrogates of this regime would need.
    assumptions : tuple of str
        What must be true for the answer to be right.

    Examples
    --------
    >>> import blankets as bl
    >>> found = bl.plan(effect="medium", power=0.95, rows=3000, labels="pu", prior=0.2)
    >>> again = bl.Plan.from_json(found.to_json())
    >>> again.to_json() == found.to_json(), again.answer
    (True, 49)
    """

    _schema = "blankets/plan"

    unknown: Unknown
    answer: Count | NonNegative | None
    wanted_power: Annotated[float, Bounds(math.ulp(0.0), 1.0)] | None
    regime: str
    prior: str
    setting: Setting
    needed_kappa: NonNegative | None = None
    spread: Spread | None = None
    alternatives: tuple[Alternative, ...] = ()
    assumptions: tuple[str, ...] = ()

    def __reduce__(self) -> tuple[Any, ...]:  # designs hold functions, which cannot be pickled
        return type(self).from_dict, (self.to_dict(),)

    @property
    def reachable(self) -> bool:
        """Whether the goal can be reached at all."""
        return self.answer is not None

    @property
    def rows(self) -> int:
        """Rows in the sample."""
        return round(float(self.setting.rows))

    @property
    def n_labeled(self) -> int:
        """Number of labels, in the unit of `counts`."""
        return int(np.ceil(round(float(self.setting.share * self.setting.rows), 6)))

    @property
    def labeled_share(self) -> float:
        """Labels as a share of all rows."""
        return float(self.setting.share)

    @property
    def counts(self) -> str:
        """The unit in which labels are counted."""
        return self.setting.design.counts

    @property
    def surrogate(self) -> str:
        """What the test counts in place of the target."""
        return self.setting.design.surrogate.value

    @property
    def safe_side(self) -> str:
        """Which wrong value of p(y=1) costs no power."""
        return self.setting.design.safe_side

    @property
    def kappa(self) -> float:
        """κ: each row counts as much as κ rows with full labels."""
        return float(self.setting.kappa)

    @property
    def alpha(self) -> float:
        """Level of each test."""
        return float(self.setting.alpha)

    @property
    def power(self) -> float:
        """Power at the answer; with several members, the probability that all are found (see `decisions`)."""
        return float(self.setting.power())

    @property
    def drawn_power(self) -> float | None:
        """With a machine's labels: the share of 10,000 studies, drawn with the answer, in which one test finds it."""
        return self.setting.drawn_power()

    @property
    def decisions(self) -> str:
        """How the powers of several members are combined: "independent" or "worst-case"."""
        return "worst-case" if self.setting.worst_case else "independent"

    @property
    def lower_bound(self) -> float:
        """Bonferroni's lower bound of `power`, for any dependence between the decisions."""
        return float(replace(self.setting, worst_case=True).power())

    @property
    def member_powers(self) -> tuple[float, ...]:
        """Power of each member's test."""
        return tuple(self.setting.member_powers().tolist())

    @property
    def effects(self) -> tuple[float, ...]:
        """Effect of each member in nats."""
        return tuple(self.setting.effect.tolist())

    @property
    def effect(self) -> float:
        """The (weakest) effect in nats."""
        return min(self.effects)

    @property
    def dof(self) -> tuple[float, ...] | float:
        """Degrees of freedom of the test with the surrogate; of each member, if there are several."""
        each = tuple(self.setting.test_dof.tolist())
        return each[0] if len(each) == 1 else each

    @property
    def noncentrality(self) -> tuple[float, ...] | float:
        """λ = 2 κ N I; of each member, if there are several."""
        each = tuple(self.setting.noncentrality.tolist())
        return each[0] if len(each) == 1 else each

    @property
    def assurance(self) -> float | None:
        """With an uncertain prior: the probability that the answer is enough."""
        return None if self.spread is None else self.spread.knowledge.assurance

    @property
    def draws(self) -> Floats | None:
        """With an uncertain prior: the answer for each draw of it; infinite for draws without an answer."""
        return None if self.spread is None else self.spread.draws

    @property
    def prior_draws(self) -> Floats | None:
        """The draws of p(y=1) themselves."""
        return None if self.spread is None else self.spread.knowledge.draws

    @property
    def reachable_share(self) -> float:
        """Share of the draws of an uncertain prior for which the goal can be reached."""
        return float(self.reachable) if self.draws is None else float(np.isfinite(self.draws).mean())

    def quantile(self, q: ArrayLike) -> NDArray[np.float64]:
        """Return quantiles of the answer over an uncertain prior (the answer itself if it is certain).

        Numbers of rows or labels stay whole; infinite if the goal is out of reach for this part of the
        prior.
        """
        if self.spread is None:
            return np.full(np.shape(q), np.inf if self.answer is None else self.answer)
        return self.spread.quantile(q)

    def power_curve(
        self, values: Sequence[int] | NDArray[np.int64] | None = None, *, over: str | None = None
    ) -> dict[str, NDArray[Any]]:
        """Return the power for a range of rows or labels, everything else as in the plan, for plotting.

        Parameters
        ----------
        values : sequence of int, optional
            Numbers of rows or labels; by default 50 from a tenth to twice those of the plan.
        over : {"rows", "labeled"}, optional
            What to vary; default: labels if the plan solved for them, else rows. With more rows the labeled
            share stays the same.

        Returns
        -------
        dict of ndarray
            The values, under the name in ``over``, and ``power``; with an uncertain prior also ``low`` and
            ``high``, the limits of its central 90%.

        Examples
        --------
        >>> from blankets.planning import plan
        >>> curve = plan(effect="medium", power=0.95, arity=2).power_curve([100, 198, 300])
        >>> curve["power"].round(2).tolist()
        [0.66, 0.95, 1.0]
        """
        over = over or ("labeled" if self.unknown == "labeled" else "rows")
        most = self._most_on_curve(over)
        if values is None:
            center = self.rows if over == "rows" else self.n_labeled
            values = np.unique(np.linspace(max(1, center // 10), min(2 * center, most), 50).astype(np.int64))
        at = np.asarray(values, np.int64)
        if at.ndim != 1 or not len(at) or at.min() < 1 or at.max() > most:
            raise ParameterError.out_of_range("values", values, f"a list of numbers of {over} from 1 to {most:.0f}")
        along = self._along(over, at[:, None].astype(float))
        curve = {over: at, "power": along.power()[:, 0]}
        if self.spread is not None:
            monotone = self.spread.rises is not None
            priors = self.spread.priors_at([0.05, 0.95]) if monotone else self.spread.knowledge.draws
            powers = replace(along, prior=priors[None, :]).power()
            curve["low"], curve["high"] = np.quantile(powers, [0.0, 1.0] if monotone else [0.05, 0.95], axis=1)
        return curve

    def power_grid(
        self,
        rows: Sequence[int] | NDArray[np.int64] | None = None,
        labeled: Sequence[int] | NDArray[np.int64] | None = None,
    ) -> dict[str, NDArray[Any]]:
        """Return the power for a grid of rows and labels, everything else as in the plan, for plotting.

        Parameters
        ----------
        rows, labeled : sequence of int, optional
            Numbers of rows and of labels; by default 40 each, from a tenth to ten times those of the plan.

        Returns
        -------
        dict of ndarray
            ``rows`` of shape (n,), ``labeled`` of shape (m,) and ``power`` of shape (m, n), NaN where so few
            rows cannot have so many labels.

        Examples
        --------
        >>> from blankets.planning import plan
        >>> grid = plan(effect="medium", power=0.9, rows=3000, labels="pu", prior=0.2).power_grid([100, 3000], [41])
        >>> grid["power"].round(2).tolist()
        [[nan, 0.9]]
        """
        self._most_on_curve("labeled")
        across = _spread_around(self.rows, MOST_ROWS) if rows is None else np.asarray(rows, np.int64)
        up = _spread_around(max(self.n_labeled, 1), MOST_ROWS) if labeled is None else np.asarray(labeled, np.int64)
        share = up[:, None] / across[None, :]
        possible = share <= self.setting.design.possible_share(self.setting.prior)
        along = replace(
            self.setting, rows=across[None, :].astype(float), labeled=np.where(possible, share, 0.5),
            labeled_is_count=False,
        )  # fmt: skip
        return {"rows": across, "labeled": up, "power": np.where(possible, along.power(), np.nan)}

    def plot(self, ax: Axes | None = None, **details: Any) -> Axes:
        """Draw the power over rows, or over labels if the plan solved for them; see `blankets.plots.plot_power`."""
        from blankets.plots import plot_power

        return plot_power(self, ax=ax, **details)

    def plot_contour(self, ax: Axes | None = None, **details: Any) -> Axes:
        """Draw lines of equal power over rows and labels; see `blankets.plots.plot_planning`."""
        from blankets.plots import plot_planning

        return plot_planning(self, ax=ax, **details)

    def _most_on_curve(self, over: str) -> float:
        if over == "rows":
            return MOST_ROWS
        axes = ("rows",) if self.surrogate == "full" else ("rows", "labeled")
        one_of("axis of a power curve", over, axes)
        return math.floor(float(self.setting.design.possible_share(self.setting.prior)) * self.rows + 1e-9)

    def _along(self, over: str, values: Floats) -> Setting:
        if over == "rows":
            return replace(self.setting, rows=values, labeled=self.setting.share, labeled_is_count=False)
        return replace(self.setting, labeled=values, labeled_is_count=True)

    def _derived(self) -> dict[str, object]:
        plan = {
            name: getattr(self, name)
            for name in (
                *("reachable", "power", "lower_bound", "member_powers", "alpha", "n_labeled", "labeled_share"),
                *("surrogate", "kappa", "safe_side"),
            )
        }
        return plan | {
            "effects_nats": self.effects,
            "rows": None if self.endless else self.rows,
            "labels_counted_in": self.counts,
            "dof": self.setting.test_dof,
            "noncentrality": self.setting.noncentrality,
            "prior_used": self.setting.prior,
            "uncertain_prior": None if self.spread is None else self._over_prior(self.spread.knowledge),
        }

    def _over_prior(self, known: Knowledge) -> dict[str, object]:
        return {
            "assurance": known.assurance,
            "n_draws": known.n_draws,
            "reachable_share": self.reachable_share,
            "quantiles": {str(q): float(self.quantile(q)) for q in (0.05, 0.25, 0.5, 0.75, 0.95)},
        }

    def _check(self) -> None:
        if (self.unknown == "power") != (self.wanted_power is None):
            refuse(f"'wanted_power' holds {self.wanted_power}, but 'unknown' holds {self.unknown!r}")
        if self.regime != self.setting.design.regime:
            refuse(f"'regime' holds {short(self.regime)}, but that of 'design' is {self.setting.design.regime!r}")
        asked = None if self.spread is None else self.spread.question
        for name in ("dof", "effect") if asked is not None else ():
            if getattr(asked, name).shape != getattr(self.setting, name).shape:
                refuse(f"{name!r} in 'question' is not as long as that in 'setting'")
        try:
            with np.errstate(divide="raise", over="raise", invalid="raise"):
                self._derived()
        except FloatingPointError:
            refuse("'setting' holds numbers that no plan has")

    def __repr__(self) -> str:
        return "\n".join([headline(self), sentence(self), *others(self), *self.assumptions])

    def _repr_html_(self) -> str:
        items = "".join(f"<li>{escape(text)}</li>" for text in (*others(self), *self.assumptions))
        return (
            f'<div class="blankets-plan"><p><strong>{escape(headline(self))}</strong></p>'
            f"<p>{escape(sentence(self))}</p><ul>{items}</ul></div>"
        )

    @property
    def asked(self) -> str:
        """What was solved for, in words."""
        return _ASKED.get(self.unknown, f"{self.counts.capitalize()} needed")

    @property
    def endless(self) -> bool:
        """Whether no number of rows is enough."""
        return self.unknown == "rows" and not self.reachable


def _spread_around(center: int, most: int) -> NDArray[np.int64]:
    """Return whole numbers from a tenth to ten times the center, evenly spaced on a logarithmic scale."""
    return np.unique(np.geomspace(max(1, center / 10), min(10 * center, most), 40).round().astype(np.int64))
