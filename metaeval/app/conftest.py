"""Examples of the playground run only where Streamlit is installed."""

from importlib.util import find_spec

collect_ignore = (
    [] if find_spec("streamlit") else ["answers.py", "charts.py", "main.py", "pairs.py", "parts.py", "views"]
)
# Streamlit runs this file; it is no module to import.
collect_ignore += [] if "main.py" in collect_ignore else ["main.py"]
