"""Examples of the playground run only where Streamlit is installed."""

from importlib.util import find_spec

_PAGES = ["bars.py", "candidates.py", "lessons.py", "parts.py", "your_scores.py"]
"""What imports Streamlit."""

# Streamlit itself runs main.py; it is no module to import.
collect_ignore = ["main.py"] if find_spec("streamlit") else ["main.py", *_PAGES]
