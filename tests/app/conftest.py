"""Commands are run as the command line's tests run them."""

from tests.cli.conftest import refused, run  # noqa: F401  (fixtures)
