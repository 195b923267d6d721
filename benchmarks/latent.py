"""Latent blankets: speed, memory, and the exact learner against GOBNILP.

::

    python benchmarks/latent.py speed                  # exact learning and one LMB-CSEM run, with a profile
    python benchmarks/latent.py peak --nodes 20        # memory of exact learning
    python benchmarks/latent.py optima --peer PYTHON FILE ...

For ``optima`` PYTHON is an interpreter with pygobnilp, gurobipy and pandas, and the files are CSV of categories; both
learners must prove the same optimum. What LMB-CSEM finds is measured by ``python -m benchmarks.papers latent-table1``
and ``latent-table2``.
"""

from __future__ import annotations

import argparse
import cProfile
import json
import pstats
import resource
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

from blankets import best_dag, discover_latent
from blankets.data import Frame

# Recent releases of Gurobi compare expressions only; GOBNILP 1.0 still passes the sense of a constraint apart.
PEER = """
import json, sys
import pandas, gurobipy, pygobnilp.gobnilp as peer
from gurobipy import GRB

def compared(args):
    left, sense, right = args[:3]
    return left <= right if sense == GRB.LESS_EQUAL else left >= right if sense == GRB.GREATER_EQUAL else left == right

def in_new_form(name):
    plain = getattr(gurobipy.Model, name)
    return lambda self, *args: plain(self, *((compared(args), *args[3:]) if len(args) > 2 else args))

class Model(gurobipy.Model):
    pass

for made in (Model, peer.Gobnilp):
    for name in ("addConstr", "cbLazy", "cbCut"):
        setattr(made, name, in_new_form(name))
peer.Model = Model
table = pandas.read_csv(sys.argv[1], dtype=str, keep_default_na=False).astype("category")
learner = peer.Gobnilp()
learner.learn(table, data_type="discrete", score=sys.argv[2], plot=False, palim=None)
print("optimum", json.dumps(learner.learned_bn.graph["score"]))
"""


def coin(rng, chance):
    return (rng.random(len(chance)) < chance).astype(np.int64)


def random_network(rng, n, n_rows, arity, n_parents=2):
    codes = np.zeros((n_rows, n), np.int64)
    for v in range(n):
        parents = rng.permutation(v)[:n_parents]
        key = codes[:, parents] @ arity ** np.arange(len(parents))
        shares = rng.dirichlet(np.ones(arity), arity ** len(parents))[key]
        codes[:, v] = (rng.random(n_rows)[:, np.newaxis] > shares.cumsum(axis=1)[:, :-1]).sum(axis=1)
    return Frame.from_codes(codes, arities=[arity] * n)


def hidden_child(rng, n_rows, arity):
    """P -> T -> H <- S, H -> four leaves; a blanket of six."""
    base = random_network(rng, 2, n_rows, arity, 0)
    p, s = base.column(0), base.column(1)

    def draw(table, *given):
        return (rng.random(n_rows)[:, np.newaxis] > table[given].cumsum(axis=-1)[:, :-1]).sum(axis=1)

    t = draw(rng.dirichlet(np.ones(arity), arity), p)
    h = coin(rng, rng.random((arity, arity))[t, s])
    leaves = [draw(rng.dirichlet(np.ones(arity), 2), h) for _ in range(4)]
    return Frame.from_codes(np.column_stack([t, p, s, *leaves]), names=list("TPSABCD"), arities=[arity] * 7)


def timed(what, work):
    began = time.perf_counter()
    answer = work()
    print(f"  {what:64} {time.perf_counter() - began:7.2f} s", flush=True)
    return answer


def speed(args):
    rng = np.random.default_rng(args.seed)
    best_dag(random_network(rng, 4, 100, 2))
    print("exact learning, scores included (required: 15 nodes x 5,000 rows x 3 levels in 5 s)")
    for n, arity, score in ((15, 2, "bic"), (15, 3, "bic"), (15, 3, "bdeu"), (20, 3, "bic")):
        frame = random_network(rng, n, 5000, arity)
        timed(f"{n} nodes, 5,000 rows, {arity} levels, {score}", lambda f=frame, s=score: best_dag(f, score=s))
    print("LMB-CSEM, blanket of 6, 5,000 rows, all subspaces, 80 restarts (required: 10 s)")
    frame = hidden_child(rng, 5000, 2)
    discover_latent(frame, "T", blanket=frame.names[1:], n_restarts=2, rng=0)
    for arity in (2, 3, 4):
        frame = hidden_child(rng, 5000, arity)
        found = timed(
            f"{arity} levels, one latent",
            lambda f=frame: discover_latent(f, "T", blanket=f.names[1:], max_latents=1, rng=0),
        )
        print(f"    found {found.members}, {found.latents[0].position if found.latents else 'no latent'}")
    profile = cProfile.Profile()
    profile.runcall(discover_latent, frame, "T", blanket=frame.names[1:], max_latents=1, n_jobs=1, rng=0)
    pstats.Stats(profile).sort_stats("tottime").print_stats(8)


def peak(args):
    frame = random_network(np.random.default_rng(args.seed), args.nodes, 5000, 3)
    timed(f"{args.nodes} nodes", lambda: best_dag(frame))
    print(f"  largest memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:,.0f} MB")


def optima(args):
    import pandas as pd

    differ = 0
    for path in args.files:
        table = pd.read_csv(path, dtype=str, keep_default_na=False)
        for score, name in (("bic", "DiscreteBIC"), ("bdeu", "BDeu")):
            ours = best_dag(table, score=score).score
            said = subprocess.run(
                [args.peer, "-c", PEER, path, name], capture_output=True, text=True, check=False
            ).stdout.splitlines()
            found = [json.loads(line.split(" ", 1)[1]) for line in said if line.startswith("optimum ")]
            same = bool(found) and abs(found[0] - ours) < 1e-6 * abs(ours)
            differ += bool(found) and not same
            theirs = f"{found[0]:.4f}" if found else "gave up"
            print(f"  {path.stem:20} {score:5} ours {ours:16.4f}   GOBNILP {theirs:>16}   {'equal' if same else '-'}")
    return int(differ > 0)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=0)
    commands = parser.add_subparsers(required=True)
    commands.add_parser("speed").set_defaults(run=speed)
    memory = commands.add_parser("peak")
    memory.add_argument("--nodes", type=int, default=20)
    memory.set_defaults(run=peak)
    others = commands.add_parser("optima")
    others.add_argument("--peer", required=True, help="an interpreter with pygobnilp, gurobipy and pandas")
    others.add_argument("files", nargs="+", type=Path)
    others.set_defaults(run=optima)
    args = parser.parse_args()
    return args.run(args)


if __name__ == "__main__":
    sys.exit(main())
