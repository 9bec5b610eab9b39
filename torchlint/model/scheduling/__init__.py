"""
What of a file is run, and who watches it: entry points, call graph, effects, subscriptions. Evaluates nothing itself.
"""
