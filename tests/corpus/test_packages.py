"""
Real packages from PyPI at fixed versions: no crash, no lost file, and the reviewed findings, no more and no fewer; and
all fixes applied to copies of the files that have any leave valid Python, and nothing to fix.

    pytest -m corpus            downloads them (never imports them), lints them, compares with `reviewed/`
    pytest -m corpus --bless    accepts new findings: after each of them was read, and is true

`reviewed/<package>.txt` holds every finding at error and warning level, each of which was read by hand; the smells are
counted. How they were judged is told in docs/accuracy.md.
"""

from __future__ import annotations

import ast
import json
import subprocess
import sys
import zipfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

REVIEWED = Path(__file__).parent / "reviewed"
PACKAGES = {
    "timm": "1.0.19",
    "kornia": "0.8.1",
    "gpytorch": "1.14",
    "botorch": "0.15.1",
    "pyro-ppl": "1.9.1",
    "torch_geometric": "2.6.1",
    "transformers": "4.55.0",
    "ultralytics": "8.3.180",
}

pytestmark = pytest.mark.corpus


@pytest.fixture(scope="module")
def downloads(request: pytest.FixtureRequest) -> Path:
    """Where packages are kept between runs."""
    cache = request.config.cache
    assert cache is not None
    return Path(cache.mkdir("corpus"))


def _unpacked(name: str, version: str, downloads: Path) -> Path:
    folder = downloads / f"{name}-{version}"
    if not folder.exists():
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:"]
        subprocess.run([*command, "--dest", str(downloads), f"{name}=={version}"], check=True)
        (wheel,) = downloads.glob(f"{name.replace('-', '_')}-{version}-*.whl")
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(folder)
    return folder


@pytest.mark.parametrize(("name", "version"), PACKAGES.items(), ids=PACKAGES)
def test_package(name: str, version: str, downloads: Path, bless: Callable[[Path, str, str], None]) -> None:
    folder = _unpacked(name, version, downloads)
    command = [sys.executable, "-m", "torchlint", "check", "--output-format", "json", "."]
    run = subprocess.run(command, cwd=folder, capture_output=True, text=True, encoding="utf-8")
    assert run.returncode in (0, 1), run.stderr
    findings = json.loads(run.stdout)
    assert not [finding for finding in findings if finding["code"] in ("TLN000", "TLN001")]
    shown = [
        f"{f['path']}:{f['line']}: {f['level']}[{f['code']}] {f['message']}\n"
        for f in findings
        if f["level"] in ("error", "warning")
    ]
    smells = Counter(finding["code"] for finding in findings if finding["level"] == "smell")
    counted = "".join(f"smells {code}: {count}\n" for code, count in sorted(smells.items()))
    path = REVIEWED / f"{name}.txt"
    bless(path, path.read_text(encoding="utf-8") if path.exists() else "", "".join(shown) + counted)


@pytest.mark.parametrize(("name", "version"), PACKAGES.items(), ids=PACKAGES)
def test_fixes_come_to_an_end(name: str, version: str, downloads: Path, tmp_path: Path) -> None:
    folder = _unpacked(name, version, downloads)
    command = [sys.executable, "-m", "torchlint", "check", "--strict", "--output-format", "json", "."]
    found = json.loads(subprocess.run(command, cwd=folder, capture_output=True, text=True, encoding="utf-8").stdout)
    for path in {finding["path"] for finding in found if finding["fix"]}:
        copy = tmp_path / path
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes((folder / path).read_bytes())
    before = _texts(tmp_path)
    command = [sys.executable, "-m", "torchlint", "check", "--strict", "--fix", "--unsafe-fixes", "."]
    subprocess.run(command, cwd=tmp_path, capture_output=True)
    once = _texts(tmp_path)
    subprocess.run(command, cwd=tmp_path, capture_output=True)
    assert _texts(tmp_path) == once
    assert not before or once != before
    for path, text in once.items():
        ast.parse(text, path)


def _texts(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in sorted(folder.rglob("*.py"))}
