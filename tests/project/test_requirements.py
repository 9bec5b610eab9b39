"""Which torch a project runs on: where that is said, and how it is read."""

from __future__ import annotations

from pathlib import Path

import pytest

from torchlint.project import requirements
from torchlint.results import Dependency
from torchlint.target import NEWEST, PATCHES, Target, TargetError, bounds, target_of


@pytest.mark.parametrize(
    ("asked", "oldest", "newest"),
    [
        ("2.4", (2, 4), NEWEST),
        (">=2.1,<3", (2, 1), NEWEST),
        ("2.1,<2.5", (2, 1), (2, 4)),
        (">=1.13.1,<2.2.1", (1, 13), (2, 2)),
        ("==2.1.2+cpu", (2, 1), (2, 1)),
        ("==2.1.*", (2, 1), (2, 1)),
        ("~=2.0", (2, 0), NEWEST),
        ("~=2.1.0", (2, 1), (2, 1)),
        (">2.0.1", (2, 1), NEWEST),
        ("<2", None, (1, 13)),
        ("!=2.0", None, NEWEST),
        (">=99", NEWEST, NEWEST),
    ],
)
def test_ranges(asked: str, oldest: tuple[int, int] | None, newest: tuple[int, int]) -> None:
    assert bounds(asked) == (oldest, newest)


def test_what_most_projects_say_is_what_packaging_makes_of_it() -> None:
    said = [f"{major}.{minor}{patch}" for major, minor in PATCHES for patch in ("", ".0", ".1", ".2", ".9")]
    for version in (*said, "0.1", "2.13.0"):
        for asked in (version, f">={version}", f" >= {version} "):
            try:
                expected = bounds(f"{asked},>=0.0")
            except TargetError:
                with pytest.raises(TargetError):
                    bounds(asked)
            else:
                assert bounds(asked) == expected, asked


@pytest.mark.parametrize("asked", [">=99", "9.9", "~=9.1"])
def test_nobody_allows_the_newest_release_who_asks_for_a_later_one(asked: str) -> None:
    assert target_of(asked, "--target-torch").allowing(NEWEST) == ""
    for known in ("2.13", "~=2.13", ">=2.13,<3"):
        assert target_of(known, "--target-torch").allowing(NEWEST) != ""


@pytest.mark.parametrize("asked", ["", "two", ">=x", "<0.1", "==2.1.9"])
def test_what_is_no_range(asked: str) -> None:
    with pytest.raises(TargetError):
        target_of(asked, "")


