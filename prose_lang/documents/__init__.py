"""Pattern files: their Markdown, contracts, slots, config, instances and bodies, and how they are found.

`model.py` is what the other rooms see, `reader.py` makes it from a text, `loader.py` from files and references. They
are imported by themselves, because many who need the model never read a file.
"""
