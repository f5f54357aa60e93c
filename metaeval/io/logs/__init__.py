"""Logs of evaluation harnesses: what every sample of a task scored, a module for each harness."""
