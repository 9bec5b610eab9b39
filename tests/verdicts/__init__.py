"""What the runtime cross-check says of programs whose truth is known: rules' bad examples, and false claims."""
