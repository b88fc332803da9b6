"""`subscriptions/listen`: one request that stands open while the server announces changes on it.

    asked → open → over           the server acknowledged it; later it ended the stream
    asked → over, refused         it answered with an error, or does not announce what we asked for

Guarantees: it is never timed out. The server may end it with a result, with
`notifications/cancelled`, or with both: the specification says one thing on one page and the
other on another. What was announced meanwhile is lost, so after the end comes a new listing.

What it leaves out: asking again and listing again, which the member does (see member.py).

Source: revision 2026-07-28, subscriptions; cancellation.
"""

from collections.abc import Callable

from . import wire
from .eras import META
from .pending import Failure
from .wire import Message

METHOD = "subscriptions/listen"
ACKNOWLEDGED = "notifications/subscriptions/acknowledged"
WANTED: Message = {"notifications": {"toolsListChanged": True}}


def announces_changes(hello: Message) -> bool:
    """True if the server has declared that it announces changes of its tools."""
    capabilities = hello.get("capabilities")
    tools = capabilities.get("tools") if isinstance(capabilities, dict) else None
    return isinstance(tools, dict) and tools.get("listChanged") is True


class Subscription:
    """One listen request, as the waiter for its result. `on_over` is called on the reader thread."""

    standing = True

    def __init__(self, on_over: Callable[[], None]) -> None:
        self._on_over = on_over
        self.id: int | None = None
        self.open = self.over = self.refused = False

    def fill(self, body: Message) -> None:
        """The result, a graceful end; or an error."""
        self._end(refused="result" not in body)

    def fail(self, failure: Failure) -> None:
        """The process has ended, and the stream with it."""
        self._end(refused=False)

    def cancel(self) -> None:
        """The server's other way to end it. The result may follow."""
        self._end(refused=False)

    def acknowledge(self, params: Message) -> bool:
        """The server's first word on the stream: what it will announce. True if that is what we asked for."""
        if self.over or not self.is_meant_by(params):
            return False
        honoured = params.get("notifications")
        self.open = isinstance(honoured, dict) and honoured.get("toolsListChanged") is True
        self.refused = not self.open
        return self.open

    def is_meant_by(self, params: Message) -> bool:
        """True if a notification carries our subscription's id."""
        meta = params.get("_meta")
        return (
            isinstance(meta, dict) and self.id is not None and wire.own_id(meta.get(META + "subscriptionId")) == self.id
        )

    def _end(self, refused: bool) -> None:
        self.open, self.over = False, True
        self.refused = self.refused or refused
