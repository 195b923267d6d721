"""What an answer claims, against tables whose truth is known.

    python benchmarks/claims.py effects|time|... [--draws N] [--seed N]

*effects*: coverage of the printed intervals of true members, the mean printed estimate as a multiple of the truth, and
the width as a multiple of the plain interval's, in 23 designs. The truth is the effect given the members of the answer:
where a true member was missed, what others tell of it is theirs. *time*: how often rows in time are noticed.
*confirm*: shares of tables with any false sentence, where nothing matters, and where weak members do. *adjust*:
coverage of the effect of a treatment, and its variance as a share of that of adjusting for all columns. *directions*:
how many statements about directions are true where causes are hidden, and how many could be made.
"""

from __future__ import annotations

import argparse
import os
import warnings
from collections.abc import Iterator

os.environ.setdefault("OMP_NUM_THREADS", "1")
import numpy as np

import blankets as bl
from blankets.stats import treatment_effect

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


def confirm(draws: int, rng: np.random.Generator) -> Iterator[str]:
    """Yield shares of tables of which a column is falsely said to matter, at 0.05."""
    yield "design                      tables with members  confirmed a member  false sentences (of 0.05)"
    for kind, n, b in (("numbers", 300, 0.0), ("numbers", 500, 0.1), ("classes", 500, 0.2), ("categories", 600, 0.5)):
        said = np.zeros(3)
        for seed in range(draws):
            table, _ = drawn(kind, rng, n, b, 30, 3 if b else 0, 0.5)
            found = bl.discover(table, "y", alpha=0.1, confirm=0.4, audit=False, rng=seed)
            some = [] if found.confirmation is None else [int(name[1:]) for name in found.confirmation.confirmed]
            said += [len(found) > 0, bool(some), any(j >= (3 if b else 0) for j in some)]
        one, two, three = said / draws
        yield f"{kind:12} {n:5} {b:6.2f}  {one:20.3f}  {two:18.3f}  {three:24.3f}"


def adjust(draws: int, rng: np.random.Generator) -> Iterator[str]:
    """Yield coverage and variance of effects of a treatment; pool: instruments, confounders, precision, noise."""
    yield "treatment outcome  rows  weak  covers  efficient  nothing  bias    variance: union/all  efficient/all"
    designs = [
        (kind, out, n, weak)
        for kind in ("number", "class", "mixed")
        for out in ("number", "class")
        for n, weak in ((500, 0.1), (500, 0.0), (1000, 0.2), (2000, 0.05), (2000, 0.1))
    ]
    for kind, out, n, weak in designs:
        rows = []
        for seed in range(draws):
            common = 0.5 * rng.normal(size=n)
            pool = {
                f"{a}{i}": common + rng.normal(size=n)
                for a, k in zip("icpn", (4, 4, 4, 8), strict=True)
                for i in range(k)
            }
            if kind == "mixed":
                pool = {name: np.sign(v) if name[1] in "02" else v for name, v in pool.items()}
            size = 0.5 if out == "number" else 0.3
            ease = 0.5 if kind == "number" else 0.35
            strong = [0.4, 0.4, weak, weak]
            sums = {
                a: sum(b * pool[f"{a}{i}"] for i, b in enumerate(bs))
                for a, bs in zip("icp", ([ease] * 4, strong, [0.5] * 4), strict=True)
            }
            treat = sums["i"] + sums["c"]
            t = (
                treat + rng.normal(size=n)
                if kind == "number"
                else (rng.random(n) < 1 / (1 + np.exp(-treat))).astype(float)
            )
            other = sums["c"] + sums["p"]
            if out == "number":
                y, truth = size * t + other + rng.normal(size=n), size
            else:
                risk = lambda v: 1 / (1 + np.exp(-v))  # noqa: E731
                y = (rng.random(n) < risk(size * t + other)).astype(float)
                truth = float(np.mean(risk(size + other) - risk(other)))
                if kind == "number":
                    continue
            named = {
                k: np.where(v > 0, "yes", "no") if len(np.unique(v)) == 2 and k != "y" else v for k, v in pool.items()
            }
            t_named = t if kind == "number" else np.where(t > 0, "yes", "no")
            y_named = y if out == "number" else np.where(y > 0, "yes", "no")
            found = bl.adjust({**named, "t": t_named, "y": y_named}, "t", "y", before=list(pool), rng=seed)
            of = {e.given: e for e in found.effects if e.measure == "difference"}
            one, best, none = of["all of these"], of.get("the efficient set", of["all of these"]), of["nothing"]
            whole = treatment_effect(
                y, t, np.column_stack(list(pool.values())), rng=np.random.default_rng(seed)
            ).difference
            inside = [e.low <= truth <= e.high for e in (one, best, none)]
            rows.append([*inside, one.estimate - truth, best.estimate - truth, whole[0] - truth])
        if not rows:
            continue
        got = np.array(rows, float)
        var = got[:, 3:].var(axis=0)
        covers, best, none = got[:, :3].mean(axis=0)
        yield (
            f"{kind:9} {out:8} {n:5} {weak:5.2f}  {covers:6.3f}  {best:9.3f}  {none:7.3f}  {got[:, 3].mean():+.4f} "
            f"{var[0] / var[2]:19.2f} {var[1] / var[2]:14.2f}"
        )


