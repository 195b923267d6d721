"""Compiles the kernels when the package is built.

The files of `blankets.kernels` are joined into two modules, which are compiled side by side; the words of their types
become those of Cython, and Cython and a C compiler make an extension of each. Where there is no compiler, pip is asked
for one (ziglang); where that is not to be had either, the package is built without, and the kernels run as the Python
files that they are.
"""

from __future__ import annotations

import os
import platform
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

ROOT = Path(__file__).resolve().parent
KERNELS = ROOT / "src" / "blankets" / "kernels"
# Functions of one module cannot be called from the other without Python, so each has all files that it needs.
MODULES = {
    "_compiled_tables": (
        "_formula _room _rows _bits _tail _statistics _permute _cells _moments _answers _holes _questions _joint "
        "_subsets"
    ).split(),
    "_compiled_numbers": "_tail _blocks _ranks _networks _machine".split(),
}
SHARED = ("DEGREES", "DRAWN_AT_ONCE", "FEW_LEVELS", "MOST_LANES", "SMALL")  # constants that C reads, too
UNCOMPILED = "BLANKETS_UNCOMPILED"  # set: do not compile
FLAGS = "BLANKETS_CFLAGS"  # for the compiler, after ours

HEAD = """\
# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True
# cython: infer_types=True, nonecheck=False, embedsignature=False
cimport cython
from libc.math cimport INFINITY, NAN, atan, erfc, exp, floor, lgamma, log, log1p, sqrt, tan
from libc.stdint cimport int32_t as int32, int64_t as int64
from libc.stdint cimport uint8_t as uint8, uint32_t as uint32, uint64_t as uint64
ctypedef double float64
cdef extern from *:
    '''
    #define whole(number) ((int64_t)(number))
    '''
    int64 whole(double number) nogil
cdef extern from "_words.h":
    int64 popcount(uint64 word) nogil
    uint64 rows_of_level(const unsigned char *codes, int64 n, unsigned char level) nogil
    int64 common_words(const uint64 *a, const uint64 *b, int64 n) nogil
cdef extern from "_lanes.h":
    void count_lanes(
        const unsigned char *codes, int64 n_rows, const int64 *columns, const unsigned char *levels,
        const int64 *places, int64 n_lanes, const uint32 *slots, int64 n_slots, const uint32 *owner, int64 n_cells,
        unsigned char *table, int32 *counts
    ) nogil
cdef extern from "_sums.h":
    int64 sum_of_strata(
        const int32 *counts, int64 n_x, int64 n_y, int64 n_z, const int64 *terms, int64 n_terms, double unit,
        const int64 *y_part, const int32 *y_seen, int64 *free
    ) nogil
    int64 margins_of_strata(
        const int32 *counts, int64 n_x, int64 n_y, int64 n_z, const int32 *y_seen, const int32 *size,
        const int64 *y_few, const int64 *y_most, const uint64 *y_keys, int64 few_levels, int64 width, int64 *rows,
        int64 *order, int64 *rarest, uint64 *keys, double *least, int64 *movable, const double *known, int64 shift
    ) nogil
    int64 moments_of_stratum(
        const int64 *rows, int64 n_x, const int64 *values, const double *times, int64 n_y, const double *cells,
        const double *roots, double *moments
    ) nogil
cdef extern from "_draws.h":
    void draw_strata(
        const int64 *rows, const int64 *columns, const int64 *order, int64 n, int64 width, int64 stride, uint64 *states,
        int64 *sums, int64 *before, const int64 *terms, int64 n_terms, double unit, int64 observed, int64 slack,
        int64 most, int64 enough, double level, int64 *n_hits, int64 *n_larger, int64 *n_drawn
    ) nogil
import numpy as np
"""
ITEMS = {
    "Bytes": "cython.uchar",
    "Counts": "int32",
    "Codes": "uint32",
    "Words": "uint64",
    "Ints": "int64",
    "Reals": "cython.double",
}
WORDS = {
    r"-> (?:None|bool|int|float|Ints|Reals|tuple\[.*\]):$": ":",
    r"^@inner\nclass": "@cython.cclass\nclass",
    r"^@inner\n": "@cython.cfunc\n@cython.inline\n@cython.nogil\n@cython.exceptval(check=False)\n",
    r"(?<![.\w])view\(": "(",
    r"^( *)if not cython\.compiled:\n(?:\1 .*\n)+": "",
    r"(?<=: |> )(bint|void)\b": r"cython.\1",
    r"(?<=: |> )float64\b": "cython.double",
}


