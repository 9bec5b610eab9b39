"""What docs/ci.md tells people to paste, held against the schemas that the services publish for it."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[1] / "docs" / "ci.md"
RECIPES = re.findall(r"^```yaml\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
SCHEMAS = {
    "jobs:": ("vendor.github-workflows",),
    "artifacts:": ("vendor.gitlab-ci", "--data-transform", "gitlab-ci"),
}


def _held(recipe: str, schema: tuple[str, ...], folder: Path) -> "subprocess.CompletedProcess[str]":
    file = folder / "recipe.yml"
    file.write_text(recipe, encoding="utf-8")
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", *schema, str(file)]
    return subprocess.run(command, capture_output=True, text=True)


@pytest.mark.parametrize("recipe", [each for each in RECIPES if any(f"{key}\n" in each for key in SCHEMAS)])
def test_a_service_takes_its_recipe(recipe: str, tmp_path: Path) -> None:
    schema = next(schema for key, schema in SCHEMAS.items() if f"{key}\n" in recipe)
    ran = _held(recipe, schema, tmp_path)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    broken = recipe.replace("runs-on: ubuntu-latest", "runs: on").replace("  script:\n", "  scripts:\n")
    assert _held(broken, schema, tmp_path).returncode == 1


def test_there_are_three() -> None:
    assert sum(any(f"{key}\n" in each for key in SCHEMAS) for each in RECIPES) == 3
