"""Results: blankets and other answers that print, explain themselves and can be saved as JSON."""

from typing import TYPE_CHECKING

from blankets.caching import loaded_late
from blankets.results._audit import DataAudit, Finding
from blankets.results._blanket import Blanket
from blankets.results._describe import describe
from blankets.results._determined import determined_sentence, emptied, emptied_sentence
from blankets.results._effects import CHOSEN, Contrast, Effects, Measure
from blankets.results._evidence import NamedEvidence, PassedOver, Step
from blankets.results._false_members import expected_words, false_members_sentence
from blankets.results._label_bias import LabelBias, bias_sentence
from blankets.results._many import Blankets
from blankets.results._text import (
    NOT_CHECKED,
    bent_members,
    details,
    doubted,
    footnotes,
    little_more,
    member_note,
    partly_sentence,
    rest_sentence,
    undecided_sentence,
)
from blankets.results._words import (
    count_of,
    cut_sentence,
    digits,
    format_p,
    format_seconds,
    joined,
    p_is,
    shown,
    size_of,
    symbol_of,
)
from blankets.search import Doubt, Undecided

if TYPE_CHECKING:
    from blankets.results._adjustment import AdjustedEffect, Adjustment
    from blankets.results._advice import Advice, Goal
    from blankets.results._answers import Estimate, TestResult, power_words
    from blankets.results._assumptions import Assumptions
    from blankets.results._confirmation import Confirmation
    from blankets.results._explain import Explanation
    from blankets.results._ranking import Ranking
    from blankets.results._refutation import Refutation, Trial
    from blankets.results._selection import Selection
    from blankets.results._sensitivity import PriorRange, Sensitivity
    from blankets.results._stability import Stability

__all__ = [
    "AdjustedEffect",
    "Adjustment",
    "Advice",
    "Assumptions",
    "Blanket",
    "Blankets",
    "CHOSEN",
    "Confirmation",
    "Contrast",
    "DataAudit",
    "Doubt",
    "Effects",
    "Estimate",
    "Explanation",
    "Finding",
    "Goal",
    "LabelBias",
    "Measure",
    "NOT_CHECKED",
    "NamedEvidence",
    "PassedOver",
    "PriorRange",
    "Ranking",
    "Refutation",
    "Selection",
    "Sensitivity",
    "Stability",
    "Step",
    "TestResult",
    "Trial",
    "Undecided",
    "bent_members",
    "bias_sentence",
    "count_of",
    "cut_sentence",
    "describe",
    "details",
    "determined_sentence",
    "digits",
    "doubted",
    "emptied",
    "emptied_sentence",
    "expected_words",
    "false_members_sentence",
    "footnotes",
    "format_p",
    "format_seconds",
    "joined",
    "little_more",
    "member_note",
    "p_is",
    "partly_sentence",
    "power_words",
    "rest_sentence",
    "shown",
    "size_of",
    "symbol_of",
    "undecided_sentence",
]

_ANSWERS = {  # of questions other than `discover`, which can do without
    "._adjustment": "AdjustedEffect Adjustment",
    "._advice": "Advice Goal",
    "._answers": "Estimate TestResult power_words",
    "._assumptions": "Assumptions",
    "._confirmation": "Confirmation",
    "._explain": "Explanation",
    "._ranking": "Ranking",
    "._refutation": "Refutation Trial",
    "._selection": "Selection",
    "._sensitivity": "PriorRange Sensitivity",
    "._stability": "Stability",
}
__getattr__ = loaded_late(__name__, _ANSWERS)
