"""Scores of sets of columns, the best network, and EM (see `blankets.latent`)."""

from __future__ import annotations

from math import exp, lgamma, log

import numpy as np

from blankets.kernels._types import *

BIC: int64 = 0  # of the kinds of score; the other is BDeu
NEVER: float64 = -1e9  # log of a probability of zero, finite so that differences stay numbers


@inner
def refine_groups(
    ids: NewInts2, before: int64, codes: Counts2, x: int64, arity: int64, slots: NewInts, used: NewInts, after: int64
) -> int64:
    """Split the groups of rows in row ``before`` of ``ids`` by a column, into row ``after``; return how many there are.

    Groups are numbered by first appearance. ``slots`` has an entry for each group before and level, all -1 before and
    afterwards; a code that has none is taken for the nearest that has.
    """
    found: int64 = 0
    for i in range(ids.shape[1]):
        code: int64 = min(max(codes[x, i], 0), arity - 1)
        key: int64 = ids[before, i] * arity + code
        group: int64 = slots[key]
        if group < 0:
            group = found
            slots[key] = group
            used[found] = key
            found += 1
        ids[after, i] = group
    for k in range(found):
        slots[used[k]] = -1
    return found


@inner
def weigh(ids: Ints2, row: int64, weights: Reals, n_groups: int64, counts: NewReals) -> void:
    """Set the weight of each group."""
    for g in range(n_groups):
        counts[g] = 0.0
    for i in range(weights.shape[0]):
        counts[ids[row, i]] += weights[i]


@inner
def set_value(counts: Reals, n_groups: int64, cells: float64, kind: int64, parameter: float64) -> float64:
    """Return f of a set of columns from the counts of its observed configurations."""
    value: float64 = 0.0
    if kind == BIC:
        for g in range(n_groups):
            if counts[g] > 0.0:
                value += counts[g] * log(counts[g])
        return value - parameter * cells
    prior: float64 = parameter / cells
    nothing: float64 = lgamma(prior)
    for g in range(n_groups):
        value += lgamma(prior + counts[g]) - nothing
    return value


def _slots(n_rows: int64, arities: Ints) -> Ints:
    """Return room for the groups of so many rows, split by any column."""
    widest: int64 = 1
    for j in range(arities.shape[0]):
        if arities[j] < 1:
            raise ValueError(f"column {j} has no levels")
        widest = max(widest, arities[j])
    return np.full(max(n_rows, 1) * widest, -1, np.int64)


def _fits(codes: Counts2, arities: Ints, weights: Reals) -> None:
    """Refuse arrays of different columns or rows."""
    if codes.shape[0] != arities.shape[0] or codes.shape[1] != weights.shape[0]:
        raise ValueError("every column has its levels, and every row its weight")


@door
def refine(ids: NewInts2, n_groups: int64, codes: Counts2, arity: int64) -> int:
    """Split the groups of rows in ``ids[0]``, below ``n_groups``, by a column, into ``ids[1]``; return how many."""
    n_rows: int64 = ids.shape[1]
    if ids.shape[0] < 2 or codes.shape[1] != n_rows or codes.shape[0] < 1 or arity < 1:
        raise ValueError("every row has a group and a code")
    for i in range(n_rows):
        if not 0 <= ids[0, i] < n_groups:
            raise ValueError(f"groups are to be below {n_groups}")
    slots: NewInts = view(np.full(max(n_groups, 1) * arity, -1, np.int64))
    used: NewInts = view(np.empty(n_rows, np.int64))
    return refine_groups(ids, 0, codes, 0, arity, slots, used, 1)


