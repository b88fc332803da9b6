"""Step 2 of the small client: spawn, handshake, shutdown.

Made by `grader build` from lessons/02_subprocess.md.
"""

import contextlib
import json
import subprocess
import threading
from collections import deque

import main


def spawn(command):
    """Start a server with a pipe at each of its three standard streams."""
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe)


def drain(stream, kept):
    """Read a stream to its end in a thread of its own; only the newest lines are kept."""

    def work():
        with stream:
            for line in stream:
                kept.append(line.decode("utf-8", "replace").rstrip())

    threading.Thread(target=work, daemon=True).start()


def encode(message):
    """One message as one line of bytes. json.dumps escapes a newline inside a text, and all but ASCII."""
    return json.dumps(message, separators=(",", ":")).encode() + b"\n"


def split_lines(buffer):
    """The complete lines in a buffer of bytes, and the rest, whose end has not come yet."""
    *lines, rest = buffer.split(b"\n")
    return lines, rest


def decode(line):
    """The message in one line; None for a line that is none, such as a stray print of the server."""
    try:
        message = json.loads(line)
    except ValueError:
        return None
    return message if isinstance(message, dict) else None


def shut_down(popen, grace=2.0):
    """Close stdin, wait, SIGTERM, wait, SIGKILL. A step comes only if the one before did not help."""
    with contextlib.suppress(OSError):  # the other end of the pipe may be gone already
        popen.stdin.close()
    for push in (popen.terminate, popen.kill):
        try:
            return popen.wait(grace)
        except subprocess.TimeoutExpired:
            push()
    return popen.wait()


class ServerEnded(RuntimeError):
    """The server's process has ended; no reply will come."""


class Process:
    """A server in a process of its own. Call it like a stub: message in, reply out."""

    def __init__(self, command):
        self.popen, self.log, self.session = spawn(command), deque(maxlen=50), None
        drain(self.popen.stderr, self.log)

    def __call__(self, message):
        try:
            self.popen.stdin.write(encode(message))
            self.popen.stdin.flush()
        except OSError:  # a broken pipe: nobody reads at the other end
            self.ended()
        while "id" in message:  # a notification gets no answer
            line = self.popen.stdout.readline()  # waits as long as it takes
            if not line:  # no line at all, not even an empty one: the end of the pipe
                self.ended()
            reply = decode(line)
            if reply is not None and reply.get("id") == message["id"]:
                return reply

    def ended(self):
        """End the process for good, mark its session as dead, and say so."""
        code = self.close()
        if self.session is not None:
            self.session.alive = False
        raise ServerEnded(f"has ended with exit code {code}")

    def close(self):
        """Leave no process behind; returns the exit code. To close twice does no harm."""
        code = shut_down(self.popen)
        self.popen.stdout.close()
        return code

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.close()


def connect(name, command):
    """Start a server and shake hands with it: a main.Session whose stub is a process."""
    process = Process(command)
    try:
        session = main.connect(name, process)
    except BaseException:  # whatever went wrong, the process must not stay
        process.close()
        raise
    process.session = session
    return session
