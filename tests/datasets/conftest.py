import threading

import pytest

from tests.datasets.bad_server import Server


@pytest.fixture
def server():
    one = Server()
    thread = threading.Thread(target=one.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield one
    one.over.set()
    one.shutdown()
    thread.join()
    one.server_close()


@pytest.fixture
def closed_port():
    """An address where nobody listens."""
    one = Server()
    one.server_close()
    return one.url
