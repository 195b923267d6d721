"""Planning tables: many plans in one call."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from blankets.arguments import generator_from
from blankets.errors import MissingPackageError, ParameterError, guarded
from blankets.planning._plan import plan
from blankets.planning._result import Plan

if TYPE_CHECKING:
    import pandas as pd

SCHEMA_VERSION = 1

_EFFECTS = ("effect", "effect_w", "correlation", "difference")
_AXES = ("rows", "labeled", "prior", "alpha", "arity", "dof", "strata", "power", *_EFFECTS)


@guarded
@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class PlanningTable:
    """Answers to the same planning question over a grid of values.

    Attributes
    ----------
    unknown : str
        What was solved for.
    axes : dict of str to tuple
        The values that were varied, in the order of the axes of ``answers``; the last one is shown
        in columns, the others in rows.
    answers : ndarray
        The answers, one axis for each of ``axes``; NaN if the goal is out of reach.
    plans : tuple of Plan
        The plan of each answer; the last axis changes fastest.

    Examples
    --------
    >>> from blankets import planning_table
    >>> table = planning_table(effect=["small", "medium"], power=0.9, alpha=0.01, arity=2)
    >>> table.unknown, table.axes
    ('rows', {'effect': ('small', 'medium')})
    >>> table.answers[0] > table.answers[1]
    np.True_
    """

    unknown: str
    axes: dict[str, tuple[Any, ...]]
    answers: NDArray[np.float64]
    plans: tuple[Plan, ...]

    def to_records(self) -> list[dict[str, object]]:
        """Return one dict per cell: the varied values, the answer (None if out of reach), power and κ."""
        return [
            dict(zip(self.axes, values, strict=True))
            | {"answer": one.answer, "attained_power": one.power, "kappa": one.kappa}
            for values, one in zip(product(*self.axes.values()), self.plans, strict=True)
        ]

    def to_frame(self, *, tidy: bool = False) -> pd.DataFrame:
        """Return the table as it is printed, or (``tidy``) with one row per cell.

        Counts are integers ("Int64", with <NA> if the goal is out of reach).
        """
        try:
            import pandas as pd
        except ImportError as error:
            raise MissingPackageError(
                "a planning table as a data frame needs the package 'pandas'; install it, or use to_records()"
            ) from error
        frame = pd.DataFrame(self.to_records())
        if self.unknown in _INTEGERS:
            frame["answer"] = frame["answer"].astype("Int64")
        if tidy or len(self.axes) < 2:
            return frame
        *down, across = self.axes
        wide = frame.pivot_table(index=down, columns=across, values="answer", sort=False, dropna=False, aggfunc="first")
        return wide.reindex(columns=list(self.axes[across]))

    def to_dict(self) -> dict[str, object]:
        """Return plain numbers, strings and lists, with a ``schema_version``."""
        axes = {name: list(values) for name, values in self.axes.items()}
        return {
            "schema": "blankets/planning-table",
            "schema_version": SCHEMA_VERSION,
            "unknown": self.unknown,
            "axes": axes,
            "cells": self.to_records(),
        }

    def __repr__(self) -> str:
        cells = self._cells()
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        lines = ["  ".join(text.rjust(width) for text, width in zip(line, widths, strict=True)) for line in cells]
        return "\n".join([f"{self._title()}:", *lines])

    def _repr_html_(self) -> str:
        head, *body = self._cells()
        rows = "".join(f"<tr>{''.join(f'<td>{escape(text)}</td>' for text in line)}</tr>" for line in body)
        top = "".join(f"<th>{escape(text)}</th>" for text in head)
        return f"<table><caption>{escape(self._title())}</caption><tr>{top}</tr>{rows}</table>"

    def _title(self) -> str:
        return f"{self.plans[0].asked} ({' × '.join(self.axes)})"

    def _cells(self) -> list[list[str]]:
        *down, across = self.axes
        head = [*down, *(f"{across} {_text(value)}" for value in self.axes[across])]
        body = self.answers.reshape(-1, len(self.axes[across]))
        left = product(*(self.axes[name] for name in down))
        return [head] + [
            [*map(_text, values), *(self._cell(answer) for answer in line)]
            for values, line in zip(left, body, strict=True)
        ]

    def _cell(self, answer: float) -> str:
        return "-" if np.isnan(answer) else f"{answer:.0f}" if self.unknown in _INTEGERS else f"{answer:.4g}"


_INTEGERS = ("rows", "labeled", "dof")


@guarded
def planning_table(*, priors: Sequence[Any] | None = None, **question: Any) -> PlanningTable:
    """Answer a planning question for every combination of the values given as lists.

    Parameters
    ----------
    priors : sequence, optional
        Several values of ``prior`` to vary (a pair given as ``prior`` itself is an interval).
    **question
        The arguments of `plan`. Lists (or tuples, arrays) among ``effect``, ``effect_w``, ``correlation``,
        ``difference``, ``power``, ``alpha``, ``arity``, ``dof``, ``rows``, ``labeled`` and ``strata`` are varied.
        Effects are shown in columns, powers and everything else in rows.

    Returns
    -------
    PlanningTable

    See Also
    --------
    plan : One question.

    Examples
    --------
    Table 7.2 of Sechidis (2015): how many of 3000 rows must be known positives?

    >>> from blankets import planning_table
    >>> planning_table(power=[0.70, 0.80, 0.90, 0.95, 0.99], effect=["small", "medium", "large"],
    ...                alpha=0.01, arity=2, rows=3000, labels="pu", prior=0.2)
    Labeled positives needed (power × effect):
    power  effect small  effect medium  effect large
      0.7           223             27            10
      0.8           267             33            12
      0.9           331             41            15
     0.95           388             49            18
     0.99           501             66            24
    """
    varied = {name: value for name, value in question.items() if name != "prior" and _is_list(value)}
    if priors is not None:
        if not _is_list(priors):
            raise ParameterError.out_of_range("priors", priors, "a list of what p(y=1) may be")
        varied["prior"] = priors
    axes = {name: tuple(varied[name]) for name in _AXES if name in varied}
    if not axes:
        raise ParameterError("nothing varies: give a list for 'effect', 'power', 'rows', ..., or ask plan()")
    if empty := [name for name, values in axes.items() if not values]:
        raise ParameterError(f"{empty[0]!r} is an empty list; give at least one value")
    if question.get("rng") is not None:  # the same draws of an uncertain prior in all cells
        question["rng"] = int(generator_from(question["rng"]).integers(2**62))
    plans = tuple(plan(**(question | dict(zip(axes, values, strict=True)))) for values in product(*axes.values()))
    answers = np.array([np.nan if p.answer is None else p.answer for p in plans], float)
    return PlanningTable(
        unknown=plans[0].unknown,
        axes=axes,
        answers=answers.reshape([len(values) for values in axes.values()]),
        plans=plans,
    )


def _is_list(value: object) -> bool:
    return isinstance(value, (Sequence, np.ndarray)) and not isinstance(value, str)


def _text(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
