"""Every message of the package, for one more read, and whether a test looks for its words.

``python tests/messages.py`` lists all of them by file, ``python tests/messages.py --untested`` those of which no test
holds words. A message is the text of an exception or a warning where it is raised; "…" stands for what is filled in.
"""

import ast
import re
import sys
from functools import cache
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "blankets"
HOLE = "…"
KINDS = ("warn", "told", "note", "fail", "error", "_error", "Refused", "out_of_range")
ENOUGH, LONG = 9, 400  # letters of a test's text that are a message's own; letters of a text that is looked at


class Message(NamedTuple):
    """A text and where it is raised."""

    file: str
    line: int
    kind: str
    text: str


def text_of(node):
    """Return the text of an expression, with holes; None if there is none in it."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else HOLE
    if isinstance(node, ast.JoinedStr):
        return "".join(text_of(part) for part in node.values)
    if isinstance(node, ast.FormattedValue):
        return HOLE
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return f"{text_of(node.left)}{text_of(node.right)}"
    if isinstance(node, ast.IfExp):
        return f"{text_of(node.body)} / {text_of(node.orelse)}"
    return HOLE


def name_of(node):
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else HOLE


def messages_of(path):
    """Yield the messages of a file: what is raised, warned of, or made as an error or a warning to be raised later."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if not isinstance(node, ast.Call) or not node.args:
            continue
        kind = name_of(node.func)
        if kind in KINDS or re.search(r"(Error|Warning|Exception|BadParameter)$", kind):
            text = text_of(node.args[0])
            if kind == "out_of_range":  # errors.py makes the sentence
                text = f"'{text}' must be {text_of(node.args[-1])}, but it is {HOLE}"
            elif kind in ("_error", "Refused"):  # what it is about is said before
                text = f"{HOLE} {text}"
            text = " ".join(text.split())
            if re.search(r"\w{3,} \w", text.replace(HOLE, "")):
                yield Message(str(path.relative_to(SOURCE)), node.lineno, kind, text)


@cache
def messages():
    found = [message for path in sorted(SOURCE.rglob("*.py")) for message in messages_of(path)]
    return sorted(set(found))


@cache
def texts_of_tests():
    """Return each piece of text between the wildcards of what tests hold, with its words; docstrings are left out."""
    found = set()
    for path in (ROOT / "tests").rglob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        said = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in said:
                plain = re.sub(r"\\([^\w\s])", r"\1", re.sub(r"\\[dwsb][+*]?|\.[*+]\??|[|^$]", "\n", node.value))
                found |= {" ".join(piece.split()) for text in (plain, node.value) for piece in text.split("\n")}
    return {piece: words_of(piece) for piece in found if ENOUGH <= len(piece) <= LONG}


def words_of(text):
    return frozenset(re.findall(r"[^\W\d_]{2,}", text))


def letters_in(piece, template):
    """Return how many letters of a piece are the template's own if the piece is a part of it; holes hold anything."""

    def reached(states):
        for at, n in sorted(states.items()):
            if at < len(template) and template[at] == HOLE and states.get(at + 1, -1) < n:
                states[at + 1] = n
        return states

    states = reached(dict.fromkeys(range(len(template)), 0))
    for letter in piece:
        after = {}
        for at, n in states.items():
            if at < len(template) and template[at] == HOLE:
                after[at] = max(after.get(at, 0), n)
            elif at < len(template) and template[at] == letter:
                after[at + 1] = max(after.get(at + 1, 0), n + letter.isalnum())
        states = reached(after)
    return max(states.values(), default=0)


def is_tested(message):
    """Tell whether a test holds a part of this message, with enough words that are its own."""
    words = words_of(message.text)
    enough = min(ENOUGH, sum(map(len, words)))
    return any(
        sum(map(len, held & words)) >= enough and letters_in(piece, message.text) >= enough
        for piece, held in texts_of_tests().items()
    )


def untested(room=""):
    return [message for message in messages() if message.file.startswith(room) and not is_tested(message)]


def main():
    for message in untested() if "--untested" in sys.argv else messages():
        sys.stdout.write(f"{message.file}:{message.line}: {message.kind}: {message.text}\n")
    sys.stdout.write(f"{len(messages())} messages, {len(untested())} of which no test holds words\n")


if __name__ == "__main__":
    main()
