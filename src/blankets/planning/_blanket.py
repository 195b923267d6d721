"""`plan_blanket`: plan for all members of a blanket at once."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from blankets.arguments import one_of
from blankets.errors import ParameterError, guarded
from blankets.planning._question import as_count, as_effect, as_probability, degrees_of_freedom, find_unknown, or_nan
from blankets.planning._result import Plan
from blankets.planning._setting import Floats
from blankets.planning._spread import PlanQuestion
from blankets.planning._study import Labeled, PlannedStudy

MOST_BITS = 50  # more than 2**50 strata are refused


@guarded
def plan_blanket(
    *,
    effects: Sequence[float | str],
    power: float | None = None,
    alpha: float = 0.01,
    arity: int | Sequence[int] = 2,
    conditioning: int | Sequence[int] | None = None,
    conditioning_arity: int = 2,
    dof: int | Sequence[int] | None = None,
    rows: int | None = None,
    labels: Any = "supervised",
    labeled: Labeled = None,
    prior: Any = None,
    sampling: str | None = None,
    surrogate: str | None = None,
    target_arity: int = 2,
    decisions: str = "independent",
    assurance: float = 0.9,
    n_draws: int = 2000,
    rng: np.random.Generator | int | None = None,
) -> Plan:
    """Plan for a whole blanket: the probability that every member is found, or the rows or labels for it.

    A member is found if its test against the target, given its conditioning set, rejects. If the decisions
    were independent (they nearly are), the probability that all are found is the product of their powers.
    For any dependence it is at least 1 - Σ (1 - power) (Bonferroni). The plan reports both.

    Parameters
    ----------
    effects : sequence of float or word
        Conditional mutual information of each member with the target, in nats or in Cohen's words
        ("small", "medium", "large").
    power : float, optional
        Wanted probability that all members are found. Leave exactly one of ``power``, ``rows`` and (unless
        supervised) ``labeled`` None.
    alpha : float
        Level of each test.
    arity : int or sequence of int
        Levels of each member.
    conditioning : int or sequence of int, optional
        Number of variables (with ``conditioning_arity`` levels) that each member's test conditions on; by
        default each member is tested given all the others.
    conditioning_arity : int
        Levels of these variables.
    dof : int or sequence of int, optional
        The degrees of freedom of each test, instead of the levels.
    decisions : {"independent", "worst-case"}
        Which probability must reach the goal: the product, or Bonferroni's lower bound.
    rows, labels, labeled, prior, sampling, surrogate, target_arity, assurance, n_draws, rng
        As in `plan`.

    Returns
    -------
    Plan

    Examples
    --------
    Three binary members, each tested given the other two: four strata, four degrees of freedom.

    >>> from blankets import plan_blanket
    >>> found = plan_blanket(effects=[0.01, 0.02, "medium"], rows=1000, alpha=0.01)
    >>> [round(p, 3) for p in found.member_powers]
    [0.886, 0.999, 1.0]
    >>> plan_blanket(effects=[0.01, 0.02, "medium"], power=0.95, alpha=0.01).answer
    1218
    """
    members = [or_nan(as_effect(effect, name="effects")) for effect in _as_list(effects, "effects")]
    if any(map(math.isnan, members)):
        raise ParameterError.out_of_range("effects", list(effects), "a list with one effect for each member")
    one_of("value of 'decisions'", decisions, ("independent", "worst-case"))
    target_arity = _whole(target_arity, "target_arity", 2)
    freedom, strata = _tests(len(members), arity, conditioning, conditioning_arity, dof, target_arity)
    study = PlannedStudy(
        labels=labels,
        labeled=labeled,
        prior=prior,
        sampling=sampling,
        surrogate=surrogate,
        target_arity=target_arity,
        strata=strata,
        assurance=assurance,
        n_draws=n_draws,
        rng=rng,
    )
    given = {"power": as_probability(power, "power"), "rows": as_count(rows, "rows", 2)}
    level = as_probability(alpha, "alpha")
    if level is None:
        raise ParameterError.out_of_range("alpha", alpha, "a number strictly between 0 and 1")
    question = PlanQuestion(
        unknown=find_unknown(given | study.labels_given),
        effect=np.array(members),
        dof=freedom,
        alpha=level,
        power=or_nan(given["power"]),
        rows=or_nan(given["rows"]),
        largest_effect=math.log(target_arity),
        worst_case=decisions == "worst-case",
    )
    return study.answer(question)


def _tests(
    n: int,
    arity: int | Sequence[int],
    conditioning: int | Sequence[int] | None,
    conditioning_arity: int,
    dof: int | Sequence[int] | None,
    target_arity: int,
) -> tuple[Floats, int]:
    """Return the degrees of freedom of each member's test, and the largest number of strata."""
    if dof is not None:
        if conditioning is not None:
            raise ParameterError("give 'conditioning' or 'dof', not both")
        return np.array(_each(dof, "dof", n, 1), float), 2
    levels = _each(arity, "arity", n, 2)
    if conditioning is None:
        strata = [math.prod(levels) // own for own in levels]  # each member given all the others
    else:
        (width,) = _each(conditioning_arity, "conditioning_arity", 1, 2)
        sizes = _each(conditioning, "conditioning", n, 0)
        if max(sizes) * math.log2(width) > MOST_BITS:
            raise ParameterError(
                f"'conditioning' on {max(sizes)} columns of {width} levels makes more strata than any table has rows; "
                "condition on fewer"
            )
        strata = [width**size for size in sizes]
    each = [degrees_of_freedom(own, target_arity, z) for own, z in zip(levels, strata, strict=True)]
    return np.array(each, float), max(strata)


def _each(values: int | Sequence[int], name: str, n: int, least: int) -> list[int]:
    """Return one whole number for each of ``n`` members."""
    listed = [values] * n if np.ndim(values) == 0 else _as_list(values, name)
    if len(listed) != n:
        raise ParameterError(f"{name!r} has {len(listed)} values for {n} members; give one for each, or one for all")
    return [_whole(value, name, least) for value in listed]


def _whole(value: object, name: str, least: int) -> int:
    """Return a whole number that must be given."""
    found = as_count(value, name, least)
    if found is None:
        raise ParameterError.out_of_range(name, None, f"a whole number of at least {least}")
    return found


def _as_list(values: Any, name: str) -> list[Any]:
    if isinstance(values, str) or np.ndim(values) != 1 or not len(values):
        raise ParameterError.out_of_range(name, values, "a list with one value for each member")
    return list(values)
