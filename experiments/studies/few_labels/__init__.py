"""Runs ranked by a judge and few labels of people."""
