"""Convert documents of earlier versions into the present form: old dict in, new dict out.

Until version 4 the spelling was British, the call was called manifest, and some fields had another form. Names of
columns must not change, so only our own words are translated.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from blankets.records._kinds import PRIVATE
from blankets.records._reading import refuse

Content = dict[str, Any]
_WORDS = {
    "bins": "n_bins",
    "discretise": "discretize",
    "labelled": "labeled",
    "labelled negatives": "labeled negatives",
    "labelled positives": "labeled positives",
    "labelled rows": "labeled rows",
    "labelled_is_count": "labeled_is_count",
    "labelled_share": "labeled_share",
    "n_labelled": "n_labeled",
    "n_threads": "n_jobs",
    "neighbour": "neighbor",
    "neighbours": "neighbors",
    "unlabelled": "unlabeled",
    "unlabelled_marker": "unlabeled_marker",
}
_PRIORS = {"between": "Between", "beta": "Beta", "estimated": "EstimatedPrior", "exact": "Exact"}
# Arguments of `discover` until version 4: those that are now fields of an object, with their defaults, and the rest.
_OF_TESTS = {"dof": "adjusted", "reliability": 5.0, "strength": "p-value"}
_OF_LABELS = {"surrogate": None, "force": False, "given_drivers": True}
_OF_DISCOVER = (
    *("target", "y", "algorithm", "alpha", "test", "roles", "labels", "prior", "engine", "n_jobs", "progress"),
    *("missing", "discretize", "n_bins", "keep", "columns", "exclude", "positive", "unlabeled_marker"),
)


def upgraded(content: Content) -> Content:
    """Return a document of any version in the form of version 4."""
    if content["schema_version"] >= 4:
        return content
    try:
        new = _american(content)
        for part in ("settings", "data"):
            if part in new:
                new[part] = _american(new[part])
        new["call"] = _call_of(new.pop("manifest", None))
        return _UPGRADES.get(content["schema"], dict)(new)
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        refuse(f"it is not of the form of its schema version, {content['schema_version']} ({error!r})")


def _american(content: Mapping[str, Any]) -> Content:
    return {_WORDS.get(key, key): value for key, value in content.items()}


def _call_of(manifest: Mapping[str, Any] | None) -> Content | None:
    """Return the manifest as a call; arguments with the value None were not given."""
    if manifest is None:
        return None
    said = _american(manifest["arguments"])
    options = {name: value for name, value in said.items() if value is not None and name not in PRIVATE}
    if manifest["call"] == "discover":
        options = _objects(options)
    return {"function": manifest["call"], "options": options, **{k: manifest[k] for k in manifest if k != "arguments"}}


def _objects(options: Content) -> Content:
    """Put former arguments into the objects that have them as fields now."""
    apart = {name: options.pop(name) for name in list(options) if name in _OF_TESTS or name in _OF_LABELS}
    testing = {name: apart[name] for name, usual in _OF_TESTS.items() if apart.get(name, usual) != usual}
    if testing:
        options["test"] = {"class": "Testing", "kind": options.get("test", "auto"), **testing}
    stand_in = {name: apart[name] for name, usual in _OF_LABELS.items() if apart.get(name, usual) != usual}
    if stand_in:
        name = options.get("labels")
        kind = {"class": "PositiveUnlabeled"} if name == "pu" else {"class": "SemiSupervised", "mechanism": name}
        options["labels"] = {**kind, **({"prior": options.pop("prior")} if "prior" in options else {}), **stand_in}
    own = {name: options.pop(name) for name in list(options) if name not in _OF_DISCOVER}
    return options | ({"options": own} if own else {})


def _repeated(content: Content) -> Content:
    return content | {"n_resamples": content["n_draws"]}


def _blanket(content: Content) -> Content:
    over = content["passed_over"]
    over["phases"] = [_WORDS.get(phase, phase) for phase in over["phases"]]
    if "method" not in over:  # written before tests chose between methods
        over |= {"methods": [""], "method": [0] * len(over["columns"])}
    return content | {
        "roles": {name: _WORDS.get(role, role) for name, role in content["roles"].items()},
        "finds": _WORDS.get(content["finds"], content["finds"]),
        "strengths": {each["x"]: each for each in content["strengths"]},
        "decisions": [
            {**step, "phase": _WORDS.get(step["phase"], step["phase"]), "evidence": step}
            for step in content["decisions"]
        ],
    }


def _blankets(content: Content) -> Content:
    return content | {"blankets": {each["target"]: upgraded(each) for each in content["blankets"]}}


def _estimate(content: Content) -> Content:
    value = content["information"]
    return content | {"value": value, "law": _law(content, [value])}


def _test(content: Content) -> Content:
    estimate = content["estimate"]
    return content | {"estimate": None if estimate is None else upgraded(estimate)}


def _ranking(content: Content) -> Content:
    names = {"name": "names", **{each: each for each in ("information", "standard_error", "p", "group")}}
    columns = {new: [each[old] for each in content["features"]] for old, new in names.items()}
    return content | columns | {"law": _law(content, columns["information"])}


def _law(content: Content, value: list[Any]) -> Content:
    return {**content["law"], "value": value, "estimator": content["estimator"]}


def _sensitivity(content: Content) -> Content:
    runs = content["runs"]
    return content | {"runs": [[r["prior"], r["members"]] for r in runs], "kappas": [r["kappa"] for r in runs]}


def _advice(content: Content) -> Content:
    goals = [{**goal, "more_labels": _american(goal["more_labels"])} for goal in content["goals"]]
    return content | {"goals": goals}


def _plan(content: Content) -> Content:
    setting = _american(content["setting"])
    setting["design"] = {
        **{key: content[key] for key in ("regime", "surrogate")},
        **{key: setting[key] for key in ("positives", "strata")},
    }
    unknown = _WORDS.get(content["unknown"], content["unknown"])
    others = [{**each, "counts": _WORDS.get(each["counts"], each["counts"])} for each in content["alternatives"]]
    new = content | {"unknown": unknown, "setting": setting, "alternatives": others}
    return new | {"spread": _spread(new, setting)}


def _spread(content: Content, setting: Content) -> Content | None:
    """Return the data from which the answer over an uncertain prior is computed."""
    said, unknown = content["uncertain_prior"], content["unknown"]
    if said is None:
        return None
    question = {
        "unknown": unknown,
        "power": content["wanted_power"],
        "largest_effect": said["largest_effect"],
        **{key: setting[key] for key in ("effect", "alpha", "rows", "worst_case")},
        "dof": said["dof_asked"] or setting["dof"],
    }
    amount = {"value": setting["labeled"], "is_count": setting["labeled_is_count"]}
    return {
        "knowledge": {**said, "prior": _prior(said["prior"])},
        "question": question,
        "candidate": {"design": setting["design"], "labeled": None if unknown == "labeled" else amount},
    }


def _prior(said: Mapping[str, Any]) -> Any:
    inside = {key: value for key, value in said.items() if key != "kind"}
    if said["kind"] == "restricted":
        return {"class": "Restricted", **inside, "base": _prior(said["base"])}
    if said["kind"] == "scipy":
        return {"class": f"scipy.stats.{inside.pop('name')}", **inside}
    return {"class": _PRIORS[said["kind"]], **inside}


_UPGRADES: Mapping[str, Callable[[Content], Content]] = {
    "blankets/advice": _advice,
    "blankets/blanket": _blanket,
    "blankets/blankets": _blankets,
    "blankets/estimate": _estimate,
    "blankets/plan": _plan,
    "blankets/ranking": _ranking,
    "blankets/refutation": _repeated,
    "blankets/sensitivity": _sensitivity,
    "blankets/stability": _repeated,
    "blankets/test": _test,
}
