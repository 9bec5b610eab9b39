"""The Python interpreter on abstract values: statements, expressions, calls, classes, imports. Judges nothing."""
