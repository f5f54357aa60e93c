"""Classifiers on the five ordinal sets that the package skordinal brings: real scores without any download."""
