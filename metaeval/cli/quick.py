"""Quick answers: help, completion and look-ups import the analyses that they speak of, but compute nothing."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from types import ModuleType
from typing import Any

COMPLETION = "_METAEVAL_COMPLETE"
"""The environment variable by which a shell asks for completions."""

QUICK = frozenset({"cite", "data", "measures"})
"""Commands that look names up, and need no data frames unless another format than text is asked for."""


def import_later(name: str) -> None:
    """Put off the import of a package of which other modules say no more than ``import name`` before they use it."""
    if name not in sys.modules:
        later = _Later(name)
        later.__spec__ = importlib.util.find_spec(name)
        sys.modules[name] = later


class _Later(ModuleType):
    """Stands for a package until something of it is used."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # asked by the import of the package itself, not by a user of it
            raise AttributeError(name)
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]
        return getattr(importlib.import_module(self.__name__), name)
