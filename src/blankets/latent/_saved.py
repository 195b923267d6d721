"""A latent blanket as plain values and back, with the fitted model: what is read predicts as before."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np

from blankets.data import Binning, Encoder, Reader, plain, refuse, short
from blankets.latent._graphs import to_networkx
from blankets.latent._network import Network
from blankets.latent._result import Latent, LatentBlanket, SubspaceScore
from blankets.latent._rows import Floats
from blankets.latent._scores import members_of

__all__ = ["content_of", "read_latent"]

_POSITIONS = ("parent", "child", "spouse", "outside")
_SCORES = ("mi", "bic", "error", "cll")
_MOST_NODES = 62  # parents are bits of a mask


def content_of(found: LatentBlanket) -> dict[str, Any]:
    """Return a latent blanket as plain values."""
    lists = ("members", "observed", "method", "score", "settings", "n_rows", "warnings", "manifest", "nodes")
    return {
        "target": found.target,
        **{name: plain(getattr(found, name)) for name in lists},
        "latents": [{name: plain(getattr(one, name)) for name in Latent.__slots__} for one in found.latents],
        "edges": [list(edge) for edge in found.graph.edges],
        "scores": [{name: plain(getattr(one, name)) for name in SubspaceScore.__slots__} for one in found.scores],
        "network": {name: plain(getattr(found.network, name)) for name in Network.__slots__},
        "encoder": _encoder_to_dict(found.encoder),
    }


def _encoder_to_dict(encoder: Encoder) -> dict[str, Any]:
    simple = ("names", "levels", "target", "missing", "missing_labels", "n_columns_in")
    binned = {name: {"rule": made.rule, "cuts": plain(made.cuts)} for name, made in encoder.binned.items()}
    return {**{name: plain(getattr(encoder, name)) for name in simple}, "binned": binned}


def read_latent(fields: Reader) -> LatentBlanket:
    """Make a latent blanket of what `content_of` returned."""
    nodes = fields.names("nodes")
    if len(set(nodes)) < len(nodes) or not 0 < len(nodes) <= _MOST_NODES:
        fields.odd("nodes")
    network = _network_from(fields.inside("network"), len(nodes))
    graph = to_networkx(network.parents, nodes)
    if not nx.is_directed_acyclic_graph(graph):
        refuse("'parents' in 'network' hold a cycle")
    arities = dict(zip(nodes, network.arities.tolist(), strict=True))
    latents = tuple(_latent_from(one, graph, arities) for one in fields.each("latents"))
    found = LatentBlanket(
        target=fields.one_of(nodes, "target"),
        members=_some_of(fields, "members", nodes),
        latents=latents,
        observed=_some_of(fields, "observed", nodes),
        graph=graph,
        scores=tuple(map(_score_from, fields.each("scores"))),
        method=fields.one(str, "method"),
        score=fields.one(str, "score"),
        settings=fields.one(dict, "settings"),
        n_rows=fields.count("n_rows"),
        warnings=fields.names("warnings"),
        manifest=fields.manifest(),
        network=network,
        nodes=nodes,
        encoder=_encoder_from(fields.inside("encoder")),
    )
    levels = dict(zip(found.encoder.names, map(len, found.encoder.levels), strict=True))
    hidden = {latent.name for latent in latents}
    if any(levels.get(name) != arities[name] for name in nodes if name not in hidden) or found.target in hidden:
        refuse("'names' and 'levels' in 'encoder' are not those of 'nodes'")
    fields.derived({"edges": [list(edge) for edge in graph.edges]}, "edges")
    return found


def _some_of(fields: Reader, key: str, words: tuple[str, ...]) -> tuple[str, ...]:
    names = fields.names(key)
    return names if set(names) <= set(words) else fields.odd(key)


def _network_from(fields: Reader, n: int) -> Network:
    parents, arities = fields.list_of(int, "parents"), fields.list_of(int, "arities")
    tables = fields.one(list, "tables")
    if not len(parents) == len(arities) == len(tables) == n:
        refuse("'parents', 'arities' and 'tables' in 'network' are not as many as 'nodes'")
    if not all(0 <= mask < 1 << n and not mask >> v & 1 for v, mask in enumerate(parents)):
        fields.odd("parents")
    if not all(0 < arity < 1 << 31 for arity in arities):
        fields.odd("arities")
    made = tuple(
        _distribution(table, "tables", tuple(arities[u] for u in (*members_of(parents[v]), v)))
        for v, table in enumerate(tables)
    )
    if not all((table > 0).all() for table in made):
        refuse("'tables' hold a probability of 0, which no fitted model has")
    return Network(np.array(parents, np.int64), np.array(arities, np.int64), made)


def _distribution(value: Any, key: str, shape: tuple[int, ...]) -> Floats:
    """Return nested lists as an array of a shape, whose last axis sums to 1."""
    table = np.array(_nested(value, key, shape), np.float64)
    if not np.allclose(table.sum(axis=-1), 1.0, atol=1e-6):
        refuse(f"{key!r} holds probabilities that do not add up to 1")
    return table


def _nested(value: Any, key: str, shape: tuple[int, ...]) -> Any:
    if not shape:
        return Reader({key: value}).probability(key)
    if not isinstance(value, list) or len(value) != shape[0]:
        refuse(f"{key!r} holds {short(value)}, not a list of {shape[0]}")
    return [_nested(item, key, shape[1:]) for item in value]


def _latent_from(fields: Reader, graph: nx.DiGraph, arities: dict[str, int]) -> Latent:
    name = fields.one_of(arities, "name")
    parents = fields.names("parents")
    if set(parents) != set(graph.predecessors(name)):
        fields.odd("parents")
    if set(children := fields.names("children")) != set(graph.successors(name)):
        fields.odd("children")
    prevalence = fields.numbers("prevalence", 0.0, 1.0)
    if len(prevalence) != arities[name] or not abs(sum(prevalence) - 1.0) < 1e-6:
        fields.odd("prevalence")
    return Latent(
        name=name,
        position=fields.one_of(_POSITIONS, "position"),
        certain=fields.one(bool, "certain"),
        parents=parents,
        children=children,
        table=_distribution(fields.one(list, "table"), "table", tuple(arities[u] for u in (*parents, name))),
        prevalence=prevalence,
        information=fields.known_number("information"),
        replaced=fields.names("replaced"),
        support=fields.number("support"),
    )


def _score_from(fields: Reader) -> SubspaceScore:
    return SubspaceScore(
        latent=fields.count("latent"),
        subspace=fields.one(str, "subspace"),
        members=fields.names("members"),
        refused=fields.one(str, "refused"),
        **{name: fields.number(name) for name in _SCORES},
    )


def _encoder_from(fields: Reader) -> Encoder:
    names, binned = fields.names("names"), fields.inside("binned")
    levels = tuple(map(tuple, fields.list_of(list, "levels")))
    if len(names) != len(levels) or len(set(names)) < len(names):
        refuse("'names' in 'encoder' are not as many as 'levels', or one is there twice")
    if not all(isinstance(level, str | int | float) for some in levels for level in some):
        refuse("'levels' in 'encoder' hold something else than texts and numbers")
    cuts = {name: binned.inside(name) for name in binned.content}
    return Encoder(
        names=names,
        levels=levels,
        binned={name: Binning(each.one(str, "rule"), _ascending(each)) for name, each in cuts.items()},
        target=fields.text_or_none("target"),
        missing=fields.one_of(("error", "level", "drop"), "missing"),
        missing_labels=fields.names_by_name("missing_labels"),
        n_columns_in=fields.count("n_columns_in") if fields.known("n_columns_in") else None,
    )


def _ascending(fields: Reader) -> tuple[float, ...]:
    cuts = fields.numbers("cuts")
    return cuts if not cuts or (np.isfinite(cuts).all() and (np.diff(cuts) > 0).all()) else fields.odd("cuts")
