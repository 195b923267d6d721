"""The names that users import, and that importing them late costs nothing before."""

import inspect
import json
import subprocess
import sys
from importlib import import_module
from importlib.metadata import version
from pkgutil import iter_modules

import pytest

import blankets

ROOMS = sorted(module.name for module in iter_modules(blankets.__path__) if module.ispkg)


def in_a_fresh_process(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout


def test_all_is_sorted_and_true():
    assert list(blankets.__all__) == sorted(blankets.__all__)
    for name in blankets.__all__:
        assert getattr(blankets, name) is not None
    assert dir(blankets) == sorted([*blankets.__all__, "__version__"])


@pytest.mark.parametrize("room", ROOMS)
def test_all_of_each_room_is_sorted_and_true(room):
    module = import_module(f"blankets.{room}")
    assert list(module.__all__) == sorted(module.__all__)
    assert [name for name in module.__all__ if not hasattr(module, name)] == []


def test_lazy_names_are_those_that_type_checkers_see():
    late = {name for name in blankets.__all__ if name not in blankets._ROOMS}
    assert late == {name for names in blankets._HOMES.values() for name in names.split()}
    source = inspect.getsource(blankets)
    seen = source[source.index("if TYPE_CHECKING:") : source.index("__version__ =")]
    assert [name for name in blankets.__all__ if name not in seen] == []


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="module 'blankets' has no attribute 'discovr'"):
        _ = blankets.discovr


def test_version_is_the_installed_one():
    assert blankets.__version__ == version("blankets")


@pytest.mark.parametrize("module", ["blankets", "blankets.cli"])
def test_importing_loads_nothing_heavy(module):
    code = f"import sys, json, {module}; print(json.dumps(sorted(sys.modules)))"
    loaded = set(json.loads(in_a_fresh_process(code)))
    heavy = {"numpy", "scipy", "sklearn", "pandas", "polars", "pyarrow", "matplotlib", "networkx", "rich"}
    assert module in loaded
    assert loaded & heavy == set()


def test_public_functions_and_classes_are_documented():
    undocumented = [name for name in blankets.__all__ if not inspect.getdoc(getattr(blankets, name))]
    assert undocumented == []
    for name in ("discover", "discover_all", "Blanket"):
        assert "Examples\n--------" in inspect.getdoc(getattr(blankets, name))


def public_names():
    """Yield every class and function that users are offered, with its name."""
    for home in ("blankets", "blankets.plots", "blankets.simulate", "blankets.simulate.measures"):
        module = import_module(home)
        yield from ((f"{home}.{name}", getattr(module, name)) for name in module.__all__)


@pytest.mark.parametrize(("name", "thing"), [(n, thing) for n, thing in public_names() if callable(thing)])
def test_every_public_name_has_an_example(name, thing):
    assert ">>> " in (inspect.getdoc(thing) or ""), name  # which the doctests run
