"""Compiled kernels are forgotten when a source that may be inside them has changed."""

import os

from blankets._compiled_code import ROOMS, forget_stale_kernels


def made_package(folder):
    for room in ROOMS:
        (folder / room / "__pycache__").mkdir(parents=True)
        (folder / room / "code.py").write_text("x = 1")
        (folder / room / "__pycache__" / "code.f.nbi").write_text("index")
        (folder / room / "__pycache__" / "code.f.1.nbc").write_text("code")
        (folder / room / "__pycache__" / "code.pyc").write_text("python")
    return folder


def compiled(folder):
    return sorted(folder.rglob("*.nb[ic]"))


def test_kept_while_nothing_changes(tmp_path):
    package = made_package(tmp_path)
    assert not forget_stale_kernels(package)
    (package / ROOMS[0] / "__pycache__" / "code.f.nbi").write_text("index")
    assert forget_stale_kernels(package)
    assert [path.name for path in compiled(package)] == ["code.f.nbi"]


def test_all_rooms_forget_when_one_source_changes(tmp_path):
    package = made_package(tmp_path)
    forget_stale_kernels(package)
    for room in ROOMS:
        (package / room / "__pycache__" / "code.f.nbi").write_text("index")
    source = package / ROOMS[-1] / "code.py"
    source.write_text("x = 2")
    os.utime(source, ns=(1, 1))
    assert not forget_stale_kernels(package)
    assert compiled(package) == []
    assert len(list(package.rglob("*.pyc"))) == len(ROOMS)


def test_a_package_that_cannot_be_written_is_left_alone(tmp_path):
    package = made_package(tmp_path)
    (package / "__pycache__").write_text("a file where a folder is wanted")
    assert not forget_stale_kernels(package)
    assert len(compiled(package)) == 2 * len(ROOMS)
