"""The example that scores ranked documents runs only where ir_measures is installed."""

from importlib.util import find_spec

collect_ignore = [] if find_spec("ir_measures") else ["qrels.py"]
