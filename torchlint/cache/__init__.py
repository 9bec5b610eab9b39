"""
What was found is kept: results by content, the store, stamps of what they rest on, replay of an unchanged run. Lints
nothing.
"""