def joined(files: list[str]) -> str:
    """Return some kernels as one source for Cython."""
    text = "".join((KERNELS / f"{name}.py").read_text("utf-8") for name in files)
    text = re.sub(
        r"^(?:import \w+|from [\w.]+ import (?:\([^)]*\)|.*)|__all__ = \[[^]]*\]|@door)\n", "", text, flags=re.M
    )
    for name, value in constants(text).items():
        text = re.sub(rf"^{name}: .*\n", "", text, flags=re.M)
        text = re.sub(rf"\b{name}\b", f"({value})", text)
    for words, meant in WORDS.items():
        text = re.sub(words, meant, text, flags=re.M)
    return HEAD + re.sub(r"(?<=: |> )(New)?(" + "|".join(ITEMS) + r")([234]?)(?=[ ,)\n])", _array, text)


def constants(text: str) -> dict[str, str]:
    """Return the constants of kernels, as they are written."""
    return dict(re.findall(r"^(\w+): (?:int64|float64) = (.*?) *(?:#.*)?\n", text, flags=re.M))


def _array(word: re.Match[str]) -> str:
    item = ITEMS[word[2]] if word[1] else f"cython.const[{ITEMS[word[2]]}]"
    return f"{item}[{':, ' * (int(word[3] or 1) - 1)}::1]"


def compiler() -> list[str] | None:
    """Return the command of a C compiler: the one that CC names, that of the system, or ziglang's; None: by setuptools.

    Raises `FileNotFoundError` if there is none.
    """
    if os.environ.get("CC"):
        return shlex.split(os.environ["CC"])
    if sys.platform == "win32" or shutil.which("cc"):
        return None
    if find_spec("ziglang") is None:
        raise FileNotFoundError("no C compiler was found")
    return [sys.executable, "-m", "ziglang", "cc"]


def ziglang_is_to_be_had() -> bool:
    """Tell whether pip, outside of the environment of this build, would find it."""
    outside = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    ask = [sys.executable, "-m", "pip", "install", "--dry-run", "--quiet", "--no-deps", "--ignore-installed", "ziglang"]
    try:
        return subprocess.run(ask, env=outside, capture_output=True, timeout=120, check=False).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


def compiled(folder: Path) -> list[Path]:
    """Compile the kernels; return the extensions."""
    from Cython.Build import cythonize
    from setuptools import Distribution, Extension
    from setuptools.command.build_ext import build_ext

    command = compiler()
    if command is not None:
        words = " ".join(shlex.quote(word) for word in command)
        os.environ |= {"CC": words, "LDSHARED": f"{words} -shared"}
    for name, files in MODULES.items():
        (folder / f"{name}.pyx").write_text(joined(files), "utf-8")
    flags = "-O3 -g0 -funroll-loops -ffp-contract=off -fno-math-errno -w".split()
    if sys.platform == "win32":
        flags = ["/O2"]
    elif platform.machine() in ("x86_64", "AMD64"):
        zig = any(Path(word).stem in ("zig", "ziglang") for word in command or ())
        flags.append("-march=x86_64_v2" if zig else "-march=x86-64-v2")
    own = shlex.split(os.environ.get(FLAGS, ""))
    known = constants("".join(file.read_text("utf-8") for file in sorted(KERNELS.glob("_[a-z]*.py"))))
    modules = [
        Extension(
            f"blankets.kernels.{name}",
            [str(folder / f"{name}.pyx")],
            include_dirs=[str(KERNELS)],
            define_macros=[(name, known[name]) for name in SHARED],
            extra_compile_args=flags + own,
            extra_link_args=own,
        )
        for name in MODULES
    ]
    build = build_ext(Distribution({"ext_modules": cythonize(modules, build_dir=str(folder), quiet=True)}))
    build.parallel = len(modules)
    build.build_lib, build.build_temp = str(folder / "lib"), str(folder / "temp")
    build.ensure_finalized()
    build.run()
    return [Path(build.get_ext_fullpath(module.name)) for module in modules]


class CustomBuildHook(BuildHookInterface):
    """Puts the compiled kernels into the wheel, or, for an editable one, beside their source."""

    def dependencies(self) -> list[str]:
        """Ask for a compiler where there is none."""
        try:
            compiler()
        except FileNotFoundError:
            return ["ziglang"] if not os.environ.get(UNCOMPILED) and ziglang_is_to_be_had() else []
        return []

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile. Only an editable install changes the source tree: others may be using it."""
        editable = version == "editable"
        for old in KERNELS.glob("_compiled*") if editable else ():
            old.unlink()
        if self.target_name != "wheel" or os.environ.get(UNCOMPILED):
            return
        self.folder = tempfile.TemporaryDirectory()
        try:
            made = compiled(Path(self.folder.name))
        except Exception as problem:  # noqa: BLE001
            self.app.display_warning(f"The kernels are not compiled, and will be slow: {problem}")
            return
        for extension in made:
            if editable:
                shutil.copy(extension, KERNELS / extension.name)
            else:
                build_data["force_include"][str(extension)] = f"blankets/kernels/{extension.name}"
        build_data["pure_python"], build_data["infer_tag"] = False, True

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove what the compiler wrote."""
        if hasattr(self, "folder"):
            self.folder.cleanup()
