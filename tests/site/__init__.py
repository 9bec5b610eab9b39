"""The hand-written pages of the documentation: what they show is run, what they link is there."""