@pytest.mark.parametrize(
    ("name", "text", "oldest", "newest"),
    [
        ("pyproject.toml", '[project]\ndependencies = ["numpy", "torch>=2.1,<2.4"]', (2, 1), (2, 3)),
        ("pyproject.toml", '[project.optional-dependencies]\na = ["torch[x] >= 1.13 ; a"]', (1, 13), NEWEST),
        ("pyproject.toml", '[tool.poetry.dependencies]\ntorch = "^2.1"', (2, 1), NEWEST),
        ("pyproject.toml", '[tool.poetry.dependencies]\ntorch = [{version = "~2.1", os = "a"}]', (2, 1), (2, 1)),
        ("pyproject.toml", '[dependency-groups]\ndev = ["torch==2.2.1"]', (2, 2), (2, 2)),
        ("setup.cfg", "[options]\ninstall_requires =\n    numpy\n    torch>=1.9\n", (1, 9), NEWEST),
        ("setup.py", "from setuptools import setup\nR = ['torch >= 1.6.0']\nsetup(install_requires=R)", (1, 6), NEWEST),
        ("requirements.txt", "numpy\ntorch==1.7.1  # pinned\ntorchvision==0.8.2\n", (1, 7), (1, 7)),
        ("requirements.txt", "torch==2.1.0+cu118\n", (2, 1), (2, 1)),
        ("requirements/base.txt", "torch>=2.0\n", (2, 0), NEWEST),
        ("environment.yml", "dependencies:\n  - pytorch::pytorch=1.12\n  - pip:\n    - numpy\n", (1, 12), (1, 12)),
        ("environment.yml", "dependencies:\n  - pip:\n    - torch>=2.3\n", (2, 3), NEWEST),
        ("uv.lock", '[[package]]\nname = "torch"\nversion = "2.3.1"\n', (2, 3), (2, 3)),
        ("Pipfile.lock", '{"default": {"torch": {"version": "==2.0.1"}}}', (2, 0), (2, 0)),
        ("Pipfile", '[packages]\ntorch = ">=2.2"\n', (2, 2), NEWEST),
        ("setup.cfg", "[options]\ninstall_requires = torch<2\n", (1, 13), (1, 13)),
        ("pyproject.toml", '[tool.poetry.dev-dependencies]\ntorch = "1.8.1"', (1, 8), (1, 8)),
        ("pyproject.toml", '[tool.poetry.group.dev.dependencies]\ntorch = "~1.8"', (1, 8), (1, 8)),
        ("pyproject.toml", '[tool.pdm.dev-dependencies]\ntest = ["torch>=2.2"]', (2, 2), NEWEST),
        ("pyproject.toml", '[tool.uv]\ndev-dependencies = ["torch~=2.4.0"]', (2, 4), (2, 4)),
        ("pyproject.toml", '[tool.uv]\nconstraint-dependencies = ["torch<2.5", "torch>=2.1"]', (2, 1), NEWEST),
        ("pyproject.toml", '[tool.hatch.envs.default]\ndependencies = ["torch==2.0.1"]', (2, 0), (2, 0)),
        ("pyproject.toml", '[tool.flit.metadata]\nrequires = ["torch >=1.5,<1.9"]', (1, 5), (1, 8)),
        ("pyproject.toml", '[tool.pixi.feature.gpu.target.linux-64.dependencies]\npytorch = "2.3.*"', (2, 3), (2, 3)),
        ("pixi.toml", '[pypi-dependencies]\ntorch = { version = ">=2.1,<2.3" }', (2, 1), (2, 2)),
        ("pixi.lock", "- conda: https://a/linux-64/pytorch-2.4.0-cpu_py311_0.conda\n", (2, 4), (2, 4)),
        ("pixi.lock", "- kind: pypi\n  name: torch\n  version: 2.5.1\n", (2, 5), (2, 5)),
        ("conda-lock.yml", "package:\n- name: pytorch\n  version: 2.0.1\n  manager: conda\n", (2, 0), (2, 0)),
        ("conda-lock.yml", "- name: pytorch-cuda\n  version: 11.8\n", NEWEST, NEWEST),
        ("poetry.lock", '[[package]]\nname = "torch"\nversion = "1.13.1"\ndescription = "x"\n', (1, 13), (1, 13)),
        ("pdm.lock", '[[package]]\nname = "torch"\nversion = "2.2.0"\n', (2, 2), (2, 2)),
        ("pylock.toml", '[[packages]]\nname = "torch"\nversion = "2.6.0+cpu"\n', (2, 6), (2, 6)),
        ("PKG-INFO", "Metadata-Version: 2.1\nName: a\nRequires-Dist: torch (==1.8)\n\ntorch>=0.4\n", (1, 8), (1, 8)),
        ("a-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nRequires-Dist: torch <1.13,>=1.10\n", (1, 10), (1, 12)),
        ("a.dist-info/METADATA", 'Metadata-Version: 2.1\nRequires-Dist: torch>=1.9 ; extra == "b"\n', (1, 9), NEWEST),
        ("a-1.0.dist-info/METADATA", "Metadata-Version: 2.1\n\nRequires-Dist: torch==1.8\n", NEWEST, NEWEST),
        ("requirements.txt", "torchvision==0.8.2\npytorch-lightning>=1\n", (1, 7), (1, 7)),
        ("requirements.txt", "pytorch-lightning>=1\n", NEWEST, NEWEST),
        ("requirements.txt", "torch\npytorch-lightning>=2.3\n", NEWEST, NEWEST),
        ("requirements.txt", "torch>=1.9\npytorch_lightning>=2.3\n", (2, 0), NEWEST),
        ("requirements.txt", "torch>=1.9\nlightning<3\n", (1, 9), NEWEST),
        ("requirements.txt", "torch\ntorchvision>=0.15,<0.17\n", (2, 0), (2, 1)),
        ("requirements.txt", "torch>=2.0\ntorchvision\n", (2, 0), NEWEST),
        ("requirements.txt", "torch>=2.4\ntorchvision==0.15.2\n", (2, 4), NEWEST),
        ("requirements.txt", "torchvision>=0.2\n", (0, 4), NEWEST),
        ("requirements.txt", "torchaudio==0.13.1\n", (1, 13), (1, 13)),
        ("requirements.txt", "torchtext~=0.15.1\ntorch>=1.8\n", (2, 0), (2, 0)),
        ("environment.yml", "dependencies:\n  - pytorch>=1.10\n  - torchvision=0.14\n", (1, 13), (1, 13)),
        ("setup.cfg", "[options]\ninstall_requires =\n    torch>=1.9\n    torchvision>=0.13,<0.15\n", (1, 12), (1, 13)),
        ("pyproject.toml", '[project]\ndependencies = ["torch>=2.0.1,<3", "torchvision~=0.15.2"]', (2, 0), (2, 0)),
        ("pyproject.toml", '[tool.poetry.dependencies]\ntorch = ">=1.9"\ntorchvision = "^0.15.1"', (2, 0), (2, 0)),
        ("pyproject.toml", '[project.optional-dependencies]\na = ["torch>=1.13", "torchvision<0.15"]', (1, 13), NEWEST),
        (
            "a-1.0.dist-info/METADATA",
            "Metadata-Version: 2.1\nRequires-Dist: torch (>=2.0.1,<3.0.0)\n"
            "Requires-Dist: torchvision (>=0.15.2,<0.16.0)\n",
            (2, 0),
            (2, 0),
        ),
        (
            "a-1.0.dist-info/METADATA",
            "Metadata-Version: 2.1\nRequires-Dist: torch>=1.9\n"
            'Requires-Dist: torchvision<0.16; extra == "vision"\n',
            (1, 9),
            NEWEST,
        ),
        (
            "a.dist-info/METADATA",
            'Metadata-Version: 2.1\nRequires-Dist: torch>=2.1\nRequires-Dist: torch>=1.9 ; extra == "b"\n',
            (2, 1),
            NEWEST,
        ),
        (
            "a.dist-info/METADATA",
            "Metadata-Version: 2.1\nRequires-Python: >=3.12\nRequires-Dist: torch>=1.9\n",
            (2, 2),
            NEWEST,
        ),
        (
            "a.dist-info/METADATA",
            "Metadata-Version: 2.1\nRequires-Python: >=3.7,<3.9\nRequires-Dist: torch>=1.9\n",
            (1, 9),
            (2, 4),
        ),
        (
            "a.dist-info/METADATA",
            "Metadata-Version: 2.1\nRequires-Python: >=3.10\nRequires-Dist: torch>=1.9 ; python_version < '3.9'\n"
            "Requires-Dist: torch>=2.1 ; python_version >= '3.9'\n",
            (2, 1),
            NEWEST,
        ),
        (
            "a.dist-info/METADATA",
            "Metadata-Version: 2.1\nRequires-Python: >=3.12\nRequires-Dist: torch<2\n",
            (1, 13),
            (1, 13),
        ),
        ("pyproject.toml", '[project]\nrequires-python = ">=3.11"\ndependencies = ["torch>=1.9"]', (1, 13), NEWEST),
        ("pyproject.toml", '[tool.poetry.dependencies]\npython = "^3.10"\ntorch = ">=1.8"', (1, 11), NEWEST),
        ("setup.cfg", "[options]\npython_requires = >=3.10\ninstall_requires = torch>=1.8\n", (1, 11), NEWEST),
        ("setup.py", "setup(install_requires=['torch>=1.6.0'], python_requires='>=3.12')", (2, 2), NEWEST),
        ("requirements.txt", "torch\n", NEWEST, NEWEST),
        ("pyproject.toml", "not toml with torch", NEWEST, NEWEST),
        ("setup.py", "import (torch", NEWEST, NEWEST),
        ("requirements.txt", "torch==99.0.0.dev1\n", NEWEST, NEWEST),
    ],
)  # fmt: skip
def test_files(tmp_path: Path, name: str, text: str, oldest: tuple[int, int], newest: tuple[int, int]) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "requirements").mkdir()
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text(text, encoding="utf-8")
    found, depends = requirements.target(str(tmp_path / "package" / "a.py"))
    assert (found.oldest, found.newest) == (oldest, newest)
    assert {path for path, content in depends.items() if content} == {str(tmp_path / name)}
    assert all(map(_holds, depends.items()))


