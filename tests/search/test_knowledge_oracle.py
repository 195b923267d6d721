"""Knowledge under perfect tests: true knowledge never hurts and orients more; false knowledge is reported."""

import networkx as nx
import numpy as np
import pytest

from blankets.independence import DSeparation, Knowledge
from blankets.search import ALGORITHMS
from blankets.study import Search, Study, Wanted
from search.graphs import truth, varied_dag

SOUND = [name for name, algorithm in ALGORITHMS.items() if algorithm.sound and algorithm.finds == "blanket"]


def named(graph):
    return nx.relabel_nodes(graph, {x: f"v{x}" for x in sorted(graph.nodes)}, copy=True)
