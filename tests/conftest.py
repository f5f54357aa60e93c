"""What all tests share: the order in which they are started."""


def pytest_collection_modifyitems(items):
    """Start first what one process has to do alone, so that none is left to wait for it at the end."""
    items.sort(key=lambda item: item.get_closest_marker("xdist_group") is None)
