"""Packages that nobody has looked at: drawn at random, linted by a frozen linter, read by strangers, counted."""
