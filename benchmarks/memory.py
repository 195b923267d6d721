"""Peak memory of a search above the bare program, against 1.5 times the packed data plus 200 MB.

    python benchmarks/memory.py
    python benchmarks/memory.py --data DIR

Each case is a fresh process: import and warm up on a tiny table (the baseline), make the data without large
temporaries, search. The peak is the high-water mark of resident memory, data included. With ``--data`` (a folder
with highdim/thrombin_train_X.npz and its labels) also Thrombin from the file, of which the whole process counts,
against 1 GB.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from _timing import announce, parser, table, write_json

MB = 1e6
LIMIT = 300.0  # seconds a case may take
Search = tuple[Any, str]  # a frame and an algorithm


def dense(small: bool) -> Search:
    from _data import planted

    return planted(100_000 if small else 1_000_000, 50, (2, 3, 4, 5, 6)), "inter-iamb"


def dense_two_phase(small: bool) -> Search:
    return dense(small)[0], "pcmb"


def wide(small: bool) -> Search:
    from _data import planted

    return planted(5_000, 5_000 if small else 50_000, (3,)), "inter-iamb"


def sparse(small: bool) -> Search:
    from _data import sparse as made

    return made(2_000, 14_000 if small else 140_000, 0.007), "inter-iamb"


CASES: dict[str, tuple[str, Callable[[bool], Search]]] = {
    "dense": ("1,000,000 x 50 of 2 to 6 levels, inter-IAMB", dense),
    "dense-pcmb": ("1,000,000 x 50 of 2 to 6 levels, PCMB", dense_two_phase),
    "wide": ("5,000 x 50,000 of 3 levels, inter-IAMB", wide),
    "sparse": ("2,000 x 140,000 with 0.7% ones, inter-IAMB", sparse),
}


def peak() -> float:
    """Return the high-water mark of resident memory of this process, in bytes."""
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return float(most if sys.platform == "darwin" else most * 1024)


def child(name: str, small: bool, data: Path | None) -> None:
    """Run one case in this process and print what it took."""
    import blankets as bl
    from _data import TARGET, packed_bytes, planted

    warnings.simplefilter("ignore")
    for arities in ((2, 3, 7), (3,)):  # both kernels
        bl.discover(planted(2_000, 30, arities), TARGET, algorithm="inter-iamb", n_jobs=2)
    baseline = peak()
    if name == "thrombin":
        from speed import Bench

        frame, algorithm = Bench(None, data, 2, small).load_thrombin(), "inter-iamb"
        target = frame.names[-1]
    else:
        frame, algorithm = CASES[name][1](small)
        target = TARGET
    loaded = peak()
    bl.discover(frame, target, algorithm=algorithm, n_jobs=2)
    packed = packed_bytes(frame)
    print(json.dumps({"packed": packed, "baseline": baseline, "loaded": loaded, "peak": peak()}))


def run(name: str, small: bool, data: Path | None) -> dict[str, Any]:
    command = [sys.executable, __file__, "--child", name, *(["--small"] if small else [])]
    command += ["--data", str(data)] if data is not None else []
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=LIMIT)
    if done.returncode:
        sys.exit(f"the case {name} failed:\n{done.stderr}")
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    if name == "thrombin":
        return {"case": "Thrombin from the file, inter-IAMB", **found, "used": found["peak"], "most": 1e9}
    what = f"a tenth of {CASES[name][0]}" if small else CASES[name][0]
    return {"case": what, **found, "used": found["peak"] - found["baseline"], "most": 1.5 * found["packed"] + 200 * MB}


def main() -> int:
    options_of = parser(__doc__)
    options_of.add_argument("--data", type=Path, help="folder with highdim/thrombin_train_X.npz and its labels")
    options_of.add_argument("--only", choices=[*CASES, "thrombin"])
    options_of.add_argument("--small", action="store_true", help="a tenth of the data: to see that it works")
    options_of.add_argument("--check", action="store_true", help="fail if a bound is not kept")
    options_of.add_argument("--child", help="run this case in this process (used by the benchmark itself)")
    options = options_of.parse_args()
    if options.child:
        child(options.child, options.small, options.data)
        return 0

    here = announce("Peak memory of a search, in MB")
    names = [options.only] if options.only else [*CASES, *(["thrombin"] if options.data else [])]
    run("sparse", True, None)
    rows = [run(name, options.small, options.data) for name in names]
    heads = ["case", "packed data", "program", "used", "at most", "kept"]
    cells = []
    for row in rows:
        sizes = [f"{row[k] / MB:,.0f}" for k in ("packed", "baseline", "used", "most")]
        cells.append([row["case"], *sizes, "yes" if row["used"] <= row["most"] else "NO"])
    print(table(heads, cells))
    write_json(options.json, {"benchmark": "memory", "machine": here, "results": rows})
    return int(options.check and any(row["used"] > row["most"] for row in rows))


if __name__ == "__main__":
    sys.exit(main())
