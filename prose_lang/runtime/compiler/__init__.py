"""From a Program to closures: one small function for each node, which take a frame and give a value or a completion.

Walking a tree of closures is walking the tree with the questions about each node asked once. A closure is a plain
function where nothing below it can wait for the world, a coroutine function where something can.
"""
