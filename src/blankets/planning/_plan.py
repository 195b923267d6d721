"""`plan`: solve for the quantity that is not given."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from blankets.arguments import one_of
from blankets.errors import ParameterError, guarded
from blankets.planning._question import (
    NumberEffect,
    as_count,
    as_effect,
    as_probability,
    degrees_of_freedom,
    find_unknown,
    or_nan,
    worth_of_a_row,
)
from blankets.planning._result import Plan
from blankets.planning._setting import MOST_NATS
from blankets.planning._spread import PlanQuestion
from blankets.planning._study import Labeled, PlannedStudy
from blankets.regimes import Regime, prior_from


@guarded
def plan(
    *,
    effect: float | str | None = None,
    effect_w: float | None = None,
    correlation: float | None = None,
    difference: float | None = None,
    power: float | None = None,
    alpha: float | None = 0.01,
    arity: int | None = None,
    dof: int | None = None,
    rows: int | None = None,
    labels: Any = "supervised",
    labeled: Labeled = None,
    prior: Any = None,
    sampling: str | None = None,
    surrogate: str | None = None,
    target_arity: int = 2,
    strata: int = 1,
    strata_priors: Sequence[float] | None = None,
    strata_shares: Sequence[float] | None = None,
    design_effect: float | tuple[float, float] = 1.0,
    missing: float = 0.0,
    shape: str = "any",
    assurance: float = 0.9,
    n_draws: int = 2000,
    rng: np.random.Generator | int | None = None,
) -> Plan:
    """Solve for one of effect, power, alpha, arity (or dof), rows and labeled: the one that is left None.

    Parameters
    ----------
    effect : float or {"small", "medium", "large"}, optional
        (Conditional) mutual information with the target in nats (natural logarithms); Cohen's words are
        0.005, 0.045 and 0.125.
    effect_w : float, optional
        The effect as Cohen's w, instead of ``effect``.
    correlation : float, optional
        For a number: its correlation with the target, a number or one of two classes, instead of ``effect``.
    difference : float, optional
        For a number: how far the means of the two classes are apart, in standard deviations within a class (Cohen's
        d), instead of ``effect``. ``prior`` is then the share of one class; by default one half.
    power : float, optional
        Probability of finding the effect.
    alpha : float or None
        Level of the test; None to solve for it.
    arity, dof : int, optional
        Levels of the feature, or the degrees of freedom of the test with full labels. If neither is given
        the feature is assumed to be binary; if everything else is given, they are the unknown.
    rows : int, optional
        Rows in the sample, labeled or not.
    labels : str or regime
        What a missing label means: "supervised" (none is missing), "pu", "mcar", "mar-c", or a regime object
        such as ``PositiveUnlabeled(prior=0.2)``.
    labeled : float, int or dict, optional
        Labels as a share of *all* rows (0.05) or their number (54), counted in positives (PU) or
        labeled rows (MCAR); under MAR-C ``{"positives": ..., "negatives": ...}``.
    prior : float, bounds or distribution, optional
        p(y=1), if the regime is given by name: a number, ``"<0.4"``, a pair for an interval, a `Beta`, a
        SciPy distribution.
    sampling : {"one-sample", "case-control"}, optional
        Under PU: some rows of one sample got labels (default), or the labeled positives were collected
        separately from a background sample; ``rows`` counts both.
    surrogate : {"y0", "y1", "ym", "listwise"}, optional
        What is counted in place of the target; default: the best.
    target_arity : int
        Levels of the target; 2 unless supervised.
    strata : int
        Number of strata: combinations of values of the conditioning columns. They multiply the degrees of freedom.
    strata_priors, strata_shares : sequence of float, optional
        p(y=1|z), and the share of the effect, in each stratum (default: equal shares), for the exact κ of
        a conditional test.
    design_effect : float or (float, float)
        By how much groups and weights raise the variance: a row is worth 1 / ``design_effect`` rows drawn alone. A pair
        (rows in a group, intraclass correlation) stands for 1 + (rows - 1) × correlation. For a test of two columns the
        correlation is the product of both columns' own: 1 × 0.3 for a trait of the group and an outcome with 0.3.
    missing : float
        Share of rows that will lack a value that the test needs.
    shape : {"any", "spread"}
        Where in a feature with three and more levels the effect may lie. It matters where unlabeled rows count as the
        other class (PU, and MAR-C with "y0" or "y1"), without strata: "any" plans for the worst case, in which one
        level carries the whole effect, "spread" for effects that are spread over the levels, as Sechidis (2015) does.
    assurance : float
        If the prior is a distribution: the probability with which the answer must be enough. Since the answer
        rises or falls with p(y=1), it is the answer at a quantile of the prior.
    n_draws : int
        Number of draws from such a prior, for `Plan.draws`, the distribution of the answer.
    rng : numpy.random.Generator, int or None
        Generator or seed of the draws.

    Returns
    -------
    Plan
        If the goal cannot be reached, ``plan.reachable`` is False.

    See Also
    --------
    planning_table : Many questions at once.
    plan_blanket : All members of a blanket at once.

    References
    ----------
    Sechidis (2015), Hypothesis testing and feature selection in semi-supervised data, chapter 7.

    Examples
    --------
    >>> from blankets import plan
    >>> plan(effect=0.053, power=0.99, alpha=0.01, arity=2).answer
    227
    >>> plan(effect=0.053, power=0.99, alpha=0.01, arity=2, labels="pu", prior=0.2, labeled=0.05).answer
    1077
    >>> plan(effect="medium", power=0.95, alpha=0.01, arity=2, labels="pu", prior=0.2, rows=3000)
    Labeled positives needed: 49.
    With 3000 rows, of which 49 are labeled positives, and α = 0.01, a test with 1 degree of freedom finds a
    dependence of Cohen's w 0.3 (0.045 nats) with probability 0.9514. The test ...

    Ten visits of each patient, a feature of patients, and an outcome with an intraclass correlation of 0.3; 20% of the
    rows will have gaps:

    >>> plan(effect=0.053, power=0.99, arity=2, design_effect=(10, 0.3), missing=0.2).answer
    1049

    Only a range of p(y=1) is known: the number of labels that is enough for nine tenths of it.

    >>> found = plan(effect="medium", power=0.95, alpha=0.01, labels="pu", prior=(0.1, 0.3), rows=3000)
    >>> found.answer == plan(effect="medium", power=0.95, alpha=0.01, labels="pu", prior=0.28, rows=3000).answer
    True
    >>> found.quantile([0.05, 0.5, 0.95]).tolist()
    [25.0, 49.0, 79.0]

    A blood value that differs by half a standard deviation between the ill, a fifth of all, and the others.

    >>> plan(difference=0.5, prior=0.2, power=0.9).answer
    445
    """
    known = labels.prior if isinstance(labels, Regime) else prior_from(prior)
    of_number = NumberEffect.of(correlation, difference, known)
    if of_number is not None:
        _check_alone(effect, effect_w, arity, dof, target_arity, strata)
        effect, dof = of_number.nats, of_number.dof
        prior = None if labels == "supervised" else prior
    study = PlannedStudy(
        labels=labels,
        labeled=labeled,
        prior=prior,
        sampling=sampling,
        surrogate=surrogate,
        target_arity=target_arity,
        strata=strata,
        strata_priors=strata_priors,
        strata_shares=strata_shares,
        assurance=assurance,
        n_draws=n_draws,
        rng=rng,
    )
    one_of("shape", shape, ("any", "spread"))
    one_more_level = degrees_of_freedom(2, target_arity, strata)
    arity, freedom = as_count(arity, "arity", 2), as_count(dof, "dof", 1)
    if arity is not None and freedom is not None:
        raise ParameterError("give 'arity' or 'dof', not both")
    if arity is not None:
        freedom = (arity - 1) * one_more_level
    given = {
        "effect": as_effect(effect, effect_w),
        "power": as_probability(power, "power"),
        "alpha": as_probability(alpha, "alpha"),
        "rows": as_count(rows, "rows", 2),
        "dof": freedom,
    }
    question = PlanQuestion(
        unknown=find_unknown(given | study.labels_given),
        effect=np.array([or_nan(given["effect"])]),
        dof=np.array([float(freedom or one_more_level)]),
        alpha=or_nan(given["alpha"]),
        power=or_nan(given["power"]),
        rows=or_nan(given["rows"]),
        largest_effect=math.log(min(target_arity, arity or target_arity)) if of_number is None else MOST_NATS,
        worth=worth_of_a_row(design_effect, missing),
        shape=shape if arity is not None and strata == 1 else "",
        about="" if of_number is None else of_number.words,
    )
    return study.answer(question)


def _check_alone(effect: object, effect_w: object, arity: object, dof: object, target_arity: int, strata: int) -> None:
    """Refuse what does not go with the effect of a number."""
    if effect is not None or effect_w is not None:
        raise ParameterError("'correlation' and 'difference' are effects; leave out 'effect' and 'effect_w'")
    if arity is not None or dof is not None or target_arity != 2 or strata != 1:
        raise ParameterError(
            "'correlation' and 'difference' are about a number, and a target that is a number or has two classes: "
            "leave out 'arity', 'dof', 'target_arity' and 'strata'"
        )
