"""`Network`: a discrete Bayesian network, the known truth of a simulation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import networkx as nx
import numpy as np
from numpy.typing import ArrayLike, NDArray

from blankets.arguments import generator_from
from blankets.caching import cached_property
from blankets.data import Frame
from blankets.errors import DataError, ParameterError, did_you_mean, guarded, listed
from blankets.simulate import _bif, _exact

_ROUNDING = 1e-6  # largest difference of the sum of a row from one


@guarded
@dataclass(frozen=True, eq=False, repr=False, init=False)
class Network:
    """A discrete Bayesian network: levels, parents and a conditional probability table for each node.

    Parameters
    ----------
    levels : mapping of str to sequence
        The levels of each node. Its order is the order of the nodes.
    parents : mapping of str to sequence of str
        The parents of each node; nodes without parents may be left out.
    tables : mapping of str to array
        ``tables[node]`` has shape (levels of the first parent, ..., levels of the last parent, levels of
        the node); its last axis sums to one.

    Examples
    --------
    >>> from blankets.simulate import Network
    >>> network = Network(
    ...     levels={"rain": ("no", "yes"), "sprinkler": ("off", "on"), "grass": ("dry", "wet")},
    ...     parents={"grass": ("rain", "sprinkler")},
    ...     tables={
    ...         "rain": [0.7, 0.3],
    ...         "sprinkler": [0.6, 0.4],
    ...         "grass": [[[0.95, 0.05], [0.1, 0.9]], [[0.1, 0.9], [0.01, 0.99]]],
    ...     },
    ... )
    >>> network
    Network(3 nodes, 2 edges)
    >>> network.roles("rain")
    {'sprinkler': 'spouse', 'grass': 'child'}
    >>> frame = network.sample(1000, rng=0)
    >>> frame.names, frame.levels[2]
    (('rain', 'sprinkler', 'grass'), ('dry', 'wet'))
    """

    levels: Mapping[str, tuple[object, ...]]
    parents: Mapping[str, tuple[str, ...]]
    tables: Mapping[str, NDArray[np.float64]]
    names: tuple[str, ...]

    def __init__(
        self,
        levels: Mapping[str, Sequence[object]],
        parents: Mapping[str, Sequence[str]],
        tables: Mapping[str, ArrayLike],
    ) -> None:
        for what, given in (("parents", parents), ("tables", tables)):
            if strangers := [name for name in given if name not in levels]:
                raise DataError(f"{what} are given for {listed(strangers)}, but there are no such nodes")
        object.__setattr__(self, "names", tuple(levels))
        object.__setattr__(self, "levels", {name: _checked_levels(name, values) for name, values in levels.items()})
        own = {name: _checked_parents(name, parents.get(name, ()), self.levels) for name in levels}
        object.__setattr__(self, "parents", own)
        object.__setattr__(self, "tables", {name: self._checked_table(name, tables) for name in levels})
        if not nx.is_directed_acyclic_graph(self.graph):
            cycle = [parent for parent, _ in nx.find_cycle(self.graph)]
            raise DataError(f"the parents form a cycle: {' -> '.join(map(str, (*cycle, cycle[0])))}")

    def __repr__(self) -> str:
        return f"Network({len(self.names)} nodes, {self.graph.number_of_edges()} edges)"

    @classmethod
    def from_bif(cls, source: str | Path, *, tolerance: float = 0.01) -> Network:
        """Read a network in the Bayesian interchange format (BIF).

        Parameters
        ----------
        source : str or Path
            A path, of plain text or gzip, or the text itself (recognized by its braces).
        tolerance : float
            Rows whose sum differs from one by at most this are renormalized, others refused.

        Examples
        --------
        >>> text = '''
        ... variable coin { type discrete [ 2 ] { heads, tails }; }
        ... probability ( coin ) { table 0.5, 0.5; }
        ... '''
        >>> Network.from_bif(text).levels["coin"]
        ('heads', 'tails')
        """
        return cls(*_bif.parse(_bif.text_of(source), tolerance=tolerance))

    def to_bif(self, path: str | Path | None = None) -> str:
        """Return the network as BIF text, and write it to ``path`` if one is given."""
        text = _bif.write(self.levels, self.parents, self.tables)
        if path is not None:
            Path(path).write_text(text, encoding="utf-8")
        return text

    @cached_property
    def graph(self) -> nx.DiGraph:
        """The graph, its nodes in the order of `names`; frozen, so copy it before changing it."""
        graph = nx.DiGraph()
        graph.add_nodes_from(self.names)
        graph.add_edges_from((parent, name) for name in self.names for parent in self.parents[name])
        return nx.freeze(graph)

    @property
    def arities(self) -> dict[str, int]:
        """Number of levels of each node."""
        return {name: len(values) for name, values in self.levels.items()}

    def roles(self, node: str) -> dict[str, Literal["parent", "child", "spouse"]]:
        """Return the role of each member of the blanket of ``node``, in the order of the nodes.

        A spouse is another parent of a child that is neither parent nor child itself.
        """
        self._check(node)
        children = set(self.graph.successors(node))
        spouses = {other for child in children for other in self.parents[child]} - {node}
        roles: dict[str, Literal["parent", "child", "spouse"]] = {}
        for name in self.names:
            if name in self.parents[node]:
                roles[name] = "parent"
            elif name in children:
                roles[name] = "child"
            elif name in spouses:
                roles[name] = "spouse"
        return roles

    def blanket(self, node: str) -> set[str]:
        """Return the Markov blanket of ``node`` in the graph: parents, children and spouses."""
        return set(self.roles(node))

    def vacuous_edges(self, tolerance: float = 1e-9) -> list[tuple[str, str]]:
        """Return the edges (parent, child) that are in the graph but have no effect on the distribution.

        The table of the child does not depend on that parent, for any values of the others, so no amount
        of data would show the edge. `pruned` removes them.
        """
        found = []
        for name in self.names:
            for axis, parent in enumerate(self.parents[name]):
                if np.ptp(self.tables[name], axis=axis).max() <= tolerance:
                    found.append((parent, name))
        return found

    def pruned(self, tolerance: float = 1e-9) -> Network:
        """Return the network without its vacuous edges; the distribution is the same."""
        vacuous = set(self.vacuous_edges(tolerance))
        parents, tables = {}, {}
        for name in self.names:
            keep = [(parent, name) not in vacuous for parent in self.parents[name]]
            parents[name] = tuple(p for p, kept in zip(self.parents[name], keep, strict=True) if kept)
            tables[name] = self.tables[name][tuple(slice(None) if kept else 0 for kept in keep)]
        return Network(self.levels, parents, tables)

    def sample(self, n_rows: int, rng: np.random.Generator | int | None = None) -> Frame:
        """Draw independent rows by forward sampling.

        The frame declares all levels of the network, also those that are not drawn. One uniform number
        per row and node is used, node after node, parents first: the same seed gives the same rows.

        Parameters
        ----------
        n_rows : int
            Number of rows.
        rng : numpy.random.Generator, int or None
            Generator or seed.

        Returns
        -------
        Frame
            Columns in the order of `names`.
        """
        if n_rows < 0:
            raise ParameterError.out_of_range("n_rows", n_rows, "at least 0")
        generator = generator_from(rng, "sample")
        codes: dict[str, NDArray[np.int64]] = {}
        for name in self._order:
            row = np.zeros(n_rows, np.int64)  # which row of the table, mixed radix over the parents
            for parent in self.parents[name]:
                row = row * len(self.levels[parent]) + codes[parent]
            codes[name] = draw_codes(self.tables[name].reshape(-1, len(self.levels[name])), row, generator)
        columns = [codes[name] for name in self.names]
        return Frame.from_columns(columns, self.names, [self.levels[name] for name in self.names], n_rows)

    def marginal(self, *nodes: str) -> NDArray[np.float64]:
        """Return the exact joint distribution of some nodes, one axis per node, by variable elimination.

        Examples
        --------
        >>> chain = Network(
        ...     levels={"a": ("no", "yes"), "b": ("no", "yes")},
        ...     parents={"b": ["a"]},
        ...     tables={"a": [0.8, 0.2], "b": [[0.9, 0.1], [0.5, 0.5]]},
        ... )
        >>> chain.marginal("b").round(3).tolist()
        [0.82, 0.18]
        """
        for node in nodes:
            self._check(node)
        if len(set(nodes)) < len(nodes):
            raise ParameterError(f"a marginal needs different nodes, but got {listed(nodes)}")
        ancestors = set(nodes).union(*(nx.ancestors(self.graph, node) for node in nodes))
        factors = [((*self.parents[name], name), self.tables[name]) for name in self.names if name in ancestors]
        return _exact.eliminate(factors, nodes)

    def information(self, x: str, y: str, given: Sequence[str] = ()) -> float:
        """Return the exact conditional mutual information I(x; y | given) in nats."""
        joint = self.marginal(x, y, *given)
        return _exact.conditional_information(joint.reshape(*joint.shape[:2], -1))

    def _checked_table(self, name: str, tables: Mapping[str, ArrayLike]) -> NDArray[np.float64]:
        if name not in tables:
            raise DataError(f"node {name!r} has no table of probabilities")
        try:
            table = np.array(tables[name], dtype=np.float64)
        except ValueError as error:
            raise DataError(f"the table of {name!r} is not an array of numbers: {error}") from None
        shape = tuple(len(self.levels[other]) for other in (*self.parents[name], name))
        if table.shape != shape:
            raise DataError(f"the table of {name!r} must have shape {shape} (parents first), but has {table.shape}")
        totals = table.sum(axis=-1, keepdims=True)
        off = np.abs(totals - 1).max()
        if not (off <= _ROUNDING and table.min() >= 0):  # false for NaN
            raise DataError(f"each row of the table of {name!r} must be probabilities that sum to one")
        if off > 1e-12:  # otherwise left as they are, so that a network and its text agree exactly
            table /= totals
        table.flags.writeable = False
        return table

    @cached_property
    def _order(self) -> tuple[str, ...]:
        number = {name: j for j, name in enumerate(self.names)}
        return tuple(nx.lexicographical_topological_sort(self.graph, key=number.__getitem__))

    def _check(self, node: str) -> None:
        if node not in self.levels:
            raise ParameterError(f"there is no node {node!r}{did_you_mean(str(node), self.names)}")


def draw_codes(table: NDArray[np.float64], row: NDArray[np.int64], generator: np.random.Generator) -> NDArray[np.int64]:
    """Draw one code for each element of ``row`` from that row of ``table``, shape (rows, levels)."""
    cumulative = table.cumsum(axis=1)
    cumulative /= cumulative[:, -1:]  # exactly 1 from the last possible level on: impossible levels are never drawn
    uniform = generator.random(len(row))
    codes = np.zeros(len(row), np.int64)
    for boundary in cumulative.T[:-1]:
        codes += uniform >= boundary[row]
    return codes


@guarded
def as_columns(frame: Frame) -> dict[str, NDArray[np.object_]]:
    """Return a frame as a dict from column name to levels, for data frame libraries.

    Examples
    --------
    >>> frame = Frame.from_codes([[0, 1], [1, 1]], names=["a", "b"], levels=[("no", "yes"), ("low", "high")])
    >>> {name: values.tolist() for name, values in as_columns(frame).items()}
    {'a': ['no', 'yes'], 'b': ['high', 'high']}
    """
    columns = {}
    for j, name in enumerate(frame.names):
        levels = np.empty(len(frame.levels[j]), object)
        levels[:] = frame.levels[j]
        columns[name] = levels[frame.column(j)]
    return columns


def _checked_levels(name: str, levels: Sequence[object]) -> tuple[object, ...]:
    if not isinstance(name, str):
        raise DataError(f"names of nodes are strings, but one is {name!r}")
    if isinstance(levels, str) or len(levels) == 0:
        raise DataError(f"node {name!r} needs a sequence of levels, but has {levels!r}")
    if len(set(levels)) < len(levels):
        raise DataError(f"the levels of node {name!r} must be different, but are {listed(levels)}")
    return tuple(levels)


def _checked_parents(name: str, parents: Sequence[str], levels: Mapping[str, object]) -> tuple[str, ...]:
    for parent in parents:
        if parent not in levels:
            raise DataError(f"the parent {parent!r} of {name!r} is not a node{did_you_mean(str(parent), list(levels))}")
    if len(set(parents)) < len(parents) or name in parents:
        raise DataError(f"the parents of {name!r} must be different nodes, but are {listed(parents)}")
    if len(parents) > _bif.MOST_PARENTS:
        raise DataError(f"node {name!r} has {len(parents)} parents; at most {_bif.MOST_PARENTS} are possible")
    return tuple(parents)
