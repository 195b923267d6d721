"""Safe HTML: everything that is not marked as HTML is escaped."""

from __future__ import annotations

import base64
import hashlib
import json
from html import escape
from importlib.resources import files
from string import Template
from typing import Any

_VOID = frozenset({"br", "circle", "input", "line", "path", "rect"})


class Html(str):
    """Text that is HTML already. Only this module and the project's own files make it."""

    __slots__ = ()


def tag(name: str, /, *children: object, **attributes: object) -> Html:
    """Return an element; children and attributes that are not `Html` are escaped.

    An attribute that is None is left out; ``class_`` means ``class`` and ``aria_label`` ``aria-label``.

    >>> print(tag("p", "1 < 2 & ", tag("b", "so on"), class_="a", title='"', hidden=None))
    <p class="a" title="&quot;">1 &lt; 2 &amp; <b>so on</b></p>
    """
    given = {key.rstrip("_").replace("_", "-"): value for key, value in attributes.items() if value is not None}
    opening = name + "".join(f' {key}="{escape(str(value))}"' for key, value in given.items())
    return Html(f"<{opening}/>" if name in _VOID else f"<{opening}>{many(*children)}</{name}>")


def many(*parts: object) -> Html:
    """Return parts one after the other; parts that are not `Html` are escaped, None is left out."""
    told = (part if isinstance(part, Html) else escape(str(part)) for part in parts if part is not None)
    return Html("".join(told))


def asset(name: str) -> Html:
    """Return one of the project's own style sheets, scripts or pieces of HTML."""
    return Html((files("blankets.report") / "assets" / name).read_text(encoding="utf-8"))


def data_block(content: Any, identifier: str) -> Html:
    r"""Return plain data as a block for scripts; nothing in the data can end the block.

    >>> print(data_block({"name": "</script><script>alert(1)"}, "d"))
    <script type="application/json" id="d">{"name":"\u003c/script>\u003cscript>alert(1)"}</script>
    """
    document = json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    # Lone surrogates cannot be written as UTF-8; "<" could end the block or open a comment.
    safe = document.encode("utf-8", "backslashreplace").decode().replace("<", "\\u003c")
    return Html(f'<script type="application/json" id="{escape(identifier)}">{safe}</script>')


def page(*, title: str, description: str, body: Html, styles: list[Html], scripts: list[Html]) -> str:
    """Return a whole document that may load nothing: its policy allows only its own style and script, by hash."""
    style, script = "\n".join(styles), "\n".join(scripts)
    text = Template(asset("page.html")).substitute(
        title=escape(title),
        description=escape(description),
        style_hash=_hash(style),
        script_hash=_hash(script),
        style=style,
        script=script,
        body=body,
    )
    return text.encode("utf-8", "backslashreplace").decode()


def _hash(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
