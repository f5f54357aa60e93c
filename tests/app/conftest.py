"""Commands are run as the command line's tests run them; what takes the pictures of the docs is no test."""

from tests.cli.conftest import refused, run  # noqa: F401  (fixtures)

collect_ignore = ["take_pictures.py"]
