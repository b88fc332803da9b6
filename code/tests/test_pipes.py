"""Writing to a pipe that is full: frames stay whole, deadlines hold, nothing waits that must not."""

import contextlib
import json
import os
import threading
import time

import pytest
from mcp_harness.pipes import MAX_POSTED, FrameWriter, WriteTimeout


@pytest.fixture
def pipe():
    """A writer and the descriptor to read what it wrote."""
    read, write = os.pipe()
    os.set_blocking(write, False)
    os.set_blocking(read, False)
    writer = FrameWriter(os.fdopen(write, "wb", buffering=0))
    yield writer, read
    writer.close()
    os.close(read)


def drain(read):
    """Everything that is in the pipe now."""
    data = b""
    while True:
        try:
            piece = os.read(read, 1 << 20)
        except BlockingIOError:
            return data
        if not piece:
            return data
        data += piece


def soon(seconds=0.05):
    return time.monotonic() + seconds


def test_a_frame_arrives_whole(pipe):
    writer, read = pipe
    writer.write(b"frame\n", soon(5))
    assert drain(read) == b"frame\n"


def test_a_full_pipe_ends_the_wait_at_the_deadline_and_the_frame_is_finished_later(pipe):
    writer, read = pipe
    big = b"x" * 200_000 + b"\n"
    with pytest.raises(WriteTimeout) as caught:
        writer.write(big, soon())
    assert caught.value.begun
    assert writer.waiting
    received = drain(read)
    writer.flush()
    while writer.waiting:
        received += drain(read)
        writer.flush()
    writer.write(b"next\n", soon(5))
    assert received + drain(read) == big + b"next\n"


def test_a_frame_that_finds_no_room_at_all_is_not_begun(pipe):
    writer, read = pipe
    first = b"x" * 200_000 + b"\n"
    with pytest.raises(WriteTimeout):
        writer.write(first, soon())
    with pytest.raises(WriteTimeout) as caught:
        writer.write(b"second\n", soon())
    assert not caught.value.begun
    received = b""
    while writer.waiting:
        received += drain(read)
        writer.flush()
    assert received + drain(read) == first


def test_an_interrupt_in_the_middle_of_a_frame_does_not_spoil_the_next(pipe, monkeypatch):
    writer, read = pipe

    def interrupt(deadline):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(writer, "_wait_for_room", interrupt)
        with pytest.raises(KeyboardInterrupt):
            writer.write(b"y" * 200_000 + b"\n", soon(5))
    received = drain(read)
    while writer.waiting:
        writer.flush()
        received += drain(read)
    assert received == b"y" * 200_000 + b"\n"


def test_posting_never_waits_and_is_bounded(pipe):
    writer, _ = pipe
    while writer.post(b"p" * 1000 + b"\n"):
        pass
    assert len(writer._queue) == MAX_POSTED


def test_what_was_posted_goes_out_before_the_next_frame(pipe):
    writer, read = pipe
    with pytest.raises(WriteTimeout):
        writer.write(b"x" * 100_000 + b"\n", soon())
    assert writer.post(b"ping\n")
    thread = threading.Thread(target=writer.write, args=(b"last\n", soon(10)))
    thread.start()
    received = b""
    while not received.endswith(b"last\n"):
        received += drain(read)
    thread.join()
    assert received == b"x" * 100_000 + b"\nping\nlast\n"


def test_frames_of_many_threads_do_not_mix(pipe):
    writer, read = pipe
    threads = [
        threading.Thread(target=writer.write, args=(json.dumps([n] * 5000).encode() + b"\n", soon(20)))
        for n in range(8)
    ]
    for thread in threads:
        thread.start()
    received = b""
    while received.count(b"\n") < 8:
        received += drain(read)
    for thread in threads:
        thread.join()
    assert sorted(len(set(json.loads(line))) for line in received.splitlines()) == [1] * 8


