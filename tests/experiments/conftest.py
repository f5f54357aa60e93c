"""What tests of the experiments share."""

import socket

import pytest


@pytest.fixture
def offline(monkeypatch, tmp_path):
    """No data, nothing kept, and every connection fails at once."""

    def refuse(*_, **__):
        raise OSError("Network is unreachable")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    empty = tmp_path / "data"
    empty.mkdir()
    monkeypatch.setenv("METAEVAL_DATA", str(empty))
    return empty
