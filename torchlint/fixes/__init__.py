"""Changes of the source: edits of the tree, text that rules rewrite, application to files. Judges nothing."""
