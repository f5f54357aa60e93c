"""A web server on this machine that behaves as badly as a test asks it to."""

import hashlib
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from metaeval.datasets import Dataset, File


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), _Handler)
        self.answers = {}
        self.asked = []
        self.over = threading.Event()

    def handle_error(self, request, client_address):
        """A client that hangs up is not an error here."""

    def url(self, path):
        return f"http://127.0.0.1:{self.server_address[1]}{path}"

    def serves(self, name, content, answer=None):
        """Return a registered file that is answered by `answer`, by default with its content."""
        path = f"/{name}"
        self.answers[path] = answer or whole(content)
        return File(name, self.url(path), hashlib.sha256(content).hexdigest(), len(content), "MIT", "me/data@0000000")

    def dataset(self, contents, answer=None):
        return Dataset("tiny", files=tuple(self.serves(name, content, answer) for name, content in contents.items()))


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.server.asked.append(self.path)
        self.close_connection = True
        self.server.answers[self.path](self)

    def log_message(self, *args):
        """Quiet."""


def whole(content, status=200, length=None, **headers):
    """Answer with this content, and say that it has that length."""

    def answer(request):
        request.send_response(status)
        request.send_header("Content-Length", str(len(content)) if length is None else length)
        request.send_header("Connection", "close")
        for name, value in headers.items():
            request.send_header(name.replace("_", "-"), value)
        request.end_headers()
        request.wfile.write(content)

    return answer
