"""`LabelBias`: how biased labeling would have to be to explain a member away."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from blankets.records import Unsigned
from blankets.results._words import digits, shown
from blankets.voice import part


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelBias:
    """The bias of labeling that would explain a member, if it were no member.

    Examples
    --------
    >>> LabelBias(level="yes", ratio=2.9, gamma=2.3).words("smoker")
    'labeling would have to be 2.3 times as likely where smoker = yes'
    """

    level: str  # where labeling would have to be likelier
    ratio: Unsigned  # labeled share there, divided by that elsewhere
    gamma: Unsigned  # lower confidence limit (95%) of the ratio; 1: labeling without bias is not excluded by this ratio

    def words(self, name: str) -> str:
        """Return it as a sentence without a period."""
        where = f"where {shown(name)} = {self.level}"
        if self.gamma <= 1.0:
            return f"hardly any bias of labeling {where} is needed"
        return f"labeling would have to be {digits(self.gamma, 2)} times as likely {where}"


def bias_sentence(biases: Mapping[str, LabelBias], most: int = 5) -> str:
    """Say how biased labeling would have to be to explain the members, the least first; empty if there are none."""
    if not biases:
        return ""
    least = sorted(biases, key=lambda name: biases[name].gamma)
    told = "; ".join(f"{shown(name)}: {biases[name].words(name)}" for name in least[:most])
    more = f"; and {len(least) - most} more in {part('label_bias')}" if len(least) > most else ""
    return f"What would explain members away if labeling is biased: {told}{more}."
