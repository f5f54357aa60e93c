"""What of the campaign runs with the other tests: the one place to switch a part, or the check of a defect, on.

A part or a check stands in `CLEAN` and `MENDED`, or in `NOT_YET`, until what it finds is mended.
"""

from __future__ import annotations

INPUTS = 2500
SEED = 11
SECONDS = 75
"""Inputs of the parts that are clean, their seed, and when to stop at the latest."""

CLEAN = ()

NOT_YET = ()

MENDED = ()

SLOW = ()
"""Checks of mended defects that take long: only `python -m tests.hostile --defects` runs them."""
