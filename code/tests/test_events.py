"""The dispatcher: what is told is heard, on one thread, and nothing keeps it from closing."""

import threading
import time

import pytest
from mcp_harness.events import Dispatcher, Event

NEWS = Event("ready", "s", {}, 0.0)


def test_events_are_heard_in_order_on_a_thread_of_their_own():
    heard = []
    dispatcher = Dispatcher(lambda event: heard.append((event.server, threading.current_thread())))
    dispatcher.start()
    for name in "abc":
        dispatcher.tell(Event("ready", name, {}, 0.0))
    dispatcher.close()
    assert [name for name, _ in heard] == ["a", "b", "c"]
    assert {thread for _, thread in heard} != {threading.current_thread()}


def test_a_callback_that_raises_is_counted_and_called_again():
    dispatcher = Dispatcher(lambda event: 1 / 0)
    dispatcher.start()
    dispatcher.tell(NEWS)
    dispatcher.tell(NEWS)
    dispatcher.close()
    assert dispatcher.errors == 2


@pytest.mark.timeout(30, method="thread")  # the timer of the usual method is ours here
def test_after_a_ctrl_c_wherever_it_strikes_while_something_is_told_it_can_be_closed(alarm):
    strikes, began = 0, time.monotonic()
    for number in range(2000):
        dispatcher = Dispatcher(lambda event: None)
        dispatcher.start()
        try:
            alarm(Dispatcher.tell, 1e-6 * (number % 20 + 1))
            for _ in range(5):
                dispatcher.tell(NEWS)
        except KeyboardInterrupt:
            strikes += 1
        dispatcher.close()
    assert strikes > 50
    assert time.monotonic() - began < 20
