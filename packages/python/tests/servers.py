"""Small servers of real HTTP: one that answers as it is told, and one between client and service that cuts connections."""

from __future__ import annotations

import json
import select
import socket
import threading
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Callable, Iterator
from urllib.parse import urlsplit


@dataclass
class Answer:
    """`lost`: the connection ends in place of an answer; `cut`: in the middle of its body."""

    status: int = 200
    body: Any = field(default_factory=dict)
    headers: dict[str, str] = field(default_factory=dict)
    lost: bool = False
    cut: bool = False
    after: Callable[[], None] | None = None
    """Waited for before the answer."""


@dataclass
class Received:
    method: str
    path: str
    headers: dict[str, str]
    body: bytes


def refusal(status: int, code: str, *, retryable: bool, **headers: str) -> Answer:
    error = {"type": "x", "code": code, "message": "No.", "param": None, "requestId": "r-1", "retryable": retryable}
    return Answer(status, {"error": error}, {name.replace("_", "-"): value for name, value in headers.items()})


class Scripted:
    """Gives one answer after the other; the last one again and again."""

    def __init__(self) -> None:
        self.answers: list[Answer] = [Answer()]
        self.received: list[Received] = []
        self.url = ""

    def next(self) -> Answer:
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]

    @property
    def keys(self) -> list[str | None]:
        return [one.headers.get("idempotency-key") for one in self.received]


@contextmanager
def scripted() -> Iterator[Scripted]:
    script = Scripted()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: Any) -> None:
            """Nobody reads it."""

        def answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length", 0)))
            headers = {name.lower(): value for name, value in self.headers.items()}
            script.received.append(Received(self.command, self.path, headers, body))
            answer = script.next()
            if answer.after is not None:
                answer.after()
            self.close_connection = answer.lost or answer.cut
            if answer.lost:
                return
            text = answer.body if isinstance(answer.body, bytes) else json.dumps(answer.body).encode()
            self.send_response(answer.status)
            for name, value in answer.headers.items():
                self.send_header(name, value)
            self.send_header("content-length", str(len(text) + (10 if answer.cut else 0)))
            self.end_headers()
            self.wfile.write(text)

        do_GET = do_POST = do_PATCH = do_PUT = do_DELETE = answer

    class Server(ThreadingHTTPServer):
        def handle_error(self, *_: Any) -> None:
            """Of a client that did not wait for its answer."""

    with Server(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        script.url = f"http://127.0.0.1:{server.server_address[1]}"
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield script
        finally:
            server.shutdown()
            thread.join()


class Cutting:
    """
    A relay before the service. A connection whose request asks for a stream is cut after some bytes of its answer, fewer or more, `cuts`
    times. `mute`: of streams nothing comes through at all.
    """

    def __init__(self, target: str, *, cuts: int = 0, mute: bool = False) -> None:
        url = urlsplit(target)
        self._target = (str(url.hostname), int(url.port or 80))
        self.left = cuts
        self._mute = mute
        self._lock = threading.Lock()
        self._server = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._server.getsockname()[1]}"
        self.streams = 0
        threading.Thread(target=self._accept, daemon=True).start()

    def __enter__(self) -> Cutting:
        return self

    def __exit__(self, *_: Any) -> None:
        # What accepts is woken by that, too.
        self._server.shutdown(socket.SHUT_RDWR)
        self._server.close()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._server.accept()
            except OSError:
                return
            threading.Thread(target=self._relay, args=(client,), daemon=True).start()

    def _budget(self) -> int | None:
        """How many bytes of this stream come through; None for all."""
        with self._lock:
            self.streams += 1
            if self.left == 0:
                return None
            self.left -= 1
            # Within the head, the first frame, an event, or behind some of them.
            return 50 + self.left * 1733 % 9000

    def _relay(self, client: socket.socket) -> None:
        with client, socket.create_connection(self._target) as service:
            budget: int | None = None
            while True:
                readable, _, _ = select.select([client, service], [], [])
                for source in readable:
                    try:
                        chunk = source.recv(65_536)
                    except OSError:
                        return
                    if not chunk:
                        return
                    if source is client and b"text/event-stream" in chunk:
                        budget = self._budget()
                        if self._mute:
                            continue
                    elif source is service and budget is not None:
                        chunk, budget = chunk[:budget], budget - len(chunk)
                    (service if source is client else client).sendall(chunk)
                    if budget is not None and budget <= 0:
                        return
