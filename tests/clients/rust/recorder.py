"""Servers between a client of another process and the surfaces of an exchange."""

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx

# Of a connection, not of the request.
OF_CONNECTIONS = {"host", "connection", "content-length", "transfer-encoding", "content-encoding"}


def passed(headers):
    """The headers that go on."""
    return {name: value for name, value in headers.items() if name.lower() not in OF_CONNECTIONS}


def forwarder(target):
    """A server before a surface; returns its address. It forwards through httpx, which a `Recorder` records."""
    upstream = httpx.Client(base_url=target, timeout=30)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = -1  # head and body at once

        def forward(self):
            body = self.rfile.read(int(self.headers.get("content-length", 0)))
            answer = upstream.request(self.command, self.path, content=body, headers=passed(self.headers))
            self.send_response_only(answer.status_code)
            for name, value in passed(answer.headers).items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(answer.content)))
            self.end_headers()
            self.wfile.write(answer.content)
            self.wfile.flush()

        do_GET = do_POST = do_PUT = do_DELETE = forward

        def log_message(self, *_):
            """Nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}"