def directions(draws: int, rng: np.random.Generator) -> Iterator[str]:
    """Yield shares of true statements; random linear networks of 12 columns, each with 2.2 arrows, some hidden."""
    yield "kind        rows  hidden  statements  true   effects  true   roles: true  answers  with a false statement"
    for kind, n in (
        ("numbers", 500),
        ("numbers", 2000),
        ("numbers", 10000),
        ("categories", 2000),
        ("categories", 10000),
    ):
        for share in (0.0, 0.2, 0.4):
            said, right, strong, strong_right, roles, roles_right, answers, wrong = np.zeros(8)
            for _ in range(draws):
                p = 12
                order, weight = rng.permutation(p), np.zeros((p, p))
                for i in range(p):
                    for j in range(i):
                        if rng.random() < 2.2 / (p - 1):
                            weight[order[j], order[i]] = rng.choice([-1, 1]) * rng.uniform(0.4, 0.9)
                x = np.zeros((n, p))
                for v in order:
                    x[:, v] = x @ weight[:, v] + rng.normal(size=n)
                    if kind == "categories":
                        x[:, v] = np.where(x[:, v] > 0, 1.0, -1.0)
                acts = np.linalg.inv(np.eye(p) - (weight != 0)) > 0
                seen = rng.permutation(p)[int(share * p) :]
                table = {f"v{v}": x[:, v] if kind == "numbers" else (x[:, v] > 0).astype(str) for v in seen}
                for t in seen[:3]:
                    found = bl.discover(table, f"v{t}", roles=True, audit=False)
                    truth = {"not an effect": ~acts[t], "not a cause": ~acts[:, t], "effect": acts[t]}
                    ok = [bool(truth[d][int(name[1:])]) for name, d in found.directions.items()]
                    strong_ok = [k for k, d in zip(ok, found.directions.values(), strict=True) if d == "effect"]
                    role_ok = [
                        bool((acts[:, t] if role == "parent" else acts[t])[int(name[1:])])
                        for name, role in found.roles.items()
                        if role in ("parent", "child")
                    ]
                    said, right = said + len(ok), right + sum(ok)
                    strong, strong_right = strong + len(strong_ok), strong_right + sum(strong_ok)
                    roles, roles_right = roles + len(role_ok), roles_right + sum(role_ok)
                    answers, wrong = answers + 1, wrong + (not all(ok))
            yield (
                f"{kind:10} {n:5} {share:7.1f} {said:11.0f} {right / max(said, 1):5.3f} {strong:9.0f} "
                f"{strong_right / max(strong, 1):5.3f} {roles_right / max(roles, 1):12.3f} {answers:8.0f} "
                f"{wrong / answers:8.3f}"
            )


QUESTIONS = {"effects": effects, "time": time, "confirm": confirm, "adjust": adjust, "directions": directions}


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
