"""Imported once, in the process that commands are forked from."""

from tests.hostile.forks import import_everything

import_everything()
