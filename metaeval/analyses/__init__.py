"""Analyses: one question a module, asked of Scores, answered with a small frozen result."""