@door
def score_tree(
    codes: Counts2,
    arities: Ints,
    weights: Reals,
    largest: int64,
    kind: int64,
    parameter: float64,
    position: Ints,
    groups: NewCounts2,
    n_groups: NewInts,
) -> Reals:
    """Return f of all sets of at most ``largest`` columns, at the index whose bits are the set; else NaN.

    A walk over the tree of subsets: each set refines the groups of rows of the set without its last column, so a
    set costs one look at every row. The groups themselves are kept where ``position`` (empty: nowhere) says.
    """
    _fits(codes, arities, weights)
    n: int64 = codes.shape[0]
    n_rows: int64 = codes.shape[1]
    keep: bint = position.shape[0] > 0
    one: int64 = 1
    if n > 30 or (keep and (position.shape[0] != one << n or groups.shape[1] != n_rows)):
        raise ValueError("there is no room for all sets")
    for k in range(position.shape[0]):
        if position[k] >= min(groups.shape[0], n_groups.shape[0]) or position[k] < -1:
            raise IndexError("no such place for the groups of a set")
    values = np.full(one << n, np.nan)
    out: NewReals = view(values)
    ids: NewInts2 = view(np.zeros((largest + 1, n_rows), np.int64))
    slots: NewInts = view(_slots(n_rows, arities))
    used: NewInts = view(np.empty(n_rows, np.int64))
    counts: NewReals = view(np.zeros(max(n_rows, 1)))
    found: NewInts = view(np.ones(largest + 1, np.int64))
    cells: NewReals = view(np.ones(largest + 1))
    masks: NewInts = view(np.zeros(largest + 1, np.int64))
    following: NewInts = view(np.zeros(largest + 1, np.int64))
    depth: int64 = 0
    with nogil:
        while depth >= 0:
            j: int64 = following[depth]
            if j < n and depth < largest:
                following[depth] = j + 1
                depth += 1
                following[depth] = j + 1
                found[depth] = refine_groups(ids, depth - 1, codes, j, arities[j], slots, used, depth)
                cells[depth] = cells[depth - 1] * arities[j]
                masks[depth] = masks[depth - 1] | (one << j)
                weigh(ids, depth, weights, found[depth], counts)
                out[masks[depth]] = set_value(counts, found[depth], cells[depth], kind, parameter)
                if keep and position[masks[depth]] >= 0:
                    for i in range(n_rows):
                        groups[position[masks[depth]], i] = ids[depth, i]
                    n_groups[position[masks[depth]]] = found[depth]
            else:
                depth -= 1
        counts[0] = 0.0
        for i in range(n_rows):
            counts[0] += weights[i]
        out[0] = set_value(counts, 1, 1.0, kind, parameter)
        if keep and position[0] >= 0:
            for i in range(n_rows):
                groups[position[0], i] = 0
            n_groups[position[0]] = 1
    return values


@door
def score_sets(codes: Counts2, arities: Ints, weights: Reals, sets: Ints2, kind: int64, parameter: float64) -> Reals:
    """Return f of many sets of the same size, one a row of ``sets``, ascending within and between rows.

    Neighboring sets share their first columns, and with them the groups of rows already found.
    """
    _fits(codes, arities, weights)
    n_sets: int64 = sets.shape[0]
    size: int64 = sets.shape[1]
    n_rows: int64 = codes.shape[1]
    for s in range(n_sets):
        for k in range(size):
            if not 0 <= sets[s, k] < codes.shape[0]:
                raise IndexError("no such column")
    values = np.empty(n_sets)
    out: NewReals = view(values)
    ids: NewInts2 = view(np.zeros((size + 1, n_rows), np.int64))
    slots: NewInts = view(_slots(n_rows, arities))
    used: NewInts = view(np.empty(n_rows, np.int64))
    counts: NewReals = view(np.empty(max(n_rows, 1)))
    groups: NewInts = view(np.ones(size + 1, np.int64))
    cells: NewReals = view(np.ones(size + 1))
    with nogil:
        for s in range(n_sets):
            same: int64 = 0
            while s > 0 and same < size and sets[s, same] == sets[s - 1, same]:
                same += 1
            for depth in range(same, size):
                j: int64 = sets[s, depth]
                groups[depth + 1] = refine_groups(ids, depth, codes, j, arities[j], slots, used, depth + 1)
                cells[depth + 1] = cells[depth] * arities[j]
            weigh(ids, size, weights, groups[size], counts)
            out[s] = set_value(counts, groups[size], cells[size], kind, parameter)
    return values


