"""How many members of a blanket are expected to be there by chance, from the record of its search."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from blankets.results._words import count_of, number
from blankets.stats import FalseMembers, expected_false_members

if TYPE_CHECKING:
    from blankets.results._blanket import Blanket

__all__ = ["false_members", "false_members_sentence"]

_SPOUSES = ("spouses", "colliders")  # phases in which a column gets a chance for each child


def false_members(blanket: Blanket, controls: str) -> FalseMembers | None:
    """Return how many false members to expect, from the last test of each column; None if no error rate is held.

    Parameters
    ----------
    blanket : Blanket
        What was found.
    controls : {"level", "fdr", "nothing"}
        What the algorithm's ``alpha`` is.
    """
    alpha = blanket.settings.get("alpha")
    if controls == "nothing" or not isinstance(alpha, float) or blanket.settings.get("surrogate_is_valid") is False:
        return None
    position = {name: j for j, name in enumerate(blanket.columns)}
    log_p, dof = np.full((2, len(blanket.columns)), np.nan)
    # The last performed test counts: single decisions, then the last scan, then that of members given the others.
    told = [step.evidence for step in blanket.decisions if step.evidence.y == blanket.target]
    looks = blanket.passed_over
    at = np.flatnonzero(looks.reliable)
    log_p[looks.columns[at]], dof[looks.columns[at]] = looks.log_p[at], looks.dof[at]
    for evidence in (*told, *blanket.strengths.values()):
        if evidence.reliable and evidence.x in position:
            log_p[position[evidence.x]], dof[position[evidence.x]] = evidence.log_p, evidence.dof
    as_spouses = sum(step.phase in _SPOUSES and step.evidence.reliable for step in blanket.decisions)
    discoveries = len(blanket) if controls == "fdr" else None
    return expected_false_members(log_p, dof, alpha, n_extra=as_spouses, n_discoveries=discoveries)


def false_members_sentence(blanket: Blanket) -> str:
    """Return the expected number of false members in words; empty where it is not known."""
    known = blanket.false_members
    if known is None or not known.n_tested:
        return ""
    if known.controls == "fdr":
        many = f"at most {number(known.at_most)} of {count_of(len(blanket), 'member')}"
        rate = f"a false discovery rate of {known.alpha:g}"
        return f"Expected false members: {many} ({rate} among {count_of(known.n_tested, 'column')} tested)."
    about = f"about {number(known.expected)}, at most {number(known.at_most)}"
    chances = f"{count_of(known.n_tested, 'chance')} to get in at level {known.alpha:g}"
    return f"Expected false members: {about} ({chances})."
