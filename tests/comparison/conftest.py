"""Reports are opened in a browser, as pages of the playground are."""

from tests.app.serve import browser  # noqa: F401  (a fixture)
