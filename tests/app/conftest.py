"""What takes the pictures of the docs is no test, and needs a browser."""

collect_ignore = ["take_pictures.py"]
