"""The rooms of the house: who may import whom, and where heavy or optional packages may be imported."""

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

import blankets

SOURCE = Path(blankets.__file__).parent

# A room may import the rooms before it.
ORDER = (
    "caching",
    "voice",
    "errors",
    "arguments",
    "kernels",
    "records",
    "data",
    "counting",
    "stats",
    "regimes",
    "independence",
    "simulate",
    "search",
    "filters",
    "latent",
    "planning",
    "results",
    "study",
    "questions",
    "estimators",
    "plots",
    "report",
    "cli",
    "__main__",
)

# Doors that lead up, opened only inside a function: blanket.plot() draws itself.
DOORS = {
    ("latent", "plots"),
    ("latent", "report"),
    ("planning", "plots"),
    ("records", "cli"),  # call.to_command() asks the commands what they are called
    ("records", "the package itself"),  # call.run() calls the public function
    ("results", "plots"),
    ("results", "questions"),
    ("results", "report"),
}

# Packages of the extras: imported inside functions of these rooms only.
OPTIONAL = {
    "dask": {"counting"},
    "distributed": {"counting"},
    "duckdb": {"counting", "data"},
    "matplotlib": {"plots"},
    "pandas": {"data", "planning", "results"},
    "polars": {"data"},
    "pyarrow": {"cli", "data"},
}

# Packages that everybody has but that take long to import, and the rooms that may do so at the top.
HEAVY = {
    "networkx": {"latent", "results", "simulate"},
    "rich": set(),
    "scipy.stats": set(),
    "sklearn": {"estimators"},
}


class Import(NamedTuple):
    """One import of one module: where it stands, and whether it runs when the file is imported."""

    file: str
    line: int
    module: str
    at_top: bool


def imports_of(path: Path) -> Iterator[Import]:
    """Yield the imports of a file; ``from a import b`` counts as ``a.b``, which may be a module."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    later = set()
    for node in ast.walk(tree):
        inside = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        checking = isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        if inside or checking:
            later |= {id(child) for part in node.body for child in ast.walk(part)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            modules = [f"{'.' * node.level}{node.module or ''}.{alias.name}" for alias in node.names]
        else:
            continue
        for module in modules:
            yield Import(str(path.relative_to(SOURCE)), node.lineno, module, id(node) not in later)


def room_of(path: str) -> str:
    """Return the room of a file."""
    return path.split("/")[0].removesuffix(".py")


FILES = sorted(path for path in SOURCE.rglob("*.py"))
EVERY = [found for path in FILES for found in imports_of(path)]


def matching(found: Import, package: str) -> bool:
    return found.module == package or found.module.startswith(f"{package}.")


def at(found: Import) -> str:
    return f"{found.file}:{found.line} imports {found.module}"


def test_every_room_has_its_place():
    rooms = {room_of(str(path.relative_to(SOURCE))) for path in FILES} - {"__init__"}
    assert rooms <= set(ORDER)
    assert len(EVERY) > 50  # the reader of imports does read


def test_rooms_import_only_rooms_before_them():
    wrong = []
    for found in EVERY:
        here = room_of(found.file)
        parts = found.module.split(".")
        if here == "__init__" or parts[0] != "blankets":
            continue
        there = room_of(parts[1]) if len(parts) > 1 and room_of(parts[1]) in ORDER else "the package itself"
        if there == here or ((here, there) in DOORS and not found.at_top):
            continue
        if there == "the package itself":
            if here != "cli":
                wrong.append(at(found))
        elif ORDER.index(there) > ORDER.index(here):
            wrong.append(at(found))
    assert wrong == []


def test_imports_are_absolute():
    assert [at(found) for found in EVERY if found.module.startswith(".")] == []


def test_rooms_do_not_reach_into_private_files_of_others():
    wrong = []
    for found in EVERY:
        here, parts = room_of(found.file), found.module.split(".")
        foreign = parts[0] == "blankets" and len(parts) > 2 and parts[1] != here
        private_file = foreign and (SOURCE / parts[1] / f"{parts[2]}.py").exists() and parts[2].startswith("_")
        if private_file and here != "__init__":
            wrong.append(at(found))
    assert wrong == []


@pytest.mark.parametrize("package", sorted(OPTIONAL))
def test_optional_packages_are_imported_late_and_only_where_allowed(package):
    found = [i for i in EVERY if matching(i, package)]
    # A type checker's import does not run, and is fine anywhere.
    running = [i for i in found if i.at_top or room_of(i.file) not in OPTIONAL[package]]
    assert [at(i) for i in running if not only_for_types(i)] == []


@pytest.mark.parametrize("package", sorted(HEAVY))
def test_heavy_packages_are_imported_late(package):
    found = [i for i in EVERY if matching(i, package) and i.at_top]
    assert [at(i) for i in found if room_of(i.file) not in HEAVY[package]] == []


def only_for_types(found: Import) -> bool:
    tree = ast.parse((SOURCE / found.file).read_text(encoding="utf-8"))
    blocks = [n for n in ast.walk(tree) if isinstance(n, ast.If) and ast.unparse(n.test) == "TYPE_CHECKING"]
    return any(block.lineno <= found.line <= (block.end_lineno or 0) for block in blocks)


def test_the_reader_of_imports_is_not_blind(tmp_path, monkeypatch):
    (tmp_path / "data").mkdir()
    file = tmp_path / "data" / "bad.py"
    file.write_text("from blankets.cli import main\nimport pandas as pd\ndef f():\n    from blankets import results\n")
    monkeypatch.setitem(globals(), "SOURCE", tmp_path)
    found = list(imports_of(file))
    assert [(i.module, i.at_top) for i in found] == [
        ("blankets.cli.main", True),
        ("pandas", True),
        ("blankets.results", False),
    ]
