"""The set of rules: what is selected, what is refused, where rules come from."""

from __future__ import annotations

import importlib
import subprocess
import sys
import textwrap
from pathlib import Path

import expectations
import pytest
import toy
from toy import REGISTRY

from torchlint.config import Config, ConfigError, Overrides
from torchlint.lint import registry
from torchlint.lint.registry import RegistryError, Selection
from torchlint.rule import Level, Rule

pytestmark = pytest.mark.usefixtures("toy_model")

ROOT = Path(__file__).parents[2]
ALL = frozenset(REGISTRY.names)
DRIVER = frozenset({"TLN000", "TLN001"})


@pytest.mark.parametrize(
    ("config", "overrides", "enabled"),
    [
        (Config(), Overrides(), ALL),
        (Config(select=("PRB00",)), Overrides(), {"PRB001", "PRB002", "PRB003"}),
        (Config(select=("called", "PRB003")), Overrides(), {"PRB001", "PRB003"}),
        (Config(select=("ALL",), ignore=("PRB",)), Overrides(), {"TLN002"}),
        (Config(select=("PRB",), ignore=("ALL",)), Overrides(), {"PRB001", "PRB002", "PRB003"}),
        (Config(select=("PRB001",), ignore=("PRB001",)), Overrides(), set()),
        (Config(select=("PRB001",), extend_select=("broken",)), Overrides(), {"PRB001", "PRB002"}),
        (Config(ignore=("PRB001",)), Overrides(ignore=("PRB002",)), {"PRB003", "TLN002"}),
        (Config(ignore=("PRB001",)), Overrides(select=("PRB001",)), {"PRB001"}),
        (Config(select=("PRB001",)), Overrides(extend_select=("PRB002",)), {"PRB001", "PRB002"}),
        (Config(select=("PRB001", "PRB002")), Overrides(ignore=("PRB",)), set()),
        (Config(), Overrides(select=("prb001",)), {"PRB001"}),
    ],
)
def test_selection(config: Config, overrides: Overrides, enabled: set[str]) -> None:
    assert REGISTRY.select(config, overrides).enabled == DRIVER | enabled


@pytest.mark.parametrize(
    ("config", "overrides", "explicit"),
    [
        (Config(), Overrides(), set()),
        (Config(select=("PRB",)), Overrides(), set()),
        (Config(select=("PRB001",)), Overrides(), {"PRB001"}),
        (Config(extend_select=("called",)), Overrides(), {"PRB001"}),
        (Config(select=("PRB001",)), Overrides(select=("PRB",)), set()),
        (Config(select=("PRB001",)), Overrides(ignore=("PRB001",)), set()),
    ],
)
def test_only_a_code_or_a_name_is_explicit(config: Config, overrides: Overrides, explicit: set[str]) -> None:
    assert REGISTRY.select(config, overrides).explicit == explicit


def test_a_selector_that_matches_nothing_names_the_near_miss() -> None:
    with pytest.raises(ConfigError, match="command line: no rule matches `PRB01`; did you mean `PRB001`"):
        REGISTRY.select(Config(), Overrides(select=("PRB01",)))
    with pytest.raises(ConfigError, match=r"x\.toml: no rule matches `caled`; did you mean `called`"):
        REGISTRY.select(Config(file=Path("x.toml"), ignore=("caled",)), Overrides())


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("PRBX", "codes look like `PRB001`, families of them like `PRB0`"),
        ("PRB9999", "codes look like `PRB001`, families of them like `PRB0`"),
        ("PRB099", "of `PRB0` there are `PRB001` to `PRB00"),
        ("PRBOO1", "did you mean `PRB001`?"),
        ("PRC001", "did you mean `PRB001`?"),
    ],
)
def test_what_begins_like_a_code_is_no_slip_for_the_nearest_one(word: str, said: str) -> None:
    with pytest.raises(ConfigError) as wrong:
        REGISTRY.select(Config(), Overrides(select=(word,)))
    assert f"no rule matches `{word}`; {said}" in str(wrong.value)
    with pytest.raises(KeyError) as unknown:
        REGISTRY.find(word)
    assert f"no rule `{word}`; {said}" in str(unknown.value)


def test_find_by_code_and_name() -> None:
    assert REGISTRY.find("prb002").name == "broken"
    assert REGISTRY.find("called").code == "PRB001"
    assert REGISTRY.find("TLN001").name == "invalid-syntax"
    with pytest.raises(KeyError, match="no rule `brokn`; did you mean `broken`"):
        REGISTRY.find("brokn")


def test_without() -> None:
    chosen = Selection(frozenset({"PRB001", "PRB002"}), frozenset({"PRB001"}), strict=True)
    assert chosen.without(["PRB002"]) == Selection(frozenset({"PRB001"}), frozenset({"PRB001"}), strict=True)


