"""Results as graphs of networkx."""

from __future__ import annotations

from typing import TYPE_CHECKING

import networkx as nx

if TYPE_CHECKING:
    from blankets.results._blanket import Blanket


def blanket_graph(blanket: Blanket) -> nx.DiGraph:
    """Return the target, its members and what is known of the edges between them."""
    target = blanket.target
    graph = nx.DiGraph(target=target, finds=blanket.finds)
    graph.add_node(target, role="target")
    for name, evidence in blanket.strengths.items():
        graph.add_node(name, role=blanket.roles.get(name, "unknown"), effect=evidence.effect, log_p=evidence.log_p)
    for name in blanket.members:
        role = blanket.roles.get(name)
        child = blanket.common_children.get(name)
        if role == "parent":
            graph.add_edge(name, target, directed=True)
        elif role == "child":
            graph.add_edge(target, name, directed=True)
        elif role == "spouse" and child in graph:
            shown = blanket.roles.get(child or "") == "child"
            graph.add_edge(name, child, directed=shown)
            graph.add_edge(target, child, directed=shown)
        else:
            # A neighbor, or a member without a known role. If a spouse points at this child, the edge
            # may have a direction already.
            graph.add_edge(target, name, directed=graph.has_edge(target, name))
    return graph
