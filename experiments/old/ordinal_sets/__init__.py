"""Classifiers on the five ordinal sets of the package skordinal: ACL 2021's tables without any download."""
