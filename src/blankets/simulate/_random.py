"""Random graphs and random networks on them."""

from __future__ import annotations

from collections.abc import Mapping

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from blankets.arguments import generator_from
from blankets.errors import ParameterError, guarded
from blankets.simulate._exact import conditional_information
from blankets.simulate._network import Network

_DRAWS = 40  # draws at one concentration, before it is halved
_HALVINGS = 8  # most halvings; rows are then nearly deterministic


@guarded
def random_dag(
    n_nodes: int,
    rng: np.random.Generator | int | None = None,
    *,
    edge_probability: float | None = None,
    mean_degree: float | None = None,
    max_parents: int | None = None,
) -> nx.DiGraph:
    """Draw a random directed acyclic graph.

    The nodes are put into a random order; each pair is joined, from the earlier to the later node, with
    the same probability. Nodes with more than ``max_parents`` parents keep a random subset of them.

    Parameters
    ----------
    n_nodes : int
        Number of nodes; they are called x0, x1, ...
    rng : numpy.random.Generator, int or None
        Generator or seed.
    edge_probability : float, optional
        Probability of an edge between two nodes.
    mean_degree : float, optional
        Expected number of neighbors of a node (before ``max_parents``), instead of ``edge_probability``.
        Without either it is 2.
    max_parents : int, optional
        Largest number of parents of a node.

    Returns
    -------
    networkx.DiGraph
        The graph; give it to `random_network`.

    Examples
    --------
    >>> import networkx as nx
    >>> from blankets.simulate import random_dag
    >>> graph = random_dag(50, rng=1, mean_degree=3, max_parents=2)
    >>> nx.is_directed_acyclic_graph(graph), max(degree for _, degree in graph.in_degree())
    (True, 2)
    """
    if n_nodes < 1:
        raise ParameterError.out_of_range("n_nodes", n_nodes, "at least 1")
    probability = _edge_probability(n_nodes, edge_probability, mean_degree)
    if max_parents is not None and max_parents < 0:
        raise ParameterError.out_of_range("max_parents", max_parents, "at least 0")
    generator = generator_from(rng, "random_dag")
    order = generator.permutation(n_nodes)
    graph = nx.DiGraph()
    graph.add_nodes_from(f"x{j}" for j in range(n_nodes))
    for position, node in enumerate(order):
        count = int(generator.binomial(position, probability))
        count = count if max_parents is None else min(count, max_parents)
        for earlier in np.sort(generator.choice(position, count, replace=False)) if count else ():
            graph.add_edge(f"x{order[earlier]}", f"x{node}")
    return graph


def _edge_probability(n_nodes: int, edge_probability: float | None, mean_degree: float | None) -> float:
    if edge_probability is not None and mean_degree is not None:
        raise ParameterError("give 'edge_probability' or 'mean_degree', not both")
    if edge_probability is not None:
        if not 0 <= edge_probability <= 1:
            raise ParameterError.out_of_range("edge_probability", edge_probability, "between 0 and 1")
        return edge_probability
    if mean_degree is None:
        return min(1.0, 2 / max(1, n_nodes - 1))
    if not 0 <= mean_degree <= n_nodes - 1:
        raise ParameterError.out_of_range("mean_degree", mean_degree, f"between 0 and {n_nodes - 1}")
    return mean_degree / max(1, n_nodes - 1)


