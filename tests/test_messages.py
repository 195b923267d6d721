"""Every message is looked for by a test; `messages.py` lists them."""

import pytest

from messages import HOLE, letters_in, messages, untested


@pytest.mark.slow
def test_every_message_is_looked_for():
    assert untested() == []


@pytest.mark.slow
def test_messages_are_found():
    assert len(messages()) > 500
    assert any(message.text.startswith("algorithm …") for message in messages())


@pytest.mark.parametrize(
    ("piece", "n"),
    [("'b' is not a column; did you mean", 22), ("not a column", 10), ("is no column", 0), ("what is not a", 6)],
)
def test_letters_that_are_the_message_s_own(piece, n):
    # Counted by hand; the hole takes the rest, and a piece that is no part of the message whole.
    assert letters_in(piece, f"{HOLE} is not a column; did you mean {HOLE}") == n
