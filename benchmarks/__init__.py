"""Benchmarks: ``python -m benchmarks`` prints what is measured here beside what users would pick instead."""
