"""Experiments: one folder a paper, run with ``python -m experiments``; they use metaeval's public API only."""
