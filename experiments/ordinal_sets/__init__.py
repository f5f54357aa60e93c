"""Measures on ordinal sets that need no download."""
