"""A web server on this machine that behaves as badly as a test asks it to."""

import hashlib
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from metaeval.datasets import Dataset, File


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.answers, self.asked, self.over = {}, [], threading.Event()

    def handle_error(self, request, client_address):
        """A client that hangs up is not an error here."""

    def dataset(self, contents, answer=None):
        """Return a data set of files that are answered by `answer`, by default with their content."""
        address, files = f"http://127.0.0.1:{self.server_address[1]}", []
        for name, content in contents.items():
            self.answers[f"/{name}"] = answer or whole(content)
            digest = hashlib.sha256(content).hexdigest()
            files.append(File(name, f"{address}/{name}", digest, len(content), "MIT", "me/data@0000000"))
        return Dataset("tiny", files=tuple(files))


class Handler(BaseHTTPRequestHandler):
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
        said = {"Content-Length": len(content) if length is None else length, "Connection": "close", **headers}
        for name, value in said.items():
            request.send_header(name.replace("_", "-"), str(value))
        request.end_headers()
        request.wfile.write(content)

    return answer


@pytest.fixture
def server():
    server = Server()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield server
    server.over.set()
    server.shutdown()
    thread.join()
    server.server_close()
