"""Slow, obvious twins: every term from joint histograms, every criterion recomputed from scratch at every step."""

from __future__ import annotations

from collections import Counter
from math import log

__all__ = ["entropy", "information", "naive_score", "naive_selection", "partial_information"]


def entropy(*columns):
    """Return the plug-in entropy of the joint variable of some columns, in nats."""
    rows = list(zip(*columns, strict=True))
    n = len(rows)
    return -sum(c / n * log(c / n) for c in Counter(rows).values())


def information(x, y, given=()):
    """Return I(X;Y|Z) = H(X,Z) + H(Y,Z) - H(X,Y,Z) - H(Z); ``given`` is a list of columns."""
    h_z = entropy(*given) if given else 0.0
    return entropy(x, *given) + entropy(y, *given) - entropy(x, y, *given) - h_z


def pair(a, b):
    return list(zip(a, b, strict=True))


def naive_score(criterion, x, y, chosen, beta=1.0, gamma=0.0):
    """Return the criterion of column ``x`` given the columns ``chosen``, by its definition."""
    relevance = information(x, y)
    if not chosen:
        return relevance
    redundancy = [information(x, j) for j in chosen]
    within_class = [information(x, j, [y]) for j in chosen]
    joint = [information(pair(x, j), y) for j in chosen]
    return {
        "mim": lambda: relevance,
        "jmi": lambda: sum(joint),
        "cmi": lambda: information(x, y, chosen),
        "mrmr": lambda: relevance - sum(redundancy) / len(chosen),
        "mifs": lambda: relevance - beta * sum(redundancy),
        "cife": lambda: relevance - sum(redundancy) + sum(within_class),
        "condred": lambda: relevance + sum(within_class),
        "linear": lambda: relevance - beta * sum(redundancy) + gamma * sum(within_class),
        "cmim": lambda: min(information(x, y, [j]) for j in chosen),
        "disr": lambda: sum(i / entropy(x, j, y) for i, j in zip(joint, chosen, strict=True)),
        "icap": lambda: relevance - sum(max(0.0, r - w) for r, w in zip(redundancy, within_class, strict=True)),
    }[criterion]()


def naive_selection(columns, y, k, criterion, beta=1.0, gamma=0.0):
    """Return the positions of the selected columns and their scores; ties to 1e-12 go to the first."""
    selected, scores = [], []
    while len(selected) < k:
        chosen = [columns[j] for j in selected]
        rest = [j for j in range(len(columns)) if j not in selected]
        score = {j: naive_score(criterion, columns[j], y, chosen, beta, gamma) for j in rest}
        best = max(score.values())
        winner = next(j for j in rest if score[j] >= best - 1e-12)
        selected.append(winner)
        scores.append(score[winner])
    return selected, scores


def partial_information(kind, x, labels, prior=None, given=()):
    """Return an estimate of I(X;Y|Z) by the formulas of the thesis, cell by cell; ``labels`` has None where unknown.

    methods (4.4) "mcar", (4.5) "mar-f", (4.7) "pos" and "neg"; the conditional forms replace p(x) by p(x|z) and p(y)
    by p(y|z). No cell may be empty where a logarithm is taken.
    """
    rows = list(zip(x, list(zip(*given, strict=True)) or [()] * len(x), labels, strict=True))
    n = len(rows)
    p = {cell: c / n for cell, c in Counter((a, z) for a, z, _ in rows).items()}
    labeled = Counter((a, z, s) for a, z, s in rows if s is not None)
    cells = sorted(p)

    if kind == "mcar":
        value = 0.0
        for a, z in cells:
            seen = sum(labeled[a, z, y] for y in (0, 1))
            p_z = sum(p[c] for c in cells if c[1] == z)
            for y in (0, 1):
                in_class = sum(labeled[b, w, y] for b, w in cells if w == z)
                if labeled[a, z, y]:
                    t = labeled[a, z, y] / seen
                    value += p[a, z] * t * log((labeled[a, z, y] / in_class) / (p[a, z] / p_z))
        return value
    q = {}
    for a, z in cells:
        if kind == "mar-f":
            seen = labeled[a, z, 0] + labeled[a, z, 1]
            q[a, z, 0], q[a, z, 1] = (p[a, z] * labeled[a, z, y] / seen for y in (0, 1))
        else:
            known = 1 if kind == "pos" else 0
            share = prior if kind == "pos" else 1 - prior
            q[a, z, known] = share * labeled[a, z, known] / sum(labeled[b, w, known] for b, w in cells)
            q[a, z, 1 - known] = p[a, z] - q[a, z, known]
    assert min(q.values()) >= 0
    value = 0.0
    for (a, z, y), mass in q.items():
        q_xz = q[a, z, 0] + q[a, z, 1]
        q_yz = sum(v for (_, w, u), v in q.items() if (w, u) == (z, y))
        q_z = sum(v for (_, w, _), v in q.items() if w == z)
        if mass > 0:
            value += mass * log(mass * q_z / (q_xz * q_yz))
    return value
