"""Each room of the package has a short README; what it and CONTRIBUTING name exists."""

import re

import pytest

from docs.pages import ROOT

SOURCE = ROOT / "src" / "blankets"
ROOMS = sorted(path.parent for path in SOURCE.glob("*/__init__.py"))


def name_of(room):
    return room.name


def readme(room):
    return (room / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("room", ROOMS, ids=name_of)
def test_a_room_says_what_it_is(room):
    lines = readme(room).splitlines()
    assert room.name in lines[0]
    assert 5 <= len(lines) <= 25


@pytest.mark.parametrize("room", ROOMS, ids=name_of)
def test_files_that_a_room_names_exist(room):
    named = re.findall(r"`([\w/]+\.(?:py|js|css))`|`(tests/[\w/.]+)`", readme(room))
    paths = [one or other for one, other in named]
    assert [path for path in paths if not any((top / path).exists() for top in (room, SOURCE, ROOT))] == []


@pytest.mark.parametrize("room", ROOMS, ids=name_of)
def test_names_that_a_room_mentions_are_defined(room):
    code = "\n".join(path.read_text(encoding="utf-8") for path in sorted(SOURCE.rglob("*.py")))
    rooms = {other.name for other in ROOMS}
    names = set(re.findall(r"`(?:\w+\.)*([A-Za-z_]\w{3,})(?:\([^`]*\))?`", readme(room))) - rooms
    unknown = {name for name in names if not re.search(rf"\b(?:class|def) {name}\b|\b{name}\b\s*[:=(]", code)}
    assert unknown == set()


CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")


def test_the_walk_of_discover_is_short():
    walk = CONTRIBUTING.split("## The walk of")[1].split("\n## ")[0]
    files = set(re.findall(r"`(\w+/\w+\.py)`", walk))
    steps = re.findall(r"^\d+\. ", walk, flags=re.MULTILINE)
    objects = re.findall(r"`(\w+)`", walk.rpartition("The objects on the way:")[2])
    assert 15 <= len(files) <= 20
    assert len(steps) == len(set(objects)) == len(objects) == 12
    assert [file for file in files if not (SOURCE / file).exists()] == []


def test_contributing_names_every_room_and_files_that_exist():
    assert {room.name for room in ROOMS} <= set(re.findall(r"\[`(\w+)`\]\(src/blankets/\1/README\.md\)", CONTRIBUTING))
    paths = re.findall(r"`((?:src/blankets|tests)/[\w/.]+|\w+/_?\w+\.py)`", CONTRIBUTING)
    assert len(paths) > 20
    assert [path for path in paths if not any((top / path).exists() for top in (ROOT, SOURCE))] == []
