"""A campaign of hostile inputs against every part of metaeval: ``python -m tests.hostile --help``."""
