"""A server between a client and an exchange that changes answers, or loses them."""

import json
import threading
import urllib.error
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

OWN_HEADERS = {"host", "connection", "content-length", "accept-encoding"}


class Forwarder:
    """Forwards requests. `change` gets the path and the JSON of an answer; None closes the connection without one."""

    def __init__(self, target, change):
        self.requests = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def forward(self):
                body = self.rfile.read(int(self.headers.get("content-length", 0))) or None
                outer.requests.append((self.command, self.path))
                status, answer = outer.ask(target + self.path, self.command, self.headers, body)
                changed = change(self.path, answer)
                if changed is None:
                    self.close_connection = True
                    return
                sent = json.dumps(changed).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(sent)))
                self.end_headers()
                self.wfile.write(sent)

            do_GET = do_POST = do_DELETE = forward

            def log_message(self, *_):
                """Nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    @staticmethod
    def ask(url, method, headers, body):
        """Status and JSON of the exchange's answer."""
        passed = {name: value for name, value in headers.items() if name.lower() not in OWN_HEADERS}
        request = urllib.request.Request(url, body, passed, method=method)
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as refused:
            return refused.code, json.load(refused)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._server.shutdown()
        self._server.server_close()
