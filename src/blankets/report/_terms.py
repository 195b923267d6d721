"""The technical words of a report, each explained in a sentence."""

from __future__ import annotations

_OF_LABELS = ("κ", "Ỹ0", "Ỹ1", "Ỹm")
_TERMS = {
    "Markov blanket": "The smallest set of columns that makes all others irrelevant: once its values are known, no "
    "other column tells anything more about the target.",
    "parent": "A column on which the target does not act. A direct cause, if nothing hidden influences both.",
    "child": "A column that does not act on the target. An effect of it, if nothing hidden influences both.",
    "spouse": "Another parent of a child of the target. It matters once the child is known.",
    "neighbor": "A parent or a child; the data do not show which.",
    "given": "With the other columns held at their values: the comparison is made between rows that are alike in them.",
    "p-value": "How often a dependence at least as strong as the one seen would appear if there were none.",
    "level": "A column counts as dependent if its p-value is at most this (alpha).",
    "odds ratio": "How many times higher the odds of the outcome are: odds of 1 to 4 against 1 to 8 are an odds ratio "
    "of 2. 1 means no difference.",
    "risk ratio": "How many times more frequent the outcome is. 1 means no difference.",
    "difference": "How much higher the target is on average, in its own units. 0 means no difference.",
    "95% interval": "Values of the effect that the data allow; 95 of 100 such intervals contain the true one.",
    "SD": "Standard deviation: a typical distance from the mean.",
    "size": "Cohen's words for the strength of a dependence, by w: 0.1 is small, 0.3 medium, 0.5 large.",
    "nats": "Units of information, w²/2: how much one column tells about another. 0.005 is small, 0.045 medium, 0.125 "
    "large.",
    "degrees of freedom": "How many free comparisons a test makes; more of them need more rows.",
    "redundant": "A member is redundant if the other members already tell what it tells.",
    "closing": "The last phase of a search: every column left out is tested given all members.",
    "false members": "Members that are there by chance: the number to expect if the tests hold their level.",
    "faithfulness": "Each dependence in the data is that of an arrow or a path; none cancel exactly.",
    "κ": "The share of its power that a test keeps although labels are missing.",
    "Ỹ0": "What is counted in place of the target: unlabeled rows as negatives.",
    "Ỹ1": "What is counted in place of the target: unlabeled rows as positives.",
    "Ỹm": "What is counted in place of the target: unlabeled rows as a class of their own.",
}


def terms(*, partial: bool) -> list[list[str]]:
    """Return the technical words of a report, each with what it means; ``partial``: some rows have no label.

    Examples
    --------
    >>> len(terms(partial=True)) - len(terms(partial=False))
    4
    """
    return [[word, what] for word, what in _TERMS.items() if partial or word not in _OF_LABELS]
