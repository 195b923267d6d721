"""Sphinx: `pip install -e '.[docs]' && sphinx-build -W docs docs/_build/html`."""

import importlib
import inspect
import re
import sys
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path
from typing import Any

from numpydoc.xref import DEFAULT_LINKS

import blankets

sys.path.insert(0, str(Path(__file__).parent))
import llms

project = "blankets"
author = "the blankets developers"
copyright = "2026, the blankets developers"
release = version = blankets.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "sphinx_gallery.gen_gallery",
]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = ["_build", "_templates", "_static"]
templates_path = ["_templates"]
myst_enable_extensions = ["dollarmath", "deflist"]
myst_heading_anchors = 2
html_theme = "pydata_sphinx_theme"
html_title = "blankets"
html_static_path = ["_static"]
html_css_files = ["blankets.css"]
html_show_sourcelink = False
html_theme_options = {
    "header_links_before_dropdown": 6,
    "navbar_persistent": ["search-button"],
    "navigation_with_keys": False,
    "show_prev_next": False,
}
# Pages without siblings need no list of them.
ALONE = ("index", "tutorial", "glossary", "reproduction", "benchmarks", "examples/species", "examples/clinical-table")
html_sidebars = {name: [] for name in ALONE}
autosummary_generate = True
default_role = "py:obj"  # a name in backticks is a link, if there is a page for it
autodoc_typehints = "none"  # the lists of parameters have them, in words
numpydoc_show_class_members = False
numpydoc_xref_param_type = True
numpydoc_xref_ignore = "all"  # types that have no page are words
numpydoc_xref_aliases = {name: f"blankets.{name}" for name in blankets.__all__ if name[0].isupper()}
DEFAULT_LINKS.clear()  # they lead to other sites
suppress_warnings = ["config.cache"]
sphinx_gallery_conf = {
    "examples_dirs": "../examples/gallery",
    "gallery_dirs": "gallery",
    "filename_pattern": r"plot_",
    "show_memory": False,
    "write_computation_times": False,
    "capture_repr": ("_repr_html_",),  # not the axes that a plot returns
}


# Users make these and give them as arguments; the package calls their methods.
ARGUMENTS = {"Engine", "Noisy", "PositiveUnlabeled", "Predicted", "Reading", "SemiSupervised", "SqlTable"}
ARGUMENTS |= {"Supervised", "Testing"}
# What the package calls of other classes.
INSIDE = {
    "Blanket": {"tell", "to_be_told"},
    "Call": {"of"},
    "Effects": {"cells", "heading", "headings", "held", "model", "of", "outcome_in_words", "several"},
    "Knowledge": {"at", "is_empty", "members", "of"},
    "LatentBlanket": {"picture"},
    "Store": {"measured"},
}


def of_interest(fullname: str, names: Iterable[str]) -> dict[str, Any]:
    """Return what users read or call of a class, by name."""
    module, _, name = fullname.rpartition(".")
    of = getattr(importlib.import_module(module), name)
    left_out = INSIDE.get(name, ())
    return {} if name in ARGUMENTS else {x: inspect.getattr_static(of, x, None) for x in names if x not in left_out}


def described(fullname: str, names: Iterable[str]) -> list[str]:
    """Return the attributes that say what they are; fields are in the list of parameters already."""
    found = of_interest(fullname, names)
    return [x for x, attribute in found.items() if isinstance(attribute, property | cached_property)]


def for_users(fullname: str, names: Iterable[str]) -> list[str]:
    """Return the methods of a class, and how it is stored; not those that it has from scikit-learn or as a mapping."""
    module, _, name = fullname.rpartition(".")
    own = vars(getattr(importlib.import_module(module), name))
    found = {x: getattr(method, "__func__", method) for x, method in of_interest(fullname, names).items()}
    stored = {x for x, method in found.items() if getattr(method, "__module__", "").startswith("blankets.records")}
    return [x for x in found if (x in own or x in stored) and not re.fullmatch("__init__|set_.*_request", x)]


autosummary_context = {"described": described, "for_users": for_users}


def breakable(app: Any, page: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    """Let long names break after dots, brackets and underscores, titles after dots: no phone is wide enough."""
    body = context.get("body", "")
    for long, ends in (
        (r'(?<=<span class="pre">)[^<>\s]{21,}(?=</span>)', r"(?<!\d)[.]|[_(=]"),
        (r"(?<=<h1>)blankets\.[^<>\s]+", "[.]"),
    ):
        body = re.sub(long, lambda found, ends=ends: re.sub(rf"({ends})(?!$)", r"\1<wbr>", found[0]), body)
    context["body"] = body.replace('<span class="sig-paren">(</span>', '<span class="sig-paren">(</span><wbr>')


def without_making(app: Any, what: str, name: str, of: Any, options: Any, signature: str, returned: str) -> Any:
    """Leave out how results are made, which is not for users: the list of their attributes says all."""
    made_by_us = what == "class" and "\nParameters\n" not in inspect.getdoc(of)
    return ("", returned) if made_by_us else None


def setup(app: Any) -> None:
    """Write the pages as text beside the site."""
    app.connect("autodoc-process-signature", without_making)
    app.connect("html-page-context", breakable)
    app.connect("build-finished", lambda app, error: None if error else llms.write(Path(app.outdir)))