def test_a_range_counts_before_a_lock(tmp_path: Path) -> None:
    (tmp_path / "uv.lock").write_text('[[package]]\nname = "torch"\nversion = "2.12.0"\n', encoding="utf-8")
    (tmp_path / "pyproject.toml").write_text('[project]\ndependencies = ["torch>=2.1"]\n', encoding="utf-8")
    found, _ = requirements.target(str(tmp_path / "a.py"))
    assert found == Target((2, 1), NEWEST, "torch>=2.1 in pyproject.toml")


def test_a_lock_counts_where_nothing_begins(tmp_path: Path) -> None:
    (tmp_path / "uv.lock").write_text('[[package]]\nname = "torch"\nversion = "2.5.0"\n', encoding="utf-8")
    (tmp_path / "pyproject.toml").write_text('[project]\ndependencies = ["torch"]\n', encoding="utf-8")
    found, _ = requirements.target(str(tmp_path / "a.py"))
    assert (found.oldest, found.newest) == ((2, 5), (2, 5))


def test_requirements_of_requirements(tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_text("-r other.txt\n", encoding="utf-8")
    (tmp_path / "other.txt").write_text("torch>=2.2\n", encoding="utf-8")
    found, depends = requirements.target(str(tmp_path / "a.py"))
    assert found.oldest == (2, 2)
    assert str(tmp_path / "other.txt") in depends


def test_the_nearest_counts_and_a_project_ends_the_search(tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_text("torch>=1.9\n", encoding="utf-8")
    inner = tmp_path / "inner"
    inner.mkdir()
    assert requirements.target(str(inner / "a.py"))[0].oldest == (1, 9)
    (inner / "setup.py").write_text("", encoding="utf-8")
    requirements.forget()
    assert requirements.target(str(inner / "a.py"))[0] == Target()


def test_an_installed_package_says_nothing(tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_text("torch>=1.9\n", encoding="utf-8")
    assert requirements.target(str(tmp_path / "site-packages" / "a" / "b.py")) == (Target(), {})


def test_releases_are_in_order() -> None:
    assert list(PATCHES) == sorted(PATCHES)


def test_what_a_target_allows() -> None:
    target = Target((1, 13), (2, 4), "torch>=1.13,<2.5 in setup.cfg")
    assert target.spans((2, 0))
    assert target.reaches((1, 0))
    assert not target.spans((1, 13))
    assert not target.reaches((2, 5))
    assert target.allowing((1, 13)) == ", and this project allows 1.13 (torch>=1.13,<2.5 in setup.cfg)"
    assert Target().allowing(NEWEST) == ""


def test_what_else_is_required_may_ask_for_another_torch(tmp_path: Path) -> None:
    (tmp_path / "a-1.dist-info").mkdir()
    (tmp_path / ".git").mkdir()
    for head, raised, held in (
        ("Requires-Dist: torch>=1.9\nRequires-Dist: numpy\n", "", ""),
        ("Requires-Dist: torch>=1.9\nRequires-Dist: timm>=0.9\n", "", ""),
        ("Requires-Dist: torch>=1.9\nRequires-Dist: trl\n", "trl", ""),
        ("Requires-Dist: torch>=1.9\nRequires-Dist: trl ; extra == 'a'\n", "", ""),
        ("Requires-Dist: torch>=1.9 ; extra == 'a'\nRequires-Dist: trl ; extra == 'a'\n", "trl", ""),
        (
            "Requires-Dist: torch>=1.9 ; extra == 'a'\nRequires-Dist: trl ; extra == 'a'\n"
            "Requires-Dist: torch>=1.9 ; extra == 'b'\n",
            "",
            "",
        ),
        ("Requires-Dist: torch>=1.9\nRequires-Dist: odd (<2)\n", " odd", " odd<2"),
        (
            "Requires-Dist: torch>=1.9\nRequires-Dist: odd (<2)\nRequires-Dist: kornia<1\n",
            "kornia odd",
            "kornia<1 odd<2",
        ),
        ("Requires-Dist: torch==1.9\nRequires-Dist: odd (<2)\n", "", ""),
    ):
        (tmp_path / "a-1.dist-info" / "METADATA").write_text(f"Metadata-Version: 2.1\n{head}")
        requirements.forget()
        found, _ = requirements.target(str(tmp_path / "code.py"))
        assert f"{found.raised_by} {found.perhaps_raised_by}".rstrip() == raised, head
        assert f"{found.held_by} {found.perhaps_held_by}".rstrip() == held, head


def test_what_another_package_asks_for_raises_the_oldest(tmp_path: Path) -> None:
    """Where each way to get torch brings it along."""
    (tmp_path / "a-1.dist-info").mkdir()
    both = "Requires-Dist: torch>=1.4 ; extra == '{0}'\nRequires-Dist: accelerate>=0.31 ; extra == '{0}'\n"
    for head, oldest in (
        ("Requires-Dist: torch>=1.4\nRequires-Dist: accelerate>=0.31\n", (1, 10)),
        ("Requires-Dist: torch>=2.1\nRequires-Dist: accelerate>=0.31\n", (2, 1)),
        (both.format("a") + both.format("b"), (1, 10)),
        (both.format("a") + "Requires-Dist: torch>=1.4 ; extra == 'b'\n", (1, 4)),
        ("Requires-Dist: torch>=1.4\nRequires-Dist: accelerate>=0.31 ; extra == 'a'\n", (1, 4)),
    ):
        (tmp_path / "a-1.dist-info" / "METADATA").write_text(f"Metadata-Version: 2.1\n{head}")
        requirements.forget()
        found, _ = requirements.target(str(tmp_path / "code.py"))
        assert found.oldest == oldest, head
        assert ("accelerate>=0.31 in a-1" in found.said) is (oldest == (1, 10))


@pytest.mark.parametrize(
    ("head", "oldest", "newest", "said"),
    [
        (
            'Requires-Dist: torch\nRequires-Dist: torch==2.5.1; sys_platform != "darwin" and extra == "stable"\n'
            'Requires-Dist: torch==2.2.2; (sys_platform == "darwin") and extra == "stable"\n',
            (2, 2),
            NEWEST,
            "torch, and torch==2.2.2 with the extra stable in a-1.dist-info/METADATA",
        ),
        ('Requires-Dist: torch\nRequires-Dist: torch<2.5; extra == "old"\n', NEWEST, NEWEST, ""),
        (
            'Requires-Dist: torch>=1.9 ; extra == "b"\n',
            (1, 9),
            NEWEST,
            "torch>=1.9 with the extra b in a-1.dist-info/METADATA",
        ),
        (
            'Requires-Dist: torch (>=1.9)\nRequires-Dist: torch>=1.9 ; extra == "b"\n',
            (1, 9),
            NEWEST,
            "torch>=1.9 in a-1.dist-info/METADATA",
        ),
    ],
)
def test_what_an_extra_asks_for_is_quoted_as_that(
    tmp_path: Path, head: str, oldest: tuple[int, int], newest: tuple[int, int], said: str
) -> None:
    """And it bounds nobody who does not want it."""
    (tmp_path / "a-1.dist-info").mkdir()
    (tmp_path / "a-1.dist-info" / "METADATA").write_text(f"Metadata-Version: 2.1\n{head}")
    found, _ = requirements.target(str(tmp_path / "code.py"))
    assert (found.oldest, found.newest, found.said) == (oldest, newest, said)


@pytest.mark.parametrize(
    ("head", "record", "said"),
    [
        (
            "Requires-Python: >=3.8,<3.9.0\nRequires-Dist: torch-geometric (>=2.0.2)\n",
            "a/code.py,,\n",
            "Python>=3.8,<3.9.0 in a-1.dist-info/METADATA, whose last torch is 2.4",
        ),
        (
            "Requires-Python: >=3.8\nRequires-Dist: torch >=1.13.0\n",
            "a/code.py,,\na/fast.cp39-win_amd64.pyd,,\n",
            "torch>=1.13.0 in a-1.dist-info/METADATA, compiled for Python 3.9 on Windows, whose last torch is 2.8",
        ),
        (
            "Requires-Python: >=3.12\nRequires-Dist: torch>=1.9\n",
            "a/code.py,,\n",
            "torch>=1.9 and Python>=3.12 in a-1.dist-info/METADATA, whose first torch is 2.2",
        ),
        (
            "Requires-Dist: torch>=1.9\n",
            "a/code.py,,\na/fast.cpython-312-x86_64-linux-gnu.so,,\n",
            "torch>=1.9 in a-1.dist-info/METADATA, compiled for Python 3.12, whose first torch is 2.2",
        ),
        (
            "Requires-Dist: torch>=2.1\n",
            "a/code.py,,\na/fast.cp313-win_amd64.pyd,,\n",
            "torch>=2.1 in a-1.dist-info/METADATA, compiled for Python 3.13 on Windows, whose first torch is 2.6",
        ),
        (
            "Requires-Dist: torch>=2.1\n",
            "a/code.py,,\na/fast.cpython-313-darwin.so,,\n",
            "torch>=2.1 in a-1.dist-info/METADATA, compiled for Python 3.13 on macOS, whose first torch is 2.6",
        ),
        (
            "Requires-Dist: torch>=2.1\n",
            "a/code.py,,\na/fast.cpython-313-x86_64-linux-gnu.so,,\n",
            "torch>=2.1 in a-1.dist-info/METADATA, compiled for Python 3.13, whose first torch is 2.5",
        ),
        (
            "Requires-Dist: torch\nRequires-Dist: numpy==1.19\n",
            "a/code.py,,\n",
            "numpy==1.19 in a-1.dist-info/METADATA, for which Python is before 3.10, whose last torch is 2.8",
        ),
        (
            "Requires-Dist: torch>=1.0.0\nRequires-Dist: spacy (<2.2.0,>=2.1.7)\n",
            "a/code.py,,\n",
            "torch>=1.0.0 and spacy (<2.2.0,>=2.1.7) in a-1.dist-info/METADATA, for which Python is before 3.8, whose "
            "last torch is 1.13",
        ),
        (
            "Requires-Python: <3.9\nRequires-Dist: torch>=1.6\nRequires-Dist: numpy==1.19\n",
            "a/code.py,,\n",
            "torch>=1.6 and Python<3.9 in a-1.dist-info/METADATA, whose last torch is 2.4",
        ),
    ],
)
def test_what_python_says_of_torch_is_said(tmp_path: Path, head: str, record: str, said: str) -> None:
    (tmp_path / "a-1.dist-info").mkdir()
    (tmp_path / "a-1.dist-info" / "METADATA").write_text(f"Metadata-Version: 2.1\n{head}")
    (tmp_path / "a-1.dist-info" / "RECORD").write_text(record)
    found, _ = requirements.target(str(tmp_path / "a" / "code.py"))
    assert found.said == said


WHEEL = "Metadata-Version: 2.1\nRequires-Dist: torch (==1.8)\n"


def test_the_metadata_of_another_distribution(tmp_path: Path) -> None:
    """Many may be unpacked into one directory: the files that each has say whose a file is."""
    for name, requires in (("old", "==1.8"), ("new", ">=2.1")):
        (tmp_path / name).mkdir()
        information = tmp_path / f"{name}-1.0.dist-info"
        information.mkdir()
        (information / "METADATA").write_text(f"Metadata-Version: 2.1\nRequires-Dist: torch{requires}\n")
        (information / "RECORD").write_text(f"{name}/code.py,,\n")
    assert requirements.target(str(tmp_path / "old" / "code.py"))[0].newest == (1, 8)
    assert requirements.target(str(tmp_path / "new" / "code.py"))[0].oldest == (2, 1)


def test_a_module_beside_the_metadata_of_several_distributions(tmp_path: Path) -> None:
    for name, requires in (("old", "==1.8"), ("new", ">=2.1")):
        information = tmp_path / f"{name}-1.0.dist-info"
        information.mkdir()
        (information / "METADATA").write_text(f"Metadata-Version: 2.1\nRequires-Dist: torch{requires}\n")
        (information / "RECORD").write_text(f"{name}.py,sha256=0,1\n")
    assert requirements.target(str(tmp_path / "old.py"))[0].newest == (1, 8)
    assert requirements.target(str(tmp_path / "new.py"))[0].oldest == (2, 1)
    assert requirements.target(str(tmp_path / "nobodys.py"))[0].said == ""


def _wheel(root: Path, requires: str, name: str = "outer") -> None:
    information = root / f"{name}-1.0.dist-info"
    information.mkdir(parents=True)
    (information / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\n{requires}\n")
    (information / "RECORD").write_text("outer/src/inner/code.py,,\nouter/__init__.py,,\n")
    (root / "outer/src/inner").mkdir(parents=True)


OUTER = "outer-1.0.dist-info/METADATA"
OTHER = "setup(name='inner', install_requires=['torch>=1.10'])\n"


@pytest.mark.parametrize(
    ("requires", "name", "text", "said"),
    [
        ("Requires-Dist: torch (>=1.13.0)", "setup.py", OTHER, f"torch>=1.13.0 in {OUTER}"),
        ("Requires-Dist: numpy", "setup.py", OTHER, ""),
        ("Requires-Dist: torch", "setup.py", OTHER, ""),
        ("Requires-Dist: torch>=1.13", "setup.py", OTHER.replace("10", "20"), f"torch>=1.13 in {OUTER}"),
        ("Requires-Dist: torch>=1.13", "setup.cfg", "[flake8]\nmax-line-length = 99\n", f"torch>=1.13 in {OUTER}"),
        ("Requires-Dist: torch>=1.13", "requirements.txt", "torch>=1.10\n", f"torch>=1.13 in {OUTER}"),
        ("Requires-Dist: torch>=1.13", "requirements.txt", "torch>=2.1\n", "torch>=2.1 in requirements.txt"),
        ("Requires-Dist: numpy", "requirements.txt", "torch>=2.1\n", "torch>=2.1 in requirements.txt"),
        ("Requires-Dist: numpy", "setup.py", OTHER.replace("inner", "Outer"), "torch>=1.10 in setup.py"),
        ("Requires-Dist: numpy", "setup.py", "setup(**of_file, requires=['torch>=1.10'])\n", ""),
    ],
)  # fmt: skip
def test_a_project_that_a_wheel_bundles_requires_nothing_of_it(
    tmp_path: Path, requires: str, name: str, text: str, said: str
) -> None:
    _wheel(tmp_path, requires)
    (tmp_path / "outer" / name).write_text(text)
    assert requirements.target(str(tmp_path / "outer/src/inner/code.py"))[0].said == said


def test_a_project_that_no_wheel_lists_is_its_own(tmp_path: Path) -> None:
    """Beside an unpacked wheel there may be other things."""
    _wheel(tmp_path, "Requires-Dist: torch>=1.13")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "setup.py").write_text(OTHER)
    assert requirements.target(str(tmp_path / "other/code.py"))[0].oldest == (1, 10)
    (tmp_path / "outer" / "setup.py").write_text(OTHER)
    (tmp_path / "outer" / ".git").mkdir()  # somebody works at it
    assert requirements.target(str(tmp_path / "outer/src/inner/code.py"))[0].oldest == (1, 10)


def test_what_a_wheel_was_installed_by_counts_before_what_was_packed_into_it(tmp_path: Path) -> None:
    _wheel(tmp_path, "Requires-Dist: torch>=1.13")
    (tmp_path / "setup.py").write_text(OTHER)
    assert requirements.target(str(tmp_path / "outer/src/inner/code.py"))[0].oldest == (1, 13)


def test_a_project_that_a_source_distribution_bundles_in_its_package(tmp_path: Path) -> None:
    """What it does not install, as an example of another project, is its own."""
    for name in ("src/outer/inner", "examples/inner", "src/outer.egg-info"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "PKG-INFO").write_text("Metadata-Version: 2.1\nName: outer\nRequires-Dist: torch>=1.13\n")
    (tmp_path / "src/outer.egg-info/top_level.txt").write_text("outer\n")
    for name in ("src/outer", "examples"):
        (tmp_path / name / "setup.py").write_text(OTHER)
    assert requirements.target(str(tmp_path / "src/outer/inner/code.py"))[0].oldest == (1, 13)
    assert requirements.target(str(tmp_path / "examples/inner/code.py"))[0].oldest == (1, 10)


def test_what_setuptools_wrote_counts_in_a_source_distribution_alone(tmp_path: Path) -> None:
    """A developer's own `egg-info` is as old as the last time that the project was installed."""
    (tmp_path / "src" / "a.egg-info").mkdir(parents=True)
    (tmp_path / "src" / "a.egg-info" / "requires.txt").write_text("numpy\n\n[gpu]\ntorch==1.7.1\n")
    assert requirements.target(str(tmp_path / "src" / "code.py"))[0] == Target()
    requirements.forget()
    (tmp_path / "PKG-INFO").write_text("Metadata-Version: 1.2\nName: a\n")
    assert requirements.target(str(tmp_path / "src" / "code.py"))[0].newest == (1, 7)
    requirements.forget()
    (tmp_path / "__init__.py").write_text("")
    assert requirements.target(str(tmp_path / "src" / "code.py"))[0] == Target()  # a package
    requirements.forget()
    (tmp_path / "setup.py").write_text("exec(open('src/setup.py').read())\n")
    assert requirements.target(str(tmp_path / "src" / "code.py"))[0].newest == (1, 7)


def test_the_project_around_an_unpacked_wheel_is_another_one(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[project]\ndependencies = ["torch>=2.1"]\n')
    (tmp_path / "wheel" / "a-1.dist-info").mkdir(parents=True)
    (tmp_path / "wheel" / "a-1.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nRequires-Dist: torch\n")
    assert requirements.target(str(tmp_path / "wheel" / "code.py"))[0] == Target()


def _holds(depends: tuple[str, str]) -> bool:
    return Dependency(*depends).holds()


def test_metadata_are_among_what_a_result_rests_on(tmp_path: Path) -> None:
    (tmp_path / "a-1.dist-info").mkdir()
    (tmp_path / "a-1.dist-info" / "METADATA").write_text(WHEEL)
    found, depends = requirements.target(str(tmp_path / "code.py"))
    assert found.newest == (1, 8)
    assert all(map(_holds, depends.items()))
    (tmp_path / "a-1.dist-info" / "METADATA").write_text(WHEEL.replace("1.8", "2.0"))
    assert not all(map(_holds, depends.items()))


def test_what_is_there_on_macos_alone_is_asked_of_the_releases_there(tmp_path: Path) -> None:
    (tmp_path / "a-1.dist-info").mkdir()
    head = "Metadata-Version: 2.1\nRequires-Dist: torch>=2.5.0\n"
    (tmp_path / "a-1.dist-info" / "METADATA").write_text(
        head + "Requires-Dist: torch>=2.13.0 ; sys_platform == 'darwin'\n"
    )
    found, _ = requirements.target(str(tmp_path / "code.py"))
    assert (found.oldest, found.on_macos) == ((2, 5), (2, 13))
    assert not found.lacks("torch.mps.compile_shader", (2, 7))
    assert found.lacks("torch.accelerator.current_accelerator", (2, 6))
    requirements.forget()
    for marker in ("sys_platform == 'linux'", "sys_platform == 'darwin' and python_version < '3.10'"):
        (tmp_path / "a-1.dist-info" / "METADATA").write_text(head + f"Requires-Dist: torch>=2.13.0 ; {marker}\n")
        assert requirements.target(str(tmp_path / "code.py"))[0].on_macos is None
        requirements.forget()
    assert requirements.target(str(tmp_path / "code.py"))[0].lacks("torch.mps.compile_shader", (2, 7))


@pytest.mark.parametrize(
    ("lines", "newest"),
    [
        (("Requires-Python: >=3.5, <=3.6", "Requires-Dist: torch"), (1, 10)),
        (("Requires-Python: >=3.8", "Requires-Dist: torch", "Requires-Dist: scipy~=1.6.3"), (2, 8)),
        (("Requires-Python: >=3.8", "Requires-Dist: torch>=1.8", "Requires-Dist: scipy~=1.6.3"), (2, 8)),
        (("Requires-Python: >=3.10", "Requires-Dist: torch>=1.8", "Requires-Dist: scipy~=1.6.3"), NEWEST),
        (("Requires-Python: >=3.8", "Requires-Dist: torch>=1.8", "Requires-Dist: scipy>=1.6.3"), NEWEST),
        (("Requires-Python: <=3.6", "Requires-Dist: numpy"), NEWEST),
        (("Requires-Dist: pytorch-lightning", "Requires-Dist: scipy==1.6.3"), (2, 8)),
    ],
)
def test_the_pythons_that_are_left_bound_torch(tmp_path: Path, lines: tuple[str, ...], newest: tuple[int, int]) -> None:
    (tmp_path / "p").mkdir()
    (tmp_path / "p-1.dist-info").mkdir()
    (tmp_path / "p-1.dist-info/RECORD").write_text("p/a.py,,\n")
    (tmp_path / "p-1.dist-info/METADATA").write_text("\n".join(("Metadata-Version: 2.1", "Name: p", *lines)) + "\n\n")
    assert requirements.target(str(tmp_path / "p/a.py"))[0].newest == newest


@pytest.mark.parametrize(
    ("record", "newest"),
    [
        ("p/_C.cpython-37m-arm-linux-gnueabihf.so,,\n", (1, 13)),
        ("p/_C.cp38-win_amd64.pyd,,\n", (2, 4)),
        ("p/_C.cpython-37m-darwin.so,,\np/_C.cpython-312-darwin.so,,\n", NEWEST),
        ("p/_C.abi3.so,,\n", NEWEST),
    ],
)
def test_a_wheel_with_compiled_modules_is_for_one_python(tmp_path: Path, record: str, newest: tuple[int, int]) -> None:
    (tmp_path / "p").mkdir()
    (tmp_path / "p-1.dist-info").mkdir()
    (tmp_path / "p-1.dist-info/RECORD").write_text(f"p/a.py,,\n{record}")
    (tmp_path / "p-1.dist-info/METADATA").write_text("Metadata-Version: 2.1\nName: p\nRequires-Dist: torch\n\n")
    assert requirements.target(str(tmp_path / "p/a.py"))[0].newest == newest


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("requirements.txt", "torch<2.6; platform_system == 'Darwin'\n", "torch<2.6; platform_system == 'Darwin'"),
        ("requirements.txt", "torch<2.6  # not 2.6; see below\n", "torch<2.6"),
        (
            "requirements.txt",
            "torch<2.6; sys_platform == 'darwin'\ntorch<2.6; sys_platform == 'win32'\n",
            "torch<2.6; sys_platform == 'darwin' or sys_platform == 'win32'",
        ),
        ("requirements.txt", "torch<2.6\ntorch<2.6; sys_platform == 'darwin'\n", "torch<2.6"),
        ("requirements.txt", "torch<2.6\nnumpy; sys_platform == 'darwin'\n", "torch<2.6"),
        (
            "pyproject.toml",
            "[project]\ndependencies = [\"torch<2.6; python_version < '3.12'\"]\n",
            "torch<2.6; python_version < '3.12'",
        ),
        (
            "a-1.dist-info/METADATA",
            "Metadata-Version: 2.1\nRequires-Dist: torch<2.6; extra == 'gpu'\n",
            "torch<2.6 with the extra gpu",
        ),
    ],
)
def test_a_range_is_quoted_with_its_marker(tmp_path: Path, name: str, text: str, said: str) -> None:
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text(text)
    assert requirements.target(str(tmp_path / "code.py"))[0].said == f"{said} in {name}"
