"""Random programs with values that hold themselves, each other, and each other without end."""
