"""The files of a project: which are linted, where imports are looked for, what they define. Lints nothing."""