@guarded
def random_network(
    graph: nx.DiGraph,
    arities: int | Mapping[str, int] = 2,
    rng: np.random.Generator | int | None = None,
    *,
    concentration: float = 1.0,
    strength: float | None = None,
) -> Network:
    """Put random conditional probability tables on a graph.

    Each row of a table is a draw of a symmetric Dirichlet distribution.

    Parameters
    ----------
    graph : networkx.DiGraph
        A directed acyclic graph.
    arities : int or mapping of str to int
        Number of levels of all nodes, or of each; the levels are 0, 1, ...
    rng : numpy.random.Generator, int or None
        Generator or seed.
    concentration : float
        Parameter of the Dirichlet distribution: small values give nearly deterministic rows, large ones
        nearly uniform rows. 1 makes all rows equally likely.
    strength : float, optional
        The smallest strength of an edge, in nats: I(child; parent | the other parents) if all
        configurations of the parents are equally likely (see `edge_strengths`). A table with a weaker edge
        is drawn again, with the concentration halved after every 40 draws. In the joint distribution the
        information also depends on the probabilities of the configurations, and can be lower.

    Returns
    -------
    Network
        Draw rows with its ``sample``.

    Examples
    --------
    >>> from blankets.simulate import edge_strengths, random_dag, random_network
    >>> network = random_network(random_dag(8, rng=0), arities=3, rng=0, strength=0.1)
    >>> min(edge_strengths(network).values()) >= 0.1
    True
    """
    if not nx.is_directed_acyclic_graph(graph):
        raise ParameterError("a network needs a directed acyclic graph, but this one has a cycle")
    if concentration <= 0:
        raise ParameterError.out_of_range("concentration", concentration, "above 0")
    generator = generator_from(rng, "random_network")
    number = {node: j for j, node in enumerate(graph.nodes)}
    parents = {str(node): [str(p) for p in sorted(graph.predecessors(node), key=number.__getitem__)] for node in graph}
    sizes = {name: arities if isinstance(arities, int) else arities.get(name, 0) for name in parents}
    for name, size in sizes.items():
        if size < 1:
            raise ParameterError.out_of_range(f"arities[{name}]", size, "at least 1")
    tables = {}
    for name in parents:
        shape = (*(sizes[parent] for parent in parents[name]), sizes[name])
        tables[name] = _random_table(name, shape, generator, concentration, strength)
    return Network({name: tuple(range(size)) for name, size in sizes.items()}, parents, tables)


def _random_table(
    name: str, shape: tuple[int, ...], rng: np.random.Generator, concentration: float, strength: float | None
) -> NDArray[np.float64]:
    best = 0.0
    for halvings in range(_HALVINGS):
        for _ in range(_DRAWS):
            table = rng.dirichlet(np.full(shape[-1], concentration / 2**halvings), size=shape[:-1])
            if strength is None or len(shape) == 1:
                return table
            best = max(best, weakest := min(_table_strengths(table)))
            if weakest >= strength:
                return table
    raise ParameterError(
        f"no table for {name!r} was found with all edges of at least {strength:g} nats; "
        f"the best of {_DRAWS * _HALVINGS} draws had {best:.3g}: ask for less, or for more levels or fewer parents"
    )


def _table_strengths(table: NDArray[np.float64]) -> list[float]:
    """Return I(node; parent | other parents) for each parent, parents uniform."""
    joint = table * (table.shape[-1] / table.size)
    strengths = []
    for axis in range(table.ndim - 1):
        one_first = np.moveaxis(joint, (axis, -1), (0, 1))
        strengths.append(conditional_information(one_first.reshape(*one_first.shape[:2], -1)))
    return strengths


@guarded
def edge_strengths(network: Network) -> dict[tuple[str, str], float]:
    """Return how strongly each table depends on each of its parents, in nats.

    For the edge (parent, child) it is I(child; parent | the child's other parents) under equally likely
    configurations of the parents. It depends only on the table, and is zero exactly for vacuous edges.

    Examples
    --------
    >>> import networkx as nx
    >>> network = random_network(nx.DiGraph([("smoker", "cough")]), 2, rng=0)
    >>> [(edge, value > 0) for edge, value in edge_strengths(network).items()]
    [(('smoker', 'cough'), True)]
    """
    return {
        (parent, name): value
        for name in network.names
        for parent, value in zip(network.parents[name], _table_strengths(network.tables[name]), strict=True)
    }
