"""A text as trees, IR, scopes, data flow and conditions. Knows nothing of torch."""
