"""What torchlint says of many programs, to the byte: a net under changes that must change no finding."""
