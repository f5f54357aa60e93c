"""Commands are run as the command line's tests run them, and one browser opens the pages of a file."""

from tests.app.serve import browser  # noqa: F401  (a fixture)
from tests.cli.conftest import refused, run  # noqa: F401  (fixtures)
