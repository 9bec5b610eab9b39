"""
The rules, one file each: metadata, documentation, check, fix and examples of one pitfall.

A rule is a pure function from an event to diagnostics. It imports `torchlint.rule`, `torchlint.model`,
`torchlint.fixes.rewrites`, `torchlint.truth`, libcst and the standard library; it doesn't walk the file and keeps no
state.
Nobody imports a rule: the registry loads this folder, installed as `torchlint.rules`, by name.
"""
