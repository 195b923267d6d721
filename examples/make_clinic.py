"""Make ``clinic.csv``: 2,000 hospital stays with a story and a known answer.

The question is which columns matter for **readmitted**: whether a patient was back within 30 days.

*Why patients come back.* Two things decide: whether the patient has a weak heart (``heart_failure``) and
whether a visit to the clinic was arranged for the weeks after discharge (``follow_up``).

*What a readmission leaves behind.* Most readmissions are looked at by the quality board (``case_review``),
and the second bill is often disputed (``bill_disputed``), if there is a private insurance to dispute it.

*The one that is easy to overlook.* ``insurance`` says nothing about readmission by itself. But once we know
whether the bill was disputed, it does: an undisputed bill speaks against a readmission, and much more so if
the patient is privately insured. It is a *spouse*: another parent of a child.

*What only looks important.* Old patients come back more often, and men, and those who live alone, but only
because their hearts are weaker; given ``heart_failure``, ``age``, ``sex`` and ``lives_alone`` add nothing.
Diuretics, the department and the days in hospital follow from the disease, ``board_decision`` follows from the
review, and ``discharge_day`` acts through the follow-up: little is arranged at weekends. ``smoker`` depends on
sex, and ``blood_group`` on nothing.

Run ``python examples/make_clinic.py`` to write the file again, byte for byte.
"""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np

from blankets.simulate import Network, as_columns

ROWS = 2000
SEED = 2026
TARGET = "readmitted"

YES_NO = ("no", "yes")
AGE_GROUPS = {"18-44": (18, 45), "45-64": (45, 65), "65-79": (65, 80), "80-95": (80, 96)}


def chances(*yes: float) -> list[list[float]]:
    """Return the rows of a table of a yes/no column from the probabilities of yes."""
    return [[1 - p, p] for p in yes]


def clinic() -> Network:
    """Return the network behind the file. The age group stays behind; the file has the age in years."""
    return Network(
        levels={
            "age_group": tuple(AGE_GROUPS),
            "sex": ("female", "male"),
            "smoker": ("never", "former", "current"),
            "blood_group": ("A", "B", "AB", "O"),
            "heart_failure": YES_NO,
            "diuretic": YES_NO,
            "department": ("cardiology", "internal medicine", "surgery, general"),
            "lives_alone": YES_NO,
            "discharge_day": ("weekday", "weekend"),
            "follow_up": ("not arranged", "clinic visit"),
            "insurance": ("public", "private"),
            TARGET: YES_NO,
            "case_review": YES_NO,
            "board_decision": ("no action", "staff informed", "procedure changed"),
            "bill_disputed": YES_NO,
        },
        parents={
            "smoker": ("sex",),
            "heart_failure": ("age_group", "sex"),
            "diuretic": ("heart_failure",),
            "department": ("heart_failure",),
            "lives_alone": ("age_group",),
            "follow_up": ("discharge_day",),
            TARGET: ("heart_failure", "follow_up"),
            "case_review": (TARGET,),
            "board_decision": ("case_review",),
            "bill_disputed": (TARGET, "insurance"),
        },
        tables={
            "age_group": [0.2, 0.3, 0.3, 0.2],
            "sex": [0.52, 0.48],
            "smoker": [[0.6, 0.25, 0.15], [0.45, 0.3, 0.25]],
            "blood_group": [0.42, 0.12, 0.06, 0.4],
            "heart_failure": [chances(0.08, 0.16), chances(0.2, 0.36), chances(0.46, 0.62), chances(0.68, 0.8)],
            "diuretic": chances(0.12, 0.8),
            "department": [[0.15, 0.45, 0.4], [0.65, 0.28, 0.07]],
            "lives_alone": chances(0.2, 0.25, 0.4, 0.6),
            "discharge_day": [0.7, 0.3],
            "follow_up": chances(0.65, 0.3),
            "insurance": [0.5, 0.5],
            TARGET: [chances(0.4, 0.06), chances(0.88, 0.5)],
            "case_review": chances(0.05, 0.85),
            "board_decision": [[0.85, 0.1, 0.05], [0.2, 0.55, 0.25]],
            "bill_disputed": [chances(0.08, 0.12), chances(0.15, 0.85)],
        },
    )


def table(rng: np.random.Generator) -> dict[str, list[object]]:
    """Return the columns of the file, in its order."""
    drawn = as_columns(clinic().sample(ROWS, rng))
    groups = drawn.pop("age_group")
    years = np.array([rng.integers(*AGE_GROUPS[group]) for group in groups])
    # Days in hospital: a gamma distribution whose mean depends on the department alone.
    mean_days = {"cardiology": 9.0, "internal medicine": 6.5, "surgery, general": 4.0}
    days = np.array([rng.gamma(4.0, mean_days[name] / 4.0) for name in drawn["department"]])
    columns: dict[str, list[object]] = {"age": years.tolist()}
    columns |= {name: values.tolist() for name, values in drawn.items() if name != TARGET}
    return columns | {"days_in_hospital": days.round(1).tolist(), TARGET: drawn[TARGET].tolist()}


def write(path: Path) -> None:
    """Write the file."""
    columns = table(np.random.default_rng(SEED))
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))


if __name__ == "__main__":
    write(Path(__file__).parent / "clinic.csv")
