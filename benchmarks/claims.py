"""What an answer claims, against tables whose truth is known.

    python benchmarks/claims.py effects|time|... [--draws N] [--seed N]

*effects*: coverage of the printed intervals of true members, the mean printed estimate as a multiple of the truth, and
the width as a multiple of the plain interval's, in 20 designs. The truth is the effect given the members of the answer:
where a true member was missed, what others tell of it is theirs. *time*: how often rows in time are noticed.
"""

from __future__ import annotations

import argparse
import os
import warnings
from collections.abc import Callable, Iterator

os.environ.setdefault("OMP_NUM_THREADS", "1")
import numpy as np

import blankets as bl

Table = dict[str, np.ndarray]


def drawn(kind: str, rng: np.random.Generator, n: int, b: float, m: int, k: int, share: float) -> tuple[Table, Table]:
    """Return a table with target y and, for each true member, its functions with their part of the index."""
    numbers = kind in ("numbers", "classes", "counts", "long tails", "correlated", "mixed")
    if kind == "counts":
        columns = rng.poisson(3, (m, n)) / np.sqrt(3)
    elif kind == "correlated":
        columns = 0.6 * rng.normal(size=n) + 0.8 * rng.normal(size=(m, n))
    else:
        columns = rng.normal(size=(m, n)) if numbers else rng.integers(0, 2, (m, n)) - 0.5
    if kind == "three levels":
        columns = np.array([-0.5, 0.0, 0.5])[rng.integers(0, 3, (m, n))]
    if kind == "mixed":
        columns[k // 2 : m // 2] = 2 * (rng.integers(0, 2, columns[k // 2 : m // 2].shape) - 0.5)
    index = b * columns[:k].sum(axis=0)
    words = {-1.0: "no", -0.5: "no", 0.0: "some", 0.5: "yes", 1.0: "yes"}
    category = [len(np.unique(column)) <= 3 for column in columns]
    table = {
        f"x{j}": np.array([words[v] for v in column]) if category[j] else column for j, column in enumerate(columns)
    }
    if kind in ("numbers", "counts", "long tails", "correlated", "mixed"):
        noise = rng.standard_t(4, n) / np.sqrt(2) if kind == "long tails" else rng.normal(size=n)
        table["y"] = index + noise
    else:
        table["y"] = rng.random(n) < 1 / (1 + np.exp(-index - np.log(share / (1 - share))))
    return table, {f"x{j}": columns[j] for j in range(m)}


DESIGNS = [
    *(("numbers", 500, b, 12, 6, 0.5) for b in (0.08, 0.12, 0.16, 0.25)),
    *(("numbers", n, b, 12, 6, 0.5) for n, b in ((200, 0.25), (2000, 0.05), (2000, 0.1))),
    *(("classes", n, b, 12, 6, 0.5) for n, b in ((200, 0.5), (500, 0.25), (500, 0.5), (2000, 0.15))),
    *(("classes", n, b, 100, 4, 0.5) for n, b in ((200, 0.8), (500, 0.5), (2000, 0.3))),
    ("classes", 500, 0.6, 100, 4, 0.1),
    *(("categories", n, b, 12, 4, 0.5) for n, b in ((200, 1.2), (500, 0.7), (2000, 0.35))),
    ("three levels", 1000, 0.8, 12, 4, 0.5),
    *(("mixed", n, b, 12, 6, 0.5) for n, b in ((500, 0.12), (500, 0.2))),
    ("counts", 500, 0.14, 12, 4, 0.5),
    ("long tails", 500, 0.14, 12, 6, 0.5),
    ("correlated", 500, 0.15, 12, 6, 0.5),
]


def effects(draws: int, rng: np.random.Generator) -> Iterator[str]:
    """Yield coverage of effects of members in each design."""
    total = []
    yield f"{'design':32}  members  covers  plain  estimate/true  plain  width/plain  | false members: covers  plain"
    for design in DESIGNS:
        kind, n, b, m, k, share = design
        rows: list[list[float]] = []
        for _ in range(draws):
            table, columns = drawn(kind, rng, n, b, m, k, share)
            found = bl.discover(table, "y", audit=False)
            if found.effects is None:
                continue
            members = [int(name[1:]) for name in found.members]
            for name in found.members:
                one = found.effects.of(name)
                if one is None or not one.limited or "to" in one.compared.split(" vs ")[-1]:
                    continue
                true = int(name[1:]) < k
                unit = columns[name].std() if one.compared.startswith("per") else _contrast(one.compared)
                truth = (
                    b * unit * (2.0 if kind == "mixed" and not one.compared.startswith("per") else 1.0) if true else 0.0
                )
                if (
                    kind == "correlated"
                ):  # all columns have the correlation 0.36: what missed members tell by the others
                    missed = k - sum(j < k for j in members)
                    truth += b * unit * missed * 0.36 / (1 + 0.36 * (len(members) - 1))
                log = np.log if found.effects.measure != "difference" else np.asarray
                sign = -1.0 if found.effects.outcome.lower() in ("false", "no", "0") else 1.0
                made = sign * log([one.estimate, one.low, one.high])
                plain = sign * log(list(one.plain or (one.estimate, one.low, one.high)))
                inside = [min(e[1:]) <= truth <= max(e[1:]) for e in (made, plain)]
                ratio = [made[0] / truth, plain[0] / truth] if true else [np.nan] * 2
                width = abs(made[2] - made[1]) / abs(plain[2] - plain[1])
                rows.append([float(true), *inside, *ratio, width])
        got = np.array(rows).reshape(-1, 6)
        total.append(got)
        yield _line(f"{kind} {n} rows {m} columns {b:g}", got)
    yield _line("all", np.concatenate(total))


def _contrast(compared: str) -> float:
    words = {"no": -0.5, "some": 0.0, "yes": 0.5}
    one, other = compared.split(" vs ")
    return words[one] - words[other]


def _line(name: str, got: np.ndarray) -> str:
    true, false = got[got[:, 0] == 1], got[got[:, 0] == 0]
    a, b = true.mean(axis=0), false[:, 1:3].mean(axis=0) if len(false) else [np.nan] * 2
    return (
        f"{name:32}  {len(true):7}  {a[1]:6.3f}  {a[2]:5.3f}  {a[3]:13.2f}  {a[4]:5.2f}  {a[5]:11.2f}  | "
        f"{len(false):13}  {b[0]:6.2f}  {b[1]:5.2f}"
    )


def time(draws: int, rng: np.random.Generator) -> Iterator[str]:
    """Yield shares of tables in which rows in time are noticed."""

    def series(n: int, m: int, a: float) -> np.ndarray:
        x = rng.normal(size=(m, n))
        for t in range(1, n):
            x[:, t] = a * x[:, t - 1] + np.sqrt(1 - a * a) * x[:, t]
        return x

    def noticed(table: Table) -> bool:
        return any(one.kind == "rows in time" for one in bl.discover(table, "x0").checks)

    yield "design                          in order  shuffled"
    for kind, n, a in (
        *(("series", n, a) for n, a in ((200, 0.6), (200, 0.8), (500, 0.5), (1000, 0.95))),
        ("classes", 200, 0.8),
        ("sorted by the target", 500, 0.0),
        ("sorted by a member", 500, 0.0),
    ):
        seen = np.zeros(2)
        for _ in range(draws):
            x = series(n, 8, a)
            if kind.startswith("sorted"):
                x[0] += x[1] ** 2 + x[2]
                x = x[:, np.argsort(x[0] if kind.endswith("target") else x[1])]
            order = rng.permutation(n)
            for i, some in enumerate((x, x[:, order])):
                named = {
                    f"x{j}": column > 0 if kind == "classes" and j < 2 else column for j, column in enumerate(some)
                }
                seen[i] += noticed(named)
        yield f"{kind:22} {n:4} {a:4.2f}  {seen[0] / draws:7.2f}  {seen[1] / draws:8.3f}"


QUESTIONS: dict[str, Callable[[int, np.random.Generator], Iterator[str]]] = {"effects": effects, "time": time}


def main() -> None:
    """Ask the questions that were named."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("questions", nargs="+", choices=QUESTIONS)
    parser.add_argument("--draws", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    for name in args.questions:
        for line in QUESTIONS[name](args.draws, np.random.default_rng(args.seed)):
            print(line, flush=True)


if __name__ == "__main__":
    main()
