"""A machine on which nothing can be written: a read-only install, no home, no folder for temporary files."""

import os
import shutil
import subprocess
import sys

import pytest

# Work that needs no file, and work that does: it says so in an error of ours.
WORK = """
import numpy as np
import blankets as bl

rng = np.random.default_rng(0)
a = rng.integers(0, 3, 400)
table = {"a": a, "b": rng.integers(0, 2, 400), "t": ((a > 0) ^ (rng.random(400) < 0.1)).astype(int)}
blanket = bl.discover(table, "t")
assert blanket.members == ("a",), blanket
assert bl.discover_all(table)["t"].members == ("a",)
assert bl.test(table, "a", "t").p < 0.01
assert bl.rank(table, "t").names[0] == "a"
assert "a" in str(blanket.explain("a")) + blanket.to_json()
for write in (
    lambda: bl.pack(table, FOLDER + "/store"),
    lambda: blanket.to_json(FOLDER + "/blanket.json"),
    lambda: blanket.report(FOLDER + "/blanket.html"),
    lambda: bl.discover_all(table, engine=bl.Engine(checkpoint=FOLDER + "/answers")),
    lambda: bl.discover(FOLDER, "t"),  # a folder of files is packed first
):
    try:
        write()
    except bl.errors.BlanketsError as error:
        assert not isinstance(error, bl.errors.InternalError), repr(error)
    else:
        raise SystemExit("that was written")
print("done")
"""

# Whatever opens a file to write, or makes, moves or removes one, is told that it may not.
REFUSE = """
import os, sys

def refuse(event, arguments):
    writes = event in ("os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.link", "os.symlink", "os.truncate")
    if event == "open":
        path, mode, flags = arguments
        writes = flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT) and path != os.devnull and not isinstance(path, int)
    if writes:
        raise PermissionError(30, "Read-only file system", str(arguments[0]))

sys.addaudithook(refuse)
"""

# All that is mounted, mounted again without the right to write, in a namespace of this process alone.
MOUNTS = r"""
mount --make-rprivate / && cut -d ' ' -f 2,4 /proc/mounts | while read -r place options; do
  kept=$(echo "$options" | tr , '\n' | grep -E '^(nosuid|nodev|noexec|noatime|relatime)$' | paste -sd ,)
  mount -o "remount,bind,ro${kept:+,$kept}" "$place" 2>/dev/null
done
if touch "$0/written" 2>/dev/null; then exit 99; fi
exec "$@"
"""


@pytest.fixture
def folder(tmp_path):
    for part in "ab":
        (tmp_path / f"{part}.csv").write_text("a,t\n" + "0,1\n1,0\n1,1\n0,0\n" * 20)
    return tmp_path


def environment():
    nowhere = {"HOME": "/nonexistent", "XDG_CACHE_HOME": "/nonexistent", "MPLCONFIGDIR": "/nonexistent"}
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("TMP", "TEMP", "COV"))}
    return {**inherited, **nowhere, "PYTHONDONTWRITEBYTECODE": "1"}


def test_no_file_may_be_written(folder):
    program = f"{REFUSE}\nFOLDER = {str(folder)!r}\n{WORK}"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment())
    assert done.stdout == "done\n", done.stderr
    assert sorted(path.name for path in folder.iterdir()) == ["a.csv", "b.csv"]


def test_read_only_mounts(folder):
    if shutil.which("unshare") is None:
        pytest.skip("needs unshare")
    program = f"FOLDER = {str(folder)!r}\n{WORK}"
    command = ["unshare", "-rm", "sh", "-c", MOUNTS, str(folder), sys.executable, "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, env=environment())
    if done.returncode == 99 or "unshare" in done.stderr:
        pytest.skip("this system does not let us mount")
    assert done.stdout == "done\n", done.stderr
