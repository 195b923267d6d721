"""Options that several public functions take: one name, one kind, one default, one description everywhere."""

import inspect
import re
from dataclasses import fields

import pytest

import blankets as bl
from blankets.data import Reading, ReadingOptions
from blankets.questions._question import SHARED

QUESTIONS = [
    *("advise", "audit", "discover", "discover_all", "discover_latent", "estimate_prior", "mutual_information", "pack"),
    *("rank", "refute", "select", "sensitivity", "stability", "test"),
]
# A latent is found only if its effects are members, so its search begins with a sensitive one.
OTHER_DEFAULTS = {("discover_latent", "algorithm"), ("discover_latent", "alpha"), ("estimate_prior", "labels")}
MOST = 20  # parameters in all; at most 14 of them are a function's own


def parameters(name):
    return inspect.signature(getattr(bl, name)).parameters


def described(name):
    """Return the description of each parameter, from the docstring."""
    doc = inspect.getdoc(getattr(bl, name))
    section = doc[doc.index("Parameters\n----------\n") + len("Parameters\n----------\n") :]
    section = re.split(r"\n\n[A-Z][\w ]+\n-{3,}\n", section)[0]
    parts = re.split(r"\n(?=\S)", section)
    return {part.split(" :")[0].split("\n")[0]: part for part in parts}


@pytest.mark.parametrize("name", QUESTIONS)
def test_shared_options_have_the_same_kind_and_default_everywhere(name):
    for option, parameter in parameters(name).items():
        if option not in SHARED or (name, option) in OTHER_DEFAULTS:
            continue
        others = [
            parameters(other)[option]
            for other in QUESTIONS
            if option in parameters(other) and (other, option) not in OTHER_DEFAULTS
        ]
        if option in ("data", "target"):  # named first, without a default, by those that cannot do without
            continue
        assert {(one.kind, one.default, one.annotation) for one in others} == {
            (parameter.kind, parameter.default, parameter.annotation)
        }


@pytest.mark.parametrize("name", QUESTIONS)
def test_shared_options_have_the_same_description_everywhere(name):
    said = described(name)
    for option in parameters(name):
        if option in SHARED and (name, option) not in OTHER_DEFAULTS and not (name == "pack" and option == "target"):
            key = "**reading" if option == "reading" else option
            assert said[key] == SHARED[option], (name, option)


@pytest.mark.parametrize("name", QUESTIONS)
def test_every_parameter_is_described_once_and_there_are_not_many(name):
    own = [option for option in parameters(name) if option not in SHARED]
    assert len(own) <= 14
    assert len(parameters(name)) <= MOST
    keys = {each.strip().lstrip("*") for key in described(name) for each in key.split(",")}
    assert keys == set(parameters(name))
    assert "$" not in inspect.getdoc(getattr(bl, name))


def test_the_options_of_reading_are_the_fields_of_reading():
    assert list(ReadingOptions.__annotations__) == [field.name for field in fields(Reading)]
    for name in QUESTIONS:
        if name != "refute":
            assert parameters(name)["reading"].annotation == "Unpack[ReadingOptions]"


@pytest.mark.parametrize("name", [name for name in QUESTIONS if name not in ("refute", "pack", "estimate_prior")])
def test_every_question_takes_every_option_of_reading(name):
    """``columns=`` and the others are not refused by some functions and taken by others."""
    table = {"t": [0, 1] * 40, "a": [0, 0, 1, 1] * 20, "b": [0, 1, 1, 0] * 20, "c": [0, 1, 1] * 26 + [0, 1]}
    first = {"x": "a"} if name in ("test", "mutual_information") else {}
    target = {} if name == "discover_all" else {"target": "t"}
    few = {"k": 1} if name == "select" else {"n_restarts": 1} if name == "discover_latent" else {}
    few |= {"n_resamples": 2} if name == "stability" else {}
    if name in ("advise", "sensitivity"):
        table["t"] = [1 if value and k % 3 else None for k, value in enumerate(table["t"])]
        few |= {"labels": "pu"}
    result = getattr(bl, name)(
        table, **first, **target, **few, columns=["t", "a", "b"], missing="level", keep=["a"], exclude=["b"]
    )
    assert result.call.options["columns"] == ["t", "a", "b"]


@pytest.mark.parametrize(("old", "new"), [("n_threads", "n_jobs"), ("n_draws", "n_resamples"), ("bins", "n_bins")])
def test_an_old_name_is_answered_with_the_new_one(old, new):
    with pytest.raises(bl.errors.ParameterError, match=f"there is no argument '{old}'; did you mean '{new}'"):
        bl.stability({"t": [0, 1] * 20, "a": [0, 1, 1, 0] * 10}, "t", **{old: 2})
