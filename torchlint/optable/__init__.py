"""The developer's tool that generates and checks the operation table from torch itself. No part of linting."""
