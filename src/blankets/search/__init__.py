"""Markov blanket algorithms: one per file, each a plain function of an `IndependenceTest`."""

from blankets.search._both_ends import with_other_ends
from blankets.search._contract import Algorithm, Doubt, Found, Note, Role, Trace, Trouble, Undecided
from blankets.search._entering import levels_of_members
from blankets.search._registry import ALGORITHMS, check_options, choose, find, squeezed
from blankets.search._roles import directions_of, orient, resolve_roles
from blankets.search.closing import close, evidence_of, settle, with_required

__all__ = [
    "ALGORITHMS",
    "Algorithm",
    "Doubt",
    "Found",
    "Note",
    "Role",
    "Trace",
    "Trouble",
    "Undecided",
    "check_options",
    "choose",
    "close",
    "directions_of",
    "evidence_of",
    "find",
    "levels_of_members",
    "orient",
    "resolve_roles",
    "settle",
    "squeezed",
    "with_other_ends",
    "with_required",
]
