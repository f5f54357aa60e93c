"""Simulated gold and runs: seeded, documented, and always called simulated."""
