"""The playground: pages in a browser that show where measures disagree. Needs ``pip install "metaeval[app]"``."""
