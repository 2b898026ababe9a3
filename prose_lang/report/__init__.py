"""Reports on programs that are not run: how they flow (`graph`), and how many calls they can make (`show --calls`)."""