@door
def expected_scores(
    groups: Counts2,
    n_groups: Ints,
    position: Ints,
    arities: Ints,
    hidden: int64,
    static: Reals,
    weights: Reals,
    penalty: float64,
) -> Reals:
    """Return the BIC set function of the completed data: expected counts where a hidden node takes part."""
    if position.shape[0] > static.shape[0]:
        raise ValueError("every set has a static value")
    for mask in range(position.shape[0]):
        if position[mask] >= 0 and mask & hidden:
            if not _known_groups(groups, position[mask], n_groups, weights.shape[0]):
                raise ValueError("every completion has a weight, and a group below their number")
    values = np.array(static)
    table: NewReals = view(values)
    counts: NewReals = view(np.empty(max(groups.shape[1], 1)))
    with nogil:
        for mask in range(position.shape[0]):
            at: int64 = position[mask]
            if at < 0 or not mask & hidden:
                continue
            cells: float64 = 1.0
            for v in range(arities.shape[0]):
                if mask >> v & 1:
                    cells *= arities[v]
            for g in range(n_groups[at]):
                counts[g] = 0.0
            for i in range(weights.shape[0]):
                counts[groups[at, i]] += weights[i]
            table[mask] = set_value(counts, n_groups[at], cells, BIC, penalty)
    return values


@inner
def _known_groups(groups: Counts2, at: int64, n_groups: Ints, n: int64) -> bint:
    """Whether each of ``n`` completions has a group of a set, below their number."""
    if not 0 <= at < min(groups.shape[0], n_groups.shape[0]) or groups.shape[1] != n or n_groups[at] > max(n, 1):
        return False
    wrong: int64 = 0
    for i in range(n):
        wrong += groups[at, i] < 0 or groups[at, i] >= n_groups[at]
    return wrong == 0


@inner
def _best_parents_of(
    table: Reals,
    v: int64,
    required: int64,
    forbidden: int64,
    most: int64,
    sizes: NewBytes,
    score: NewReals2,
    choice: NewCounts2,
) -> void:
    """Fill ``score[v, C]`` and ``choice[v, C]``: the best admissible parents of v among C, for all C without v."""
    one: int64 = 1
    bit: int64 = one << v
    for candidates in range(table.shape[0]):
        score[v, candidates] = -INFINITY
        choice[v, candidates] = 0
        if candidates & bit:
            continue
        # Subsets first, so that among equals the smaller parent set stays.
        rest: int64 = candidates
        while rest:
            low: int64 = rest & -rest
            rest ^= low
            if score[v, candidates ^ low] > score[v, candidates]:
                score[v, candidates] = score[v, candidates ^ low]
                choice[v, candidates] = choice[v, candidates ^ low]
        if candidates & forbidden or (candidates & required) != required or sizes[candidates] > most:
            continue
        own: float64 = table[candidates | bit] - table[candidates]
        if own > score[v, candidates]:
            score[v, candidates] = own
            choice[v, candidates] = candidates


