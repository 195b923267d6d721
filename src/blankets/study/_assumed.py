"""What a search assumes about missing labels: its settings, and its sentences for the user."""

from __future__ import annotations

from typing import Any

import numpy as np

from blankets.errors import TooFewRowsWarning, warn
from blankets.regimes import Question, Surrogate, SurrogateColumn
from blankets.results import joined
from blankets.study._about import about_labels
from blankets.study._asking import wide_drivers
from blankets.study._study import Study


def settings_of(study: Study, column: SurrogateColumn | None, drivers: tuple[int, ...]) -> dict[str, Any]:
    """Return all settings of a search of the study, by name."""
    how, read = study.testing, study.reading
    settings: dict[str, Any] = {
        **{
            "test": study.test_name,
            "dof": how.dof,
            "reliability": how.reliability,
            "strength": how.strength,
        },
        **{"discretize": read.discretize, "n_bins": read.n_bins, "missing": read.missing},
        **{"keep": read.keep, "exclude": read.exclude},
    }
    if study.survey is not None:
        worth = float(study.survey.sum() ** 2 / (study.survey**2).sum())
        settings |= {"survey_weight": True, "effective_rows": worth}
    if study.groups is not None:
        # At worst a group tells as much as one row; what could have been missed is said for that.
        settings |= {"groups": study.group_name, "n_groups": study.n_groups, "effective_rows": study.n_groups}
    if study.column is None or how.of_numbers or not len(study.labels.codes):
        return settings
    prior = study.regime.prior
    settings |= {"labels": study.regime.name, "prior": prior and str(prior)}
    settings |= {"prior_facts": prior.facts} if prior is not None else {}
    used = Surrogate.FULL if column is None else column.surrogate
    settings |= {"surrogate": used.value, "surrogate_is_valid": column is None or not column.forced}
    if study.labels.n_unlabeled and study.labels.is_binary:
        negatives, positives = study.labels.counts.tolist()
        settings["labeled"] = {"positives": positives, "negatives": negatives}
        settings |= {} if study.regime.sampling == "one-sample" else {"sampling": study.regime.sampling}
    if drivers:
        settings["drivers"] = [study.names[x] for x in drivers]
    forced = column is not None and column.forced
    if not (forced or study.regime.plain) and Question.POWER in study.regime.answers:
        kappa = study.regime.kappa(study.labels, used)
        settings |= {"kappa": kappa.value, "kappa_range": (kappa.low, kappa.high)}
        settings["effective_rows"] = kappa.value * (study.n_groups or study.n_rows)
    return settings


def assumptions_said(study: Study, column: SurrogateColumn | None, drivers: tuple[int, ...]) -> tuple[str, ...]:
    """Say what is assumed about missing labels, what replaces the target, and which features drive labeling."""
    if column is None:
        return about_labels(study)
    valid = " It is not valid here; you asked for it anyway:" if column.forced else ""
    said = (
        f"{study.regime.describe(study.labels)} Each test with the target {column.surrogate.words}."
        f"{valid} {column.note[:1].upper()}{column.note[1:]}."
    )
    return (said, *_on_drivers(study, column, drivers))


def _on_drivers(study: Study, column: SurrogateColumn, drivers: tuple[int, ...]) -> tuple[str, ...]:
    """Say which features drive labeling, and whether anything can still be tested given these."""
    if not drivers:
        return ()
    names = [study.names[x] for x in drivers]
    sentence = f"Labeling depends on {joined(names)}; each test with the target is given that too."
    strata = float(np.prod(study.arities[list(drivers)].astype(float)))
    few = not study.testing.reliability or strata <= column.n_rows / study.testing.reliability
    if study.known_drivers and (few or study.measures(drivers) or wide_drivers(study)):
        return ()  # the regime's assumption says it
    if few:
        return (sentence,)
    beyond = (
        f"{sentence} These have {strata:,.0f} joint levels, so many that the {study.labels.n_labeled:,} labeled rows "
        "are too few for any test within them: merge levels"
    )
    if not study.known_drivers:
        beyond += ", or leave out the conditioning (labels=bl.SemiSupervised('mar-f', given_drivers=False))"
    warn(beyond, TooFewRowsWarning)
    return (beyond,)
