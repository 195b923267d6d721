"""What a report says about labels, if some are missing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from blankets.regimes import ASSUMED, Surrogate
from blankets.results import digits

if TYPE_CHECKING:
    from blankets.results import Blanket


def is_partial(blanket: Blanket) -> bool:
    """Whether some rows had no label, so that a surrogate was tested in place of the target."""
    return blanket.settings.get("labels") not in (None, "supervised")


def stands_in(blanket: Blanket) -> str:
    """Return what the tests counted in place of the target, to complete "each test ..."."""
    names = {surrogate.value: surrogate.words for surrogate in Surrogate}
    return names.get(str(blanket.settings.get("surrogate")), "uses a surrogate of the target")


def labels(blanket: Blanket) -> list[list[str]] | None:
    """Return labels and values about the regime, its prior and its surrogate; None if every row has a label."""
    if not is_partial(blanket):
        return None
    settings = blanket.settings
    regime = str(settings["labels"])
    told = [["Taken to hold", ASSUMED.get(regime, regime)]]
    told.append(["p(y=1)", "not known" if settings.get("prior") is None else str(settings["prior"])])
    told.append(["Each test", stands_in(blanket)])
    if (kappa := settings.get("kappa")) is not None:
        told.append(["Power kept", f"each row counts as much as κ = {digits(kappa)} rows with full labels"])
    if settings.get("surrogate_is_valid") is False:
        told.append(["Caution", "this is not valid here; you asked for it anyway"])
    if unlabeled := blanket.data.get("unlabeled"):
        told.append(["Rows without a label", f"{unlabeled:,}"])
    if found := settings.get("labeled"):
        told.append(["Labeled", ", ".join(f"{found[name]:,} {name}" for name in found if found[name])])
    for name, bias in blanket.label_bias.items():
        told.append(["If labeling is biased", f"{name}: {bias.words(name)} to explain it away"])
    if settings.get("sampling") == "case-control":
        told.append(["Sampling", "the labeled positives were collected apart from the other rows"])
    return told


def planner_caution(blanket: Blanket) -> str:
    """Return a caution if the planner is only a rough guide for these labels; mostly empty."""
    settings = blanket.settings
    if settings.get("labels") == "mar-f":
        return (
            "Labeling depends on features here, and how much power that leaves cannot be computed beforehand. The "
            "planner takes the labels to be missing at random: its answers are a guide, and on the optimistic side."
        )
    if settings.get("labels") in ("pu", "mar-c") and settings.get("prior") is None:
        return "p(y=1) was not given, and the answers depend on it: set it in the planner."
    return ""
