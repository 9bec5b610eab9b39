"""What other linters say of the same files, beside what torchlint says: see `docs/peers.md`."""
