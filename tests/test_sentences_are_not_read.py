"""Facts are values: no code finds out from a sentence what it says."""

import ast
from pathlib import Path

import pytest

import blankets

SOURCE = Path(blankets.__file__).parent
# Attributes that hold sentences, and ways to look into a text.
SENTENCES = {
    *("what", "next_step", "advice", "words", "warnings", "notes", "headline", "lines", "reason", "why"),
    *("assumption", "cautions", "saw", "short", "meaning", "answer"),
}
LOOKS = {"startswith", "endswith", "partition", "rpartition", "split", "find", "index", "replace", "removeprefix"}
ROOMS = ("search", "filters", "latent", "planning", "results", "study", "questions", "plots", "report", "cli")


def named(node):
    """Return the name of what may be a sentence; a variable called ``words`` mostly holds single words."""
    own = node.id if isinstance(node, ast.Name) and node.id not in ("words", "lines", "answer", "short") else ""
    return node.attr if isinstance(node, ast.Attribute) else own


def reads(tree):
    """Yield the lines where a sentence is looked into."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in LOOKS:
            if named(node.func.value) in SENTENCES:
                yield node.lineno
        elif isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.In | ast.NotIn):
            literal = isinstance(node.left, ast.Constant) and isinstance(node.left.value, str)
            if literal and named(node.comparators[0]) in SENTENCES:
                yield node.lineno
        elif isinstance(node, ast.comprehension) and named(node.iter) in SENTENCES:
            inside = [one for test in node.ifs for one in ast.walk(test) if isinstance(one, ast.Constant)]
            yield from (one.lineno for one in inside if isinstance(one.value, str))


@pytest.mark.parametrize("path", sorted(p for room in ROOMS for p in (SOURCE / room).rglob("*.py")), ids=str)
def test_no_code_reads_a_sentence(path):
    assert [*reads(ast.parse(path.read_text()))] == []


@pytest.mark.parametrize(
    "code",
    [
        '"exclude=" in one.next_step',
        '[s for s in blanket.warnings if "came back" in s]',
        'note.reason.partition("; ")',
        'reason.partition("; ")',
    ],
)
def test_looking_into_a_sentence_is_seen(code):
    assert [*reads(ast.parse(code))] == [1]