def test_the_own_rules_are_found() -> None:
    files = {path.stem for path in (ROOT / "rules").glob("*.py")} - {"__init__"}
    loaded = {type(rule).__module__.rpartition(".")[2] for rule in expectations.own().rules}
    assert loaded == files


def _rule(code: str, name: str, documentation: str = toy.DOCUMENTATION) -> type[Rule]:
    body = {"code": code, "name": name, "level": Level.ERROR, "__doc__": documentation, "check": toy.Called.check}
    return type("Made", (Rule,), {**body, "__module__": "made"})


@pytest.mark.parametrize(
    ("kind", "complaint"),
    [
        (_rule("PRB001", "other"), "the code PRB001 is taken by toy"),
        (_rule("PRB009", "called"), "the name `called` is taken by toy"),
        (_rule("TLN001", "other"), "the code TLN001 is taken by torchlint itself"),
        (_rule("PRB009", "other", ""), "has no documentation"),
        (_rule("PRB009", "other", "Summary.\n\n## What it does\nx\n"), "lacks the section `## Why is this bad?`"),
    ],
)
def test_an_unsound_set_is_refused(kind: type[Rule], complaint: str) -> None:
    rules = {rule.code: rule for rule in REGISTRY.rules}
    with pytest.raises(RegistryError) as caught:
        registry._add(rules, kind)
    assert complaint in str(caught.value)


def _plugin(folder: Path, name: str, body: str, monkeypatch: pytest.MonkeyPatch) -> registry.Registry:
    (folder / f"{name}.py").write_text(textwrap.dedent(body))
    monkeypatch.syspath_prepend(str(folder))
    importlib.invalidate_caches()
    return registry.load((name,), f"{folder}/torchlint.toml")


def test_plugins_by_module_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    body = f"""
        from torchlint.rule import Level, Rule
        from torchlint.model import events

        class Mine(Rule):
            __doc__ = {toy.DOCUMENTATION!r}
            code, name, level = "MIN001", "mine", Level.SMELL

            def check(self, event: events.OpCalled):
                yield from ()
        """
    loaded = _plugin(tmp_path, "fine_plugin", body, monkeypatch)
    assert "MIN001" in loaded.names
    assert loaded.broken == ()


@pytest.mark.parametrize(
    ("name", "body", "reason"),
    [
        ("raising_plugin", "raise RuntimeError('no')", "RuntimeError: no"),
        ("empty_plugin", "x = 1", "the module `empty_plugin` has no subclass of torchlint.rule.Rule"),
        (
            "wrong_plugin",
            "from torchlint.rule import Rule\nclass Bad(Rule):\n    code = 'x'\n",
            "RuleDefinitionError: ",
        ),
    ],
)
def test_a_broken_plugin_is_named_and_left_out(
    name: str, body: str, reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded = _plugin(tmp_path, name, body, monkeypatch)
    assert [plugin.origin for plugin in loaded.broken] == [f"{tmp_path}/torchlint.toml"]
    assert loaded.broken[0].reason.startswith(reason)
    assert loaded.rules == registry.load().rules or {rule.code for rule in loaded.rules} == {
        rule.code for rule in registry.load().rules
    }


def test_who_asks_for_a_rule_of_a_broken_plugin_is_told_why_it_is_not_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded = _plugin(tmp_path, "late_plugin", "raise RuntimeError('no')", monkeypatch)
    reason = f"{tmp_path}/torchlint.toml: no rules from `late_plugin`: RuntimeError: no"
    with pytest.raises(ConfigError) as selected:
        loaded.select(Config(), Overrides(select=("MIN001",)))
    with pytest.raises(ConfigError) as optioned:
        loaded.select(Config(rules=(("mine", (("allowed", True),)),)), Overrides())
    assert reason in str(selected.value)
    assert "another tool's" not in str(selected.value)
    assert reason in str(optioned.value)


def test_a_checkout_that_is_not_installed_has_its_rules(tmp_path: Path) -> None:
    """`rules/` beside `torchlint/` is found where no finder maps `torchlint.rules`; -S leaves site-packages out."""
    program = textwrap.dedent(
        f"""
        import sys
        sys.path[:0] = {[str(ROOT), *_dependencies()]!r}
        from torchlint.lint import registry
        print(len(registry.load().rules), sys.modules["torchlint.rules"].__file__)
        """
    )
    ran = subprocess.run([sys.executable, "-S", "-c", program], capture_output=True, text=True, cwd=tmp_path)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.split() == [str(len(registry.load().rules)), str(ROOT / "rules" / "__init__.py")]


def test_what_only_a_finding_needs_is_not_loaded_with_the_rules() -> None:
    """libcst takes 0.12 s to import, a third of a run over one file: who wants a node imports it there."""
    program = "import sys; from torchlint.lint.registry import load; load(); print('libcst' in sys.modules)"
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=ROOT)
    assert ran.stdout.strip() == "False", ran.stderr


def _dependencies() -> list[str]:
    import libcst

    return [str(Path(libcst.__file__).parents[1])]
