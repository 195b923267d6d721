"""Every name of the reference describes its parameters, and what it returns."""

import ast
import builtins
import doctest
import importlib
import inspect
import re

import pytest

from docs.pages import ROOT

NAMES = re.findall(r"^   ([A-Za-z][\w.]+)$", (ROOT / "docs" / "reference.rst").read_text(encoding="utf-8"), re.M)


def named(name):
    room, _, last = f"blankets.{name}".rpartition(".")
    return getattr(importlib.import_module(room), last)


def section(text, title):
    """Return the lines of a section of a docstring, without those that describe."""
    found = re.search(rf"^{title}\n-+\n((?:.*\n)*?)(?=^\w[\w ]*\n---|\Z)", text + "\n", re.M)
    return [line for line in found[1].splitlines() if line and line[0] != " "] if found else []


def test_the_reference_names_what_the_package_offers():
    assert len(NAMES) > 80
    assert len(NAMES) == len(set(NAMES))


@pytest.mark.parametrize("name", NAMES)
def test_parameters_are_described(name):
    thing = named(name)
    text = inspect.getdoc(thing)
    listed = section(text, "Parameters") + section(text, "Attributes")
    described = {one.strip(" *") for line in listed for one in line.partition(" :")[0].split(",")}
    made_by_us = inspect.isclass(thing) and not section(text, "Parameters")
    if not made_by_us:
        assert set(inspect.signature(thing).parameters) <= described


@pytest.mark.parametrize("name", NAMES)
def test_what_comes_back_is_described(name):
    thing = named(name)
    if not inspect.isclass(thing) and inspect.signature(thing).return_annotation not in (None, "None"):
        assert section(inspect.getdoc(thing), "Returns")


@pytest.mark.parametrize("name", NAMES)
def test_examples_bring_all_that_they_use(name):
    examples = doctest.DocTestParser().get_examples(inspect.getdoc(named(name)))
    nodes = list(ast.walk(ast.parse("".join(example.source for example in examples))))
    imports = [node for node in nodes if isinstance(node, ast.Import | ast.ImportFrom)]
    assert not any(re.search(r"(^|\.)_", getattr(node, "module", "")) for node in imports)  # nothing that is not public
    made = {alias.asname or alias.name for node in imports for alias in node.names}
    made |= {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    made |= {getattr(node, "arg", None) or getattr(node, "name", None) for node in nodes}
    assert {node.id for node in nodes if isinstance(node, ast.Name)} <= made | set(dir(builtins))