def waiting_write(writer):
    """A thread in a write that finds no room, and the list that will have what it raised."""
    failures = []

    def write():
        try:
            writer.write(b"x" * 200_000 + b"\n", soon(20))
        except OSError as error:
            failures.append(error)

    thread = threading.Thread(target=write)
    thread.start()
    while not writer.waiting:
        pass
    return thread, failures


def test_closing_ends_a_write_that_waits(pipe):
    writer, _ = pipe
    thread, failures = waiting_write(writer)
    writer.close()
    thread.join(5)
    assert len(failures) == 1
    assert not writer.post(b"late\n")
    with pytest.raises(OSError, match="closed"):
        writer.write(b"late\n", soon(5))


def test_a_write_that_waits_learns_that_the_reader_has_gone_also_where_a_post_has_met_it_first():
    read, write = os.pipe()
    os.set_blocking(write, False)
    writer = FrameWriter(os.fdopen(write, "wb", buffering=0))
    thread, failures = waiting_write(writer)
    os.close(read)
    writer.post(b"ping\n")
    thread.join(5)
    writer.close()
    assert len(failures) == 1


def test_a_reader_that_has_gone_is_an_error_of_the_write_and_not_of_the_post():
    read, write = os.pipe()
    os.set_blocking(write, False)
    writer = FrameWriter(os.fdopen(write, "wb", buffering=0))
    os.close(read)
    writer.post(b"ping\n")
    assert not writer.waiting
    with pytest.raises(BrokenPipeError):
        writer.write(b"frame\n", soon(5))
    writer.close()


@pytest.mark.timeout(30, method="thread")  # the timer of the usual method is ours here
def test_after_a_ctrl_c_wherever_it_strikes_in_a_write_the_pipe_can_be_closed(alarm):
    strikes = 0
    for number in range(2000):
        read, write = os.pipe()
        os.set_blocking(write, False)
        writer = FrameWriter(os.fdopen(write, "wb", buffering=0))
        try:
            alarm(FrameWriter.write, 1e-6 * (number % 20 + 1))
            writer.write(b"frame\n", soon(5))
        except KeyboardInterrupt:
            strikes += 1
        writer.close()
        os.close(read)
    assert strikes > 50


@pytest.mark.timeout(30, method="thread")  # the timer of the usual method is ours here
def test_a_ctrl_c_in_a_write_cuts_no_frame_and_sends_no_byte_twice(alarm):
    """A frame larger than the pipe, and one behind it: the first comes whole or not at all."""
    big, strikes = b"y" * 200_000 + b"\n", 0
    for number in range(1000):
        read, write = os.pipe()
        os.set_blocking(write, False)
        os.set_blocking(read, False)
        writer = FrameWriter(os.fdopen(write, "wb", buffering=0))
        try:
            alarm(FrameWriter.write, 1e-6 * (2 + number % 100))
            with contextlib.suppress(WriteTimeout):
                writer.write(big, soon(0.0008))
        except KeyboardInterrupt:
            strikes += 1
        received = drain(read)
        while writer.waiting:
            writer.flush()
            received += drain(read)
        writer.write(b"next\n", soon(5))
        received += drain(read)
        writer.close()
        os.close(read)
        assert received in (b"next\n", big + b"next\n"), (number, len(received))
    assert strikes > 100


def test_a_write_is_over_when_its_own_frame_is_out_whatever_was_posted_behind_it(pipe):
    writer, read = pipe
    done = threading.Event()
    thread = threading.Thread(target=lambda: (writer.write(b"x" * 70_000 + b"\n", soon(20)), done.set()))
    thread.start()
    while not writer.waiting:
        pass
    while writer.post(b"p" * 1000 + b"\n"):  # the queue is full: there is no room for all of them
        pass
    received = b""
    while len(received) < 70_001:
        with contextlib.suppress(BlockingIOError):
            received += os.read(read, 70_001 - len(received))
    assert done.wait(5)
    assert writer.waiting
    thread.join()