@door
def best_parents(table: Reals, n: int64, required: Ints, forbidden: Ints, most: int64, parents: NewInts) -> float:
    """Write the parent masks of the best DAG to ``parents``; return its score, minus infinity if there is none.

    ``table`` holds the set function f of `blankets.latent._scores` for all sets of up to ``most + 1`` nodes.
    """
    one: int64 = 1
    if not 0 <= n <= 30 or table.shape[0] != one << n:
        raise ValueError("every set of nodes has a score")
    if required.shape[0] != n or forbidden.shape[0] != n or parents.shape[0] != n:
        raise ValueError("every node has required and forbidden parents")
    n_masks: int64 = one << n
    sizes: NewBytes = view(np.zeros(n_masks, np.uint8))
    score: NewReals2 = view(np.empty((n, n_masks)))
    choice: NewCounts2 = view(np.empty((n, n_masks), np.int32))
    total: NewReals = view(np.full(n_masks, -np.inf))
    sink: NewBytes = view(np.zeros(n_masks, np.uint8))
    with nogil:
        for mask in range(1, n_masks):
            sizes[mask] = sizes[mask >> 1] + (mask & 1)
        for v in range(n):
            _best_parents_of(table, v, required[v], forbidden[v], most, sizes, score, choice)
        total[0] = 0.0
        for nodes in range(1, n_masks):
            for v in range(n):
                rest: int64 = nodes ^ (one << v)
                if nodes >> v & 1 and total[rest] + score[v, rest] > total[nodes]:
                    total[nodes] = total[rest] + score[v, rest]
                    sink[nodes] = v
        left: int64 = n_masks - 1 if total[n_masks - 1] > -INFINITY else 0  # no DAG meets the constraints: no way back
        while left:
            node: int64 = sink[left]
            left ^= one << node
            parents[node] = choice[node, left]
    best: float64 = total[n_masks - 1]
    return best


@inner
def _add_log_counts(
    groups: Counts2, at: int64, n_groups: int64, weights: Reals, power: float64, counts: NewReals, logits: NewReals
) -> void:
    """Add ``power`` times the log of the expected count of its group to each completion's logit."""
    for g in range(n_groups):
        counts[g] = 0.0
    for i in range(weights.shape[0]):
        counts[groups[at, i]] += weights[i]
    for g in range(n_groups):
        if counts[g] > 0.0:
            counts[g] = power * log(counts[g])
        else:
            counts[g] = NEVER if power > 0 else 0.0
    for i in range(weights.shape[0]):
        logits[i] += counts[groups[at, i]]


@inner
def _normalize(logits: Reals, starts: Ints, row_weights: Reals, weights: NewReals) -> float64:
    """Turn logits into weights of completions, row by row; return the weighted log of the row sums."""
    loglik: float64 = 0.0
    for r in range(starts.shape[0] - 1):
        top: float64 = logits[starts[r]]
        for i in range(starts[r], starts[r + 1]):
            top = max(top, logits[i])
        total: float64 = 0.0
        for i in range(starts[r], starts[r + 1]):
            weights[i] = exp(logits[i] - top)
            total += weights[i]
        for i in range(starts[r], starts[r + 1]):
            weights[i] *= row_weights[r] / total
        loglik += row_weights[r] * (top + log(total))
    return loglik


@door
def fit_weights(
    groups: Counts2,
    n_groups: Ints,
    sets: Ints,
    powers: Reals,
    starts: Ints,
    row_weights: Reals,
    weights: NewReals,
    history: NewReals,
    tolerance: float64,
) -> int:
    """Alternate until the log-likelihood gains less than ``tolerance``; return the number of steps."""
    n: int64 = weights.shape[0]
    last: int64 = starts.shape[0] - 1
    if last < 0:
        raise ValueError("there are no rows")
    wrong: int64 = (
        sets.shape[0] != powers.shape[0] or last != row_weights.shape[0] or starts[0] != 0 or starts[last] != n
    )
    for r in range(last):
        wrong += starts[r + 1] <= starts[r]
    for s in range(sets.shape[0]):
        wrong += not _known_groups(groups, sets[s], n_groups, n)
    if wrong:
        raise ValueError("every row has completions, and every set groups")
    logits: NewReals = view(np.empty(n))
    counts: NewReals = view(np.empty(n))
    step: int64 = 0
    done: bint = False
    with nogil:
        while step < history.shape[0] and not done:
            for i in range(n):
                logits[i] = 0.0
            for s in range(sets.shape[0]):
                _add_log_counts(groups, sets[s], n_groups[sets[s]], weights, powers[s], counts, logits)
            history[step] = _normalize(logits, starts, row_weights, weights)
            done = step > 0 and history[step] - history[step - 1] < tolerance
            step += 1
    return step
