r"""Reading and writing the Bayesian interchange format (BIF).

::

    network name { property ...; }
    variable rain { type discrete [ 2 ] { no, yes }; property ...; }
    probability ( grass | rain, sprinkler ) {
      (no, off) 0.95, 0.05;           one row for each configuration of the parents,
      default 0.1, 0.9;               the rest,
      table 0.95, 0.1, 0.05, 0.9;     or everything at once: the last parent changes fastest, the node slowest
    }

Words may be quoted (``"left side"``, with ``\"`` for a quote inside) and then have any character.
Separators are commas or blanks; older files list the parents without the bar. Comments are ``//`` to the
end of the line and ``/* ... */``.
"""

from __future__ import annotations

import gzip
import math
import re
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from blankets.errors import DataError, did_you_mean, listed

Parts = tuple[dict[str, tuple[str, ...]], dict[str, tuple[str, ...]], dict[str, NDArray[np.float64]]]

MOST_CELLS = 2**27  # tables of more than a gigabyte are a mistake in the file
MOST_PARENTS = 63  # a table has one axis per parent and one for the node; NumPy allows 64

# Possessive quantifiers (*+, ++): a mistake in a large file is found in linear time.
_QUOTED = r'"(?:[^"\\]|\\.)*+"'
_WORD = rf'(?:{_QUOTED}|[^\s,|(){{}}\[\];"]++)'
_COMMENT = re.compile(rf"{_QUOTED}?+|//[^\n]*+|/\*.*?(?:\*/|\Z)", re.DOTALL)  # or up to the end, if not closed
_NETWORK = re.compile(rf"\s*+network\b\s*+{_WORD}?+\s*+\{{(?:{_QUOTED}|[^\"{{}}])*+\}}", re.DOTALL)
_VARIABLE = re.compile(rf"\s*+variable\s++({_WORD})\s*+\{{", re.DOTALL)
_TYPE = re.compile(
    rf"\s*+type\s++discrete\s*+\[\s*+([0-9]{{1,9}}+)\s*+\]\s*+\{{((?:{_QUOTED}|[^\"{{}}])*+)\}}\s*+;?+", re.DOTALL
)
_PROPERTY = re.compile(rf"\s*+property\b(?:{_QUOTED}|[^\";])*+;", re.DOTALL)
_PROBABILITY = re.compile(rf"\s*+probability\s*+\(((?:{_QUOTED}|[^\"()])*+)\)\s*+\{{", re.DOTALL)
_ROW = re.compile(rf"\s*+(?:\(((?:{_QUOTED}|[^\"()])*+)\)|(table|default)\b)([^;(){{}}\"]*+);", re.DOTALL)
_CLOSE = re.compile(r"\s*+\}\s*+;?+")
_WORDS = re.compile(_WORD, re.DOTALL)
_SAFE = re.compile(r"[A-Za-z0-9_.+\-<>=%]+")
_BLANK = re.compile(r"\s*+")


@dataclass(slots=True)
class _Block:
    """The probabilities of one node as written in the text."""

    name: str
    parents: tuple[str, ...]
    at: int
    rows: list[tuple[str | None, str, str, int]] = field(default_factory=list)  # labels, kind, numbers, position


def text_of(source: str | Path) -> str:
    """Return the text of a path (plain or gzip), or the source itself if it is BIF text already."""
    if isinstance(source, str) and ("{" in source or "\n" in source):
        return source
    try:
        raw = Path(source).read_bytes()
        if raw.startswith(b"\x1f\x8b"):
            raw = gzip.decompress(raw)
    except (OSError, EOFError, zlib.error, ValueError) as error:
        raise DataError(f"cannot read the network file {str(source)!r}: {error}") from None
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        return raw.decode("latin-1")


def parse(text: str, *, tolerance: float) -> Parts:
    """Return the levels, parents and tables of a network in BIF."""
    return _Reader(text, tolerance).read()


