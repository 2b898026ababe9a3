"""The rules, one in each file. Which there are is listed in `linter/registry.py`."""
