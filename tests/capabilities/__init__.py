"""Programs that show what the model must be capable of: what was missed, variations, and correct look-alikes."""
