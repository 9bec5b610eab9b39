"""The language server: torchlint in an editor. `server` answers, `workers` work, `protocol` has the words for it."""
