"""All pages of `tools/list`, and how long they may be kept.

Guarantees: the list ends where `nextCursor` is absent ("" is a cursor too). A server whose
cursors repeat or never end costs a warning, not the start. A cursor that the server no longer
takes (-32602) throws the pages away and begins again, a few times.

What it leaves out: which definitions can be used (tools.py), and when to list again (member.py).

Sources: pagination, both revisions; `ttlMs`: revision 2026-07-28, caching.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from . import wire
from .errors import BadReply, RpcError
from .wire import Message

MAX_PAGES = 1000  # more is a server that counts up its cursor for ever
MAX_BEGINNINGS = 4  # the first, and three more after a bad cursor: its list changes faster than we read
LONGEST_TTL = 7 * 24 * 3600.0  # seconds, a week: a server that says more is asked after a week all the same


@dataclass(frozen=True)
class Listing:
    """The definitions as they came, unchecked. `ttl` in seconds: fresh for so long, 0 where the server does not say."""

    tools: list[Any]
    ttl: float = 0.0


class Asks(Protocol):
    """What a listing needs of a session."""

    server: str

    def request(self, method: str, params: Message | None, deadline: float) -> Message: ...


class BadCursor(Exception):
    """The server did not take a cursor that it had given."""


def list_tools(session: Asks, deadline: float, warn: Callable[[str], None]) -> Listing:
    """All pages. Raises what `request` raises, and BadReply for a page that is none."""
    for beginning in range(1, MAX_BEGINNINGS + 1):
        try:
            return read_pages(session, deadline, warn)
        except BadCursor as error:
            if beginning == MAX_BEGINNINGS and error.__cause__ is not None:
                raise error.__cause__ from None
    raise AssertionError("not reached")


def read_pages(session: Asks, deadline: float, warn: Callable[[str], None]) -> Listing:
    """One reading from the first page to the last."""
    tools: list[Any] = []
    cursors: set[str] = set()
    params: Message | None = None
    ttl = LONGEST_TTL
    for _ in range(MAX_PAGES):
        try:
            page = session.request("tools/list", params, deadline)
        except RpcError as error:
            if error.code == wire.METHOD_NOT_FOUND and not tools:
                return Listing([])  # a server without tools
            if error.code == wire.INVALID_PARAMS and params is not None:
                raise BadCursor from error
            raise
        if not isinstance(page.get("tools"), list):
            raise BadReply(session.server, f"server {session.server!r} answered tools/list without a list of tools")
        tools += page["tools"]
        ttl = min(ttl, read_ttl(page))
        cursor = page.get("nextCursor")
        if cursor is None:
            return Listing(tools, ttl)
        if not isinstance(cursor, str) or cursor in cursors:
            fault = "came again" if isinstance(cursor, str) else "is no text"
            warn(f"its tools/list does not end: cursor {cursor!r} {fault}; the pages so far are used")
            return Listing(tools, ttl)
        cursors.add(cursor)
        params = {"cursor": cursor}
    warn(f"its tools/list has more than {MAX_PAGES} pages; the first {MAX_PAGES} are used")
    return Listing(tools, ttl)


def read_ttl(result: Message) -> float:
    """Seconds for which a result is fresh: `ttlMs`; absent, negative or no number is 0, stale at once."""
    ttl = result.get("ttlMs")
    if isinstance(ttl, bool) or not isinstance(ttl, int | float) or not ttl > 0:
        return 0.0
    return float(min(ttl, LONGEST_TTL * 1000)) / 1000
