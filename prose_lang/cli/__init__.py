"""The command line. One module per command; `main.py` is where it begins."""
