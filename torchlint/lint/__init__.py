"""One file in, findings out: engine, rules, suppressions. Does not print and does not know where files come from."""
