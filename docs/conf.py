"""Sphinx: `pip install -e '.[docs]' && sphinx-build -W docs docs/_build/html`."""

import importlib
import inspect
import sys
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path
from typing import Any

from docutils import nodes

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
suppress_warnings = ["config.cache"]
sphinx_gallery_conf = {
    "examples_dirs": "../examples/gallery",
    "gallery_dirs": "gallery",
    "filename_pattern": r"plot_",
    "show_memory": False,
    "write_computation_times": False,
    "capture_repr": ("_repr_html_",),  # not the axes that a plot returns
}


def described(fullname: str, names: Iterable[str]) -> list[str]:
    """Return the attributes that say what they are; fields are in the list of parameters already."""
    module, _, name = fullname.rpartition(".")
    found = {x: inspect.getattr_static(getattr(importlib.import_module(module), name), x, None) for x in names}
    return [x for x, attribute in found.items() if isinstance(attribute, property | cached_property)]


autosummary_context = {"described": described}


def break_after_dots(app: Any, doctree: Any) -> None:
    """Let the title of a name, blankets.LatentBlanket, break after its dot: no phone is wide enough for it."""
    title = doctree.next_node(nodes.title)
    if app.env.docname.startswith("generated/") and title is not None:
        title[:] = [nodes.Text(title.astext().replace(".", ".\u200b"))]


def without_factories(app: Any, what: str, name: str, of: Any, options: Any, signature: str, returned: str) -> Any:
    """Leave out how results are made, which is not for users: the list of their attributes says all."""
    return ("", returned) if what == "class" and "<factory>" in (signature or "") else None


def setup(app: Any) -> None:
    """Write the pages as text beside the site."""
    app.connect("autodoc-process-signature", without_factories)
    app.connect("doctree-read", break_after_dots)
    app.connect("build-finished", lambda app, error: None if error else llms.write(Path(app.outdir)))
