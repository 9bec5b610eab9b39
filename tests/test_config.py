"""Configuration: where it is found, what it accepts, and how it says what is wrong."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from torchlint import config
from torchlint.config import Config, ConfigError, Configurations, for_directory, read

pytestmark = pytest.mark.usefixtures("fresh_configuration")


def test_every_key() -> None:
    table = {
        "select": ["TLN2"],
        "extend-select": ["TLN101"],
        "ignore": ["TLN204"],
        "per-file-ignores": {"tests/*": ["TLN2", "TLN3"]},
        "exclude": ["a"],
        "extend-exclude": ["b"],
        "strict": True,
        "exit-on": "warning",
        "plugins": ["mine"],
        "target-torch": ">=2.1,<3",
    }
    file = Path("here") / "torchlint.toml"
    assert read(file, table) == Config(
        file=file,
        select=("TLN2",),
        extend_select=("TLN101",),
        ignore=("TLN204",),
        per_file_ignores=(("tests/*", ("TLN2", "TLN3")),),
        exclude=("a",),
        extend_exclude=("b",),
        strict=True,
        exit_on="warning",
        plugins=("mine",),
        target_torch=">=2.1,<3",
    )


@pytest.mark.parametrize(
    ("table", "complaint"),
    [
        ({"selct": []}, "unknown key `selct`; did you mean `select`?"),
        ({"extend_exclude": []}, "unknown key `extend_exclude`; did you mean `extend-exclude`?"),
        ({"zzz": 1}, "unknown key `zzz`"),
        ({"select": "TLN2"}, "`select` must be a list of strings, such as [\"TLN201\"], not the string 'TLN2'"),
        ({"ignore": [1]}, '`ignore` must be a list of strings, such as ["TLN201"], not the list [1]'),
        ({"strict": 1}, "`strict` must be true or false, not the integer 1"),
        (
            {"exit-on": "never"},
            "`exit-on` must be one of 'error', 'warning', 'smell', 'strict', not the string 'never'",
        ),
        ({"per-file-ignores": ["x"]}, "`per-file-ignores` must be a table from patterns to lists of codes"),
        (
            {"target-torch": 2.1},
            '`target-torch` must be a range of versions, such as "2.4" or ">=2.1,<3", not the float',
        ),
        (
            {"target-torch": "<0.1"},
            '`target-torch` must be a range of versions, such as "2.4" or ">=2.1,<3": no release',
        ),
        ([], "[tool.torchlint] must be a table, not the list []"),
    ],
)
def test_complaints(table: object, complaint: str) -> None:
    with pytest.raises(ConfigError) as caught:
        read(Path("pyproject.toml"), table)
    assert str(caught.value).startswith(f"pyproject.toml: {complaint}")


def test_the_nearest_file_holds(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[tool.torchlint]\nignore = ["TLN1"]\n')
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    (tmp_path / "a" / "pyproject.toml").write_text("[tool.other]\n")
    assert for_directory(inner).ignore == ("TLN1",)
    (tmp_path / "c").mkdir()
    (tmp_path / "c" / "pyproject.toml").write_text('[tool.torchlint]\nignore = ["TLN2"]\n')
    (tmp_path / "c" / "torchlint.toml").write_text('ignore = ["TLN3"]\n')
    assert for_directory(tmp_path / "c").ignore == ("TLN3",)


def test_without_a_file_the_defaults_hold(tmp_path: Path) -> None:
    assert for_directory(tmp_path) == Config()


def test_invalid_toml_names_the_file(tmp_path: Path) -> None:
    (tmp_path / "torchlint.toml").write_text("select = = 1\n")
    with pytest.raises(ConfigError, match=r"torchlint\.toml: not valid TOML: .*line"):
        for_directory(tmp_path)


def test_levels_are_those_of_the_rules() -> None:
    from torchlint.rule import Level

    assert tuple(level.value for level in Level) == config.LEVELS


def test_one_file_extends_another(tmp_path: Path) -> None:
    (tmp_path / "base.toml").write_text(
        'select = ["TLN1"]\nextend-exclude = ["a"]\nstrict = true\n[rules.x]\none = 1\ntwo = [2]\n'
    )
    (tmp_path / "torchlint.toml").write_text(
        'extend = "base.toml"\nselect = ["TLN2"]\nextend-exclude = ["b"]\n[rules.x]\none = 3\n'
    )
    found = for_directory(tmp_path)
    assert (found.select, found.extend_exclude, found.strict) == (("TLN2",), ("a", "b"), True)
    assert found.rules == (("x", (("one", 3), ("two", (2,)))),)
    assert found.extended == (tmp_path / "base.toml",)
    assert found.root == tmp_path


def test_files_that_extend_each_other(tmp_path: Path) -> None:
    (tmp_path / "torchlint.toml").write_text('extend = "b.toml"\n')
    (tmp_path / "b.toml").write_text('extend = "c.toml"\n')
    (tmp_path / "c.toml").write_text('extend = "b.toml"\n')
    with pytest.raises(ConfigError, match="goes in a circle"):
        for_directory(tmp_path)


def test_the_hidden_name_comes_first(tmp_path: Path) -> None:
    (tmp_path / "torchlint.toml").write_text('ignore = ["TLN2"]\n')
    (tmp_path / ".torchlint.toml").write_text('ignore = ["TLN1"]\n')
    assert for_directory(tmp_path).ignore == ("TLN1",)


def test_named_isolated_and_inline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "torchlint.toml").write_text('ignore = ["TLN2"]\n')
    (tmp_path / "other").mkdir()
    named = tmp_path / "other" / "ci.toml"
    named.write_text('extend = "../torchlint.toml"\nstrict = true\n')
    one = Configurations(named)
    assert one.for_directory(tmp_path) == one.for_directory(tmp_path / "other")
    assert one.for_directory(tmp_path).ignore == ("TLN2",)
    assert one.for_directory(tmp_path).root == tmp_path / "other"
    assert one.read_beside == {named, tmp_path / "torchlint.toml"}
    assert Configurations(isolated=True).for_directory(tmp_path) == Config()
    inline = Configurations(inline=['exit-on = "error"', "rules.x.one = 1", "rules.x.two = 2", "rules.y.three = 3"])
    found = inline.for_directory(tmp_path)
    assert (found.exit_on, found.ignore) == ("error", ("TLN2",))
    assert found.rules == (("x", (("one", 1), ("two", 2))), ("y", (("three", 3),)))
    alone = Configurations(isolated=True, inline=['per-file-ignores = {"a.py" = ["TLN1"]}']).for_directory(tmp_path)
    assert alone.root == tmp_path  # patterns count from there


@pytest.mark.parametrize("text", ["strict", "strict = = 1", "stirct = true", "strict = 1"])
def test_inline_mistakes(text: str) -> None:
    with pytest.raises(ConfigError):
        Configurations(inline=[text])


def test_a_file_without_a_table_cannot_be_named(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[project]\n")
    with pytest.raises(ConfigError, match=r"has no table \[tool\.torchlint\]"):
        Configurations(tmp_path / "pyproject.toml").for_directory(tmp_path)


def test_what_is_wrong_in_a_file_and_in_the_one_it_extends_is_said_at_once(tmp_path: Path) -> None:
    (tmp_path / "base.toml").write_text('exit-on = "fatal"\nignore = ["TLN1"]\n')
    (tmp_path / "torchlint.toml").write_text('extend = "base.toml"\nstirct = true\njobs = 2\n')
    with pytest.raises(ConfigError) as caught:
        for_directory(tmp_path)
    first, second = str(caught.value).splitlines()
    assert "unknown key `stirct`; did you mean `strict`?" in first
    assert "base.toml: `exit-on` must be one of" in second
    assert caught.value.known is not None
    assert caught.value.known.jobs == 2


def test_the_page_says_which_keys_are_for_a_whole_run() -> None:
    """Those of which `Config` says that only the working directory's configuration counts."""
    page = (Path(__file__).parents[1] / "docs" / "configuration.md").read_text(encoding="utf-8")
    sentence = re.search(r"^(.*) are for a whole run:", page, re.MULTILINE)
    told = re.search(r"\n +([\w, ]+)\n.*only the working directory's configuration counts", config.Config.__doc__ or "")
    assert sentence is not None
    assert told is not None
    assert {each.replace("-", "_") for each in re.findall(r"`([\w-]+)`", sentence[1])} == set(told[1].split(", "))
