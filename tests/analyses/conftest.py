"""Two analyses are asked for on the command line too."""

from tests.cli.conftest import run  # noqa: F401  (a fixture)
