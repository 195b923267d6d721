"""`Study`, the start of every question: a table, a target, what is known of both, and where rows are counted."""

from typing import TYPE_CHECKING

from blankets.caching import loaded_late
from blankets.study._about import about_labels, about_rows, cut_unasked
from blankets.study._asking import asked_given, independence_tests
from blankets.study._checks import called_a_name, leaking, names_finding, people, repeated_subjects, sounds_later
from blankets.study._confirming import confirmed_on, rows_apart
from blankets.study._copies import copies_of_labels
from blankets.study._effect_columns import design_of, values_of
from blankets.study._engine import Engine, is_files
from blankets.study._information import (
    ABOUT_EXPLAINED,
    Explained,
    about_drivers,
    frame_with,
    information_notes,
    keeps_numbers,
    label_tables,
    scored_estimate,
    warn_of_constants,
    weighs_rows,
)
from blankets.study._opening import open_study
from blankets.study._progress import Progress, status_line, watched
from blankets.study._resampling import members_over, rows_drawn
from blankets.study._searching import Search, Wanted, sll
from blankets.study._second_opinion import SecondOpinion, second_opinion
from blankets.study._study import Seed, Study
from blankets.study._testing import Testing
from blankets.study._work import Countdown, carried_out

if TYPE_CHECKING:
    from blankets.study._under_reported import Names, under_reported_from

__all__ = [
    "ABOUT_EXPLAINED",
    "Countdown",
    "Engine",
    "Explained",
    "Names",
    "Progress",
    "Search",
    "SecondOpinion",
    "Seed",
    "Study",
    "Testing",
    "Wanted",
    "about_drivers",
    "about_labels",
    "about_rows",
    "asked_given",
    "called_a_name",
    "carried_out",
    "confirmed_on",
    "copies_of_labels",
    "cut_unasked",
    "design_of",
    "frame_with",
    "independence_tests",
    "information_notes",
    "is_files",
    "keeps_numbers",
    "label_tables",
    "leaking",
    "members_over",
    "names_finding",
    "open_study",
    "people",
    "repeated_subjects",
    "rows_apart",
    "rows_drawn",
    "scored_estimate",
    "second_opinion",
    "sll",
    "sounds_later",
    "status_line",
    "under_reported_from",
    "values_of",
    "warn_of_constants",
    "watched",
    "weighs_rows",
]

__getattr__ = loaded_late(__name__, {"._under_reported": "Names under_reported_from"})
