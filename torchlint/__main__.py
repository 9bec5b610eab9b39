"""
`python -m torchlint`: the same as the command `torchlint`.

Entry group.
"""

from torchlint.cli import main

if __name__ == "__main__":
    main(prog_name="torchlint")
