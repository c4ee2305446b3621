"""Takes webhooks, and nothing that only looks like one. Ends after as many events as it is told.

    MILLWRIGHT_WEBHOOK_SECRET=whsec_… python receive_webhooks.py 8000 1
"""

import os
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer

from millwright import WebhookVerificationError, unwrap

SECRETS = os.environ["MILLWRIGHT_WEBHOOK_SECRET"].split()


class Receiver(BaseHTTPRequestHandler):
    seen: set[str] = set()

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"] or 0))
        try:
            event = unwrap(body, dict(self.headers), SECRETS)
        except WebhookVerificationError as error:
            self.send_error(400, str(error))
            return
        # An event may arrive twice: its id tells.
        if event["id"] not in self.seen:
            self.seen.add(event["id"])
            print(event["type"], event["data"].get("taskId"), flush=True)
        self.send_response(204)
        self.end_headers()


def main(port: int, count: int) -> None:
    with HTTPServer(("127.0.0.1", port), Receiver) as server:
        print("listening", flush=True)
        while len(Receiver.seen) < count:
            server.handle_request()


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