class _Reader:
    """Reads the text in one pass: collects the blocks, then makes the tables, because blocks come in any order."""

    def __init__(self, text: str, tolerance: float) -> None:
        self.text = _COMMENT.sub(_blank_comment, text) if "//" in text or "/*" in text else text
        self.tolerance = tolerance
        self.at = 0
        self.cells = 0
        self.levels: dict[str, tuple[str, ...]] = {}
        self.blocks: dict[str, _Block] = {}

    def read(self) -> Parts:
        self._take(_NETWORK)
        while True:
            if match := self._take(_VARIABLE):
                self._variable(_unquote(match[1]), match.start(1))
            elif match := self._take(_PROBABILITY):
                self._probability(match[1], match.start(1))
            elif self._rest():
                raise self._error(f"expected 'variable' or 'probability', but found {self._rest()!r}")
            else:
                break
        if not self.levels:
            raise DataError("BIF: there is no variable in this text")
        for name, block in self.blocks.items():
            if name not in self.levels:
                near = did_you_mean(name, list(self.levels))
                raise self._error(f"there are probabilities of {name!r}, which is not a variable{near}", block.at)
        parents = {name: self._parents(name) for name in self.levels}
        tables = {name: self._table(self.blocks[name]) for name in self.levels}
        return self.levels, parents, tables

    def _take(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        match = pattern.match(self.text, self.at)
        if match is not None:
            self.at = match.end()
        return match

    def _rest(self) -> str:
        """Return the next few characters, for a message; empty at the end of the text."""
        start = _BLANK.match(self.text, self.at).end()  # type: ignore[union-attr]  # it matches anything
        return self.text[start : start + 30].partition("\n")[0]

    def _error(self, message: str, at: int | None = None) -> DataError:
        if at is None:
            at = _BLANK.match(self.text, self.at).end()  # type: ignore[union-attr]
        return DataError(f"BIF line {self.text.count(chr(10), 0, at) + 1}: {message}")

    def _variable(self, name: str, at: int) -> None:
        if name in self.levels:
            raise self._error(f"variable {name!r} is declared twice", at)
        while not (match := self._take(_TYPE)):
            if not self._take(_PROPERTY):
                raise self._error(f"expected 'type discrete [ n ] {{ ... }};' for {name!r}, but found {self._rest()!r}")
        levels = tuple(_words(match[2], int(match[1])))
        if len(levels) != int(match[1]):
            raise self._error(f"variable {name!r} announces {match[1]} levels, but lists {len(levels)}", at)
        if not levels or len(set(levels)) < len(levels):
            raise self._error(f"variable {name!r} needs different levels, but lists {listed(levels)}", at)
        self.levels[name] = levels
        while self._take(_PROPERTY):
            pass
        if not self._take(_CLOSE):
            raise self._error(f"expected '}}' after variable {name!r}, but found {self._rest()!r}")

    def _probability(self, header: str, at: int) -> None:
        names, bar, given = header.partition("|") if '"' not in header else _split_at_bar(header)
        words = _bare_words(names)
        parents = _bare_words(given) if bar else words[1:]
        if not words or (bar and len(words) != 1):
            raise self._error(f"expected '( node | parents )', but found '({header.strip()})'", at)
        block = _Block(words[0], tuple(parents), at)
        if block.name in self.blocks:
            raise self._error(f"the probabilities of {block.name!r} are given twice", at)
        while match := self._take(_ROW) or self._take(_PROPERTY):
            if match.re is _ROW:
                block.rows.append((match[1], match[2] or "row", match[3], match.start(3)))
        if not self._take(_CLOSE):
            raise self._error(f"expected a row of probabilities of {block.name!r}, but found {self._rest()!r}")
        self.blocks[block.name] = block

    def _parents(self, name: str) -> tuple[str, ...]:
        if name not in self.blocks:
            raise DataError(f"BIF: there is no 'probability' block for variable {name!r}")
        block = self.blocks[name]
        for parent in block.parents:
            if parent not in self.levels:
                near = did_you_mean(parent, list(self.levels))
                raise self._error(f"the parent {parent!r} of {name!r} is not a variable{near}", block.at)
        if len({name, *block.parents}) <= len(block.parents):
            raise self._error(f"the parents of {name!r} must be different variables", block.at)
        if len(block.parents) > MOST_PARENTS:
            raise self._error(
                f"{name!r} has {len(block.parents)} parents; at most {MOST_PARENTS} are possible", block.at
            )
        return block.parents

    def _table(self, block: _Block) -> NDArray[np.float64]:
        """Return the table of one node, of shape (levels of the parents ..., levels of the node)."""
        shape = tuple(len(self.levels[name]) for name in (*block.parents, block.name))
        self.cells += math.prod(shape)
        if self.cells > MOST_CELLS:
            raise self._error(f"up to {block.name!r} the tables have more than {MOST_CELLS:,} cells", block.at)
        table = np.full((math.prod(shape[:-1]), shape[-1]), np.nan)
        codes = [{level: k for k, level in enumerate(self.levels[parent])} for parent in block.parents]
        default = None
        for labels, kind, text, at in block.rows:
            numbers = self._numbers(text, table.size if kind == "table" else shape[-1], at)
            if kind == "default":
                default = numbers
            elif kind == "table":
                table[:] = np.reshape(numbers, table.T.shape).T
            else:
                row = self._configuration(labels or "", codes, block, at)
                if not np.isnan(table[row, 0]):
                    raise self._error(f"the row ({labels}) of {block.name!r} is given twice", at)
                table[row] = numbers
        if default is not None:
            table[np.isnan(table[:, 0])] = default
        self._check(table, block)
        return (table / table.sum(axis=1, keepdims=True) if _off(table).max() > 1e-12 else table).reshape(shape)

    def _numbers(self, text: str, count: int, at: int) -> list[float]:
        words = text.replace(",", " ").split()
        try:
            numbers = [float(word) for word in words]
        except ValueError:
            raise self._error(f"expected {count} probabilities, but found {text.strip()[:30]!r}", at) from None
        if len(numbers) != count:
            raise self._error(f"expected {count} probabilities, but found {len(numbers)}", at)
        if not all(0 <= number <= 1 + self.tolerance for number in numbers):
            raise self._error("probabilities must lie between 0 and 1", at)
        return numbers

    def _configuration(self, labels: str, codes: list[dict[str, int]], block: _Block, at: int) -> int:
        """Return the row of the table for a configuration of the parents."""
        words = _words(labels, len(codes))
        if len(words) != len(codes):
            raise self._error(f"{block.name!r} has {len(codes)} parents, but the row ({labels}) names {len(words)}", at)
        row = 0
        for word, code, parent in zip(words, codes, block.parents, strict=True):
            if word not in code:
                raise self._error(f"{word!r} is not a level of {parent!r}; it has {listed(code)}", at)
            row = row * len(code) + code[word]
        return row

    def _check(self, table: NDArray[np.float64], block: _Block) -> None:
        for wrong, what in (
            (np.isnan(table[:, 0]), "has no row"),
            (_off(table) > self.tolerance + 1e-9, "does not sum to one"),
        ):
            if wrong.any():
                levels = [self.levels[parent] for parent in block.parents]
                where = np.unravel_index(int(np.argmax(wrong)), [len(values) for values in levels]) if levels else ()
                labels = ", ".join(values[k] for values, k in zip(levels, where, strict=True))
                raise self._error(f"the table of {block.name!r} {what} for ({labels})", block.at)


def _off(table: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return how far each row is from summing to one."""
    off: NDArray[np.float64] = np.abs(table.sum(axis=1) - 1)
    return off


def _blank_comment(match: re.Match[str]) -> str:
    """Replace a comment by blanks, but keep its line ends (and quoted words, which may look like a comment)."""
    return match[0] if match[0].startswith('"') else re.sub(r"[^\n]", " ", match[0])


def _unquote(word: str) -> str:
    return re.sub(r"\\(.)", r"\1", word[1:-1], flags=re.DOTALL) if word.startswith('"') else word


def _bare_words(text: str) -> list[str]:
    return [_unquote(word) for word in _WORDS.findall(text)]


def _words(text: str, count: int) -> list[str]:
    """Split a list of levels at commas, or at blanks if there are no commas; quoted words stay whole."""
    if '"' in text:
        return _bare_words(text)
    if "," in text or count == 1:
        return [word.strip() for word in text.split(",") if word.strip()]
    return text.split()


def _split_at_bar(header: str) -> tuple[str, str, str]:
    """Partition at the first bar outside quotes."""
    bar = next((match.start() for match in re.finditer(rf"{_QUOTED}|\|", header, re.DOTALL) if match[0] == "|"), None)
    return (header, "", "") if bar is None else (header[:bar], "|", header[bar + 1 :])


def write(
    levels: Mapping[str, Sequence[object]],
    parents: Mapping[str, Sequence[str]],
    tables: Mapping[str, NDArray[np.float64]],
) -> str:
    """Return the BIF text of a network; reading it gives exactly the same numbers."""
    lines = ["network unknown {", "}"]
    for name, values in levels.items():
        listing = ", ".join(_quote(value) for value in values)
        lines += [f"variable {_quote(name)} {{", f"  type discrete [ {len(values)} ] {{ {listing} }};", "}"]
    for name, table in tables.items():
        given = ", ".join(_quote(parent) for parent in parents[name])
        lines.append(f"probability ( {_quote(name)}{f' | {given}' if given else ''} ) {{")
        rows = table.reshape(-1, table.shape[-1]).tolist()
        configurations = product(*([_quote(value) for value in levels[parent]] for parent in parents[name]))
        for labels, row in zip(configurations, rows, strict=True):
            lead = f"({', '.join(labels)})" if labels else "table"
            lines.append(f"  {lead} {', '.join(map(repr, row))};")
        lines.append("}")
    return "\n".join(lines) + "\n"


def _quote(word: object) -> str:
    text = str(word)
    if _SAFE.fullmatch(text):
        return text
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
