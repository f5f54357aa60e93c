"""One browser opens the pages of a file."""

from tests.app.serve import browser  # noqa: F401  (a fixture)
