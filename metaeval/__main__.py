"""``python -m metaeval`` is the command line."""

from metaeval.cli import main

if __name__ == "__main__":
    main()
