"""The options that decide what is checked, what is left out, and what is done with it."""

from __future__ import annotations

import json
import os
import pty
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from process import Torchlint

CONCISE = ("check", "--output-format", "concise")


def _git(*arguments: str) -> None:
    identity = ("-c", "user.name=test", "-c", "user.email=test@example.org", "-c", "commit.gpgsign=false")
    subprocess.run(["git", *identity, *arguments], check=True, capture_output=True)


def test_a_baseline_from_the_first_day_on(torchlint: Torchlint, overwritten: str, needless: str) -> None:
    Path("old.py").write_text(overwritten)
    ran = torchlint("check", "--write-baseline", "known.json")
    assert (ran.status, ran.out) == (0, "Wrote 1 finding to known.json: --baseline known.json leaves them out.\n")
    Path("old.py").write_text("# moved\n\n" + overwritten)
    ran = torchlint(*CONCISE, "--baseline", "known.json")
    assert ran.status == 0
    assert ran.out.splitlines()[:2] == [
        "No new findings in 1 file.",
        "1 known finding left out: the baseline has it.",
    ]
    Path("new.py").write_text(needless)
    again = torchlint(*CONCISE, "--baseline", "known.json")
    assert (again.status, again.out.splitlines()[0].partition(" ")[0]) == (0, "new.py:5:18:")
    assert torchlint(*CONCISE, "--baseline", "known.json", "--exit-on", "smell").status == 1
    Path("torchlint.toml").write_text('baseline = "known.json"\n')
    Path("inner").mkdir()
    assert "old.py" not in torchlint(*CONCISE).out
    Path("old.py").unlink()
    gone = torchlint("check", "-o", "out.txt")
    assert gone.err.splitlines()[-1].endswith(
        "known.json: 1 known finding is no longer there; --write-baseline makes it shorter"
    )
    # and the answer of an earlier run holds no longer than the baseline does
    for _ in range(2):
        assert "new.py" in torchlint(*CONCISE).out
    os.utime("new.py", (1, 1))
    assert torchlint("check", "--write-baseline", "known.json").status == 0
    assert "new.py" not in torchlint(*CONCISE).out


def test_a_baseline_is_not_written_over_something_else(torchlint: Torchlint, overwritten: str) -> None:
    Path("a.py").write_text(overwritten)
    Path("notes.json").write_text('{"my": "notes"}')
    ran = torchlint("check", "--write-baseline", "notes.json")
    assert ran.status == 2
    assert "is there, and is not a baseline: it is left as it is" in ran.err
    assert Path("notes.json").read_text() == '{"my": "notes"}'


def test_since(torchlint: Torchlint, overwritten: str, clean: str) -> None:
    _git("init", "--quiet")
    Path("old.py").write_text(overwritten)
    Path("steps.py").write_text(clean)
    _git("add", "--all")
    _git("commit", "--quiet", "--message=first")
    assert torchlint(*CONCISE, "--since", "HEAD").out == "No findings in 0 files.\n"
    Path("old.py").write_text("# more\n" + overwritten)
    Path("steps.py").write_text(overwritten)
    Path("new.py").write_text(overwritten)
    ran = torchlint(*CONCISE, "--since", "HEAD")
    assert [line.partition(" ")[0] for line in ran.out.splitlines()[:2]] == ["new.py:5:1:", "steps.py:5:1:"]
    assert "1 finding on lines that have not changed is left out." in ran.out
    # a step of the trace counts: the line that saves is new, the one that overwrites is not
    Path("steps.py").write_text(clean)
    Path("old.py").write_text(overwritten.replace("y = x.exp()", "y = torch.exp(x)"))
    assert "old.py:5:1:" in torchlint(*CONCISE, "--since", "HEAD", "old.py").out
    assert torchlint("check", "--since", "nowhere").err == "torchlint: --since: git knows no revision `nowhere` here\n"


def test_add_noqa(torchlint: Torchlint, overwritten: str) -> None:
    Path("a.py").write_text(overwritten)
    assert torchlint("check", "--add-noqa", "--diff").status == 1
    assert Path("a.py").read_text() == overwritten
    ran = torchlint("check", "--add-noqa")
    assert (ran.status, ran.out) == (0, "Silenced 1 finding in 1 file.\n")
    assert "y.mul_(2)  # noqa: TLN201\n" in Path("a.py").read_text()
    assert torchlint("check").status == 0
    piped = torchlint("check", "--add-noqa", "-", stdin=overwritten.encode())
    assert "y.mul_(2)  # noqa: TLN201\n" in piped.out
    assert piped.err == "torchlint: Silenced 1 finding in 1 file.\n"


def test_configuration_on_the_command_line(torchlint: Torchlint, overwritten: str) -> None:
    Path("a.py").write_text(overwritten)
    Path("torchlint.toml").write_text('ignore = ["TLN201"]\n')
    Path("ci.toml").write_text('extend = "torchlint.toml"\nexit-on = "smell"\n')
    assert torchlint(*CONCISE).status == 0
    assert torchlint(*CONCISE, "--isolated").status == 1
    assert torchlint(*CONCISE, "--config", "ci.toml").status == 0
    Path("torchlint.toml").write_text("strict = true\n")
    assert torchlint(*CONCISE, "--config", "ci.toml").status == 1  # the answer does not outlive what is extended
    assert torchlint(*CONCISE, "--config", 'per-file-ignores = {"a.py" = ["TLN2"]}').status == 0
    assert torchlint(*CONCISE, "--isolated", "--per-file-ignores", "a.py:TLN201,TLN1").status == 0
    assert torchlint(*CONCISE, "--isolated", "--per-file-ignores", "b.py:TLN201").status == 1


def test_exclusions_on_the_command_line(torchlint: Torchlint, overwritten: str) -> None:
    for name in ("a.py", "third/b.py", "build/c.py"):
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_text(overwritten)
    shown = ("check", "--show-files")
    assert torchlint(*shown).out.split() == ["a.py", "third/b.py"]
    assert torchlint(*shown, "--extend-exclude", "third/").out.split() == ["a.py"]
    assert torchlint(*shown, "--exclude", "third/").out.split() == ["a.py", "build/c.py"]
    named = (*shown, "--extend-exclude", "third/", "third/b.py")
    assert torchlint(*named).out.split() == ["third/b.py"]
    assert torchlint(*named, "--force-exclude").out == ""
    Path("torchlint.toml").write_text("force-exclude = true\nextend-exclude = ['third/']\n")
    assert torchlint(*named).out == ""
    assert torchlint(*named[:-3], "third/b.py", "--no-force-exclude").out.split() == ["third/b.py"]


def test_settings_are_shown(torchlint: Torchlint) -> None:
    Path("torchlint.toml").write_text('select = ["TLN2"]\nextend-exclude = ["x/"]\n')
    ran = torchlint("check", "--show-settings", "--extend-exclude", "y/", "--exit-on", "smell")
    assert ran.status == 0
    assert ran.out.startswith("# .: ")
    lines = ran.out.splitlines()
    assert 'select = ["TLN2"]' in lines
    assert 'extend-exclude = ["x/", "y/"]' in lines
    assert 'exit-on = "smell"' in lines


def test_keys_for_the_whole_run(torchlint: Torchlint, needless: str) -> None:
    Path("a.py").write_text(needless)
    Path("torchlint.toml").write_text('output-format = "full"\njobs = 1\ncache-dir = "kept"\nfix = true\n')
    assert torchlint("check", "--no-fix").out.startswith("a.py:5:18: smell[TLN102]")
    assert Path("kept").is_dir()
    assert torchlint("check").status == 0
    assert "retain_graph" not in Path("a.py").read_text()
    Path("torchlint.toml").write_text('output-format = "sarfi"\n')
    assert "there is no format `sarfi`; did you mean `sarif`?" in torchlint("check").err


def test_fix_only(torchlint: Torchlint, needless: str, overwritten: str) -> None:
    Path("a.py").write_text(needless)
    Path("b.py").write_text(overwritten)
    ran = torchlint("check", "--fix-only", "--exit-non-zero-on-fix")
    assert (ran.status, ran.out, ran.err) == (1, "", "torchlint: 1 fix applied\n")
    ran = torchlint("check", "--fix-only")
    assert (ran.status, ran.out) == (0, "")
    assert Path("b.py").read_text() == overwritten


def test_quiet_and_verbose(torchlint: Torchlint, overwritten: str) -> None:
    Path("a.py").write_text(overwritten)
    quiet = torchlint(*CONCISE, "-q")
    assert len(quiet.out.splitlines()) == 1
    for answered in (1, 1):
        loud = torchlint(*CONCISE, "-v")
        assert "torchlint: configuration: none; the defaults hold" in loud.err
        assert f"torchlint: {answered} of 1 files answered by the cache in " in loud.err
        assert loud.out.startswith(quiet.out)


def test_colours(torchlint: Torchlint, overwritten: str) -> None:
    Path("a.py").write_text(overwritten)
    for _ in range(2):
        assert "\x1b[" not in torchlint("check").out
        assert "\x1b[" in torchlint("check", "--color", "always").out
        assert "\x1b[" in torchlint("check", FORCE_COLOR="1").out
        assert "\x1b[" not in torchlint("check", "--color", "never", FORCE_COLOR="1").out
        assert "\x1b[" not in torchlint("check", FORCE_COLOR="1", NO_COLOR="1").out


def test_a_rule_in_preview(torchlint: Torchlint, overwritten: str) -> None:
    Path("a.py").write_text(overwritten)
    Path("mine.py").write_text(
        '''
from torchlint.model import events
from torchlint.rule import Diagnostic, Level, Rule

class Mine(Rule):
    """
    Mine.

    ## What it does
    Reports.
    ## Why is this bad?
    It is not.
    ## Cure
    None.
    ## References
    None.
    """

    code, name, level, preview = "MIN001", "mine", Level.WARNING, True

    def check(self, event: events.InplaceWrite):
        yield Diagnostic(event.node, "mine")
'''
    )
    Path("torchlint.toml").write_text('plugins = ["mine"]\nignore = ["TLN"]\nexclude = ["mine.py"]\n')
    assert torchlint(*CONCISE).status == 0
    assert torchlint(*CONCISE, "--preview").status == 1
    assert torchlint(*CONCISE, "--extend-select", "MIN001").status == 1
    assert torchlint(*CONCISE, "--extend-select", "MIN").status == 0


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("--select", "TLN201", "--ignore", "TLN201"), "nothing is left to look for"),
        (("-q", "-v"), "--quiet and --verbose exclude each other"),
        (("--baseline", "a", "--write-baseline", "b"), "--baseline and --write-baseline exclude each other"),
        (("--add-noqa", "--fix"), "one after the other"),
        (("--show-state", "--fix"), "--show-state lints nothing"),
        (("--since", "HEAD", "-"), "--since is for files, not for standard input"),
        (("--isolated", "--config", "here.toml"), "--isolated exclude each other"),
        (("--config", "nowhere.toml"), "--config: there is no file nowhere.toml"),
        (("--config", "exit-on = never"), "neither a file nor TOML"),
        (("--config", "exti-on = 'error'"), "unknown key `exti-on`; did you mean `exit-on`?"),
        (("--output-format", "sarfi"), "Did you mean 'sarif'?"),
        (("--exit-on", "eror"), "'eror' is not one of error, warning, smell"),
        (("--exit-on", "eror"), "Did you mean 'error'?"),
        (("--template", "{lime}"), "did you mean `line`?"),
        (("--selct", "TLN2"), "Did you mean '--select'?"),
        (("--per-file-ignores", "tests"), "is not of the form PATTERN:CODE"),
        (("--baseline", "nowhere.json"), "nowhere.json: the baseline cannot be read"),
        (("",), "a path is empty"),
        (("-", "a.py"), "standard input (-) cannot be checked together with files"),
    ],
)
def test_contradictions_and_mistakes(torchlint: Torchlint, arguments: tuple[str, ...], complaint: str) -> None:
    Path("here.toml").write_text("")
    ran = torchlint("check", *arguments)
    assert ran.status == 2
    assert complaint in ran.err.replace("\n", " ")
    assert "Traceback" not in ran.err


def test_all_that_is_wrong_in_a_file_is_said_at_once(torchlint: Torchlint) -> None:
    Path("torchlint.toml").write_text('selct = []\nstrict = 1\nexit-on = "never"\n')
    assert len(torchlint("check").err.splitlines()) == 3
    wrong = ("selct = []", 'output-format = "xml"', 'plugins = ["no_such_rules"]', 'ignore = ["TLN999", "TLN1"]')
    tables = ('[per-file-ignores]\n"a.py" = ["NONE"]', "[rules.no-such-rule]\na = 1", "[rules.unstable-log]\nb = 1")
    Path("torchlint.toml").write_text("\n".join((*wrong, *tables)))
    ran = torchlint("check")
    assert (ran.status, ran.out) == (2, "")
    words = ("`selct`", "`xml`", "no_such_rules", "`TLN999`", "`NONE`", "`no-such-rule`", "no option `b`")
    assert [word for word in words if word not in ran.err] == []
    assert len(ran.err.splitlines()) == len(words), ran.err


def test_rules_are_searched(torchlint: Torchlint) -> None:
    found = json.loads(torchlint("rules", "detach", "memory", "--output-format", "json").out)
    assert "TLN206" in [item["code"] for item in found]
    assert len(found) < len(json.loads(torchlint("rules", "--output-format", "json").out))
    fixable = json.loads(torchlint("rules", "--fixable", "--level", "smell", "--output-format", "json").out)
    assert {item["level"] for item in fixable} == {"smell"}
    assert "none" not in {item["fixes"] for item in fixable}
    assert torchlint("rules", "quaternion-foo").err == "torchlint: no rule speaks of quaternion-foo\n"
    assert "Rules that speak of it: TLN206 detached-alias-modified" in torchlint("rule", "detach").err


def test_help_and_completion(torchlint: Torchlint) -> None:
    assert torchlint("help", "rules").out == torchlint("rules", "--help").out
    assert "Did you mean 'check'?" in torchlint("help", "chek").err
    assert torchlint("-V").out == torchlint("check", "--version").out
    for shell in ("bash", "zsh", "fish"):
        assert "_TORCHLINT_COMPLETE" in torchlint("completion", shell).out
    words = {"COMP_WORDS": "torchlint check --select TLN20", "COMP_CWORD": "3"}
    offered = torchlint(_TORCHLINT_COMPLETE="bash_complete", **words).out.split()
    assert "plain,TLN201" in offered
    assert all(word.startswith("plain,TLN20") for word in offered)
    words = {"COMP_WORDS": "torchlint check --output-format s", "COMP_CWORD": "3"}
    assert torchlint(_TORCHLINT_COMPLETE="bash_complete", **words).out.split() == ["plain,sarif"]


# On a terminal.


def _on_a_terminal(*arguments: str, until: bytes, seconds: float = 300) -> bytes:
    """What is printed on a terminal until something is; then the process is interrupted as by Ctrl-C."""
    master, end = pty.openpty()
    environment = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "FORCE_COLOR")}
    process = subprocess.Popen(
        [sys.executable, "-m", "torchlint", *arguments],
        stdin=end,
        stdout=end,
        stderr=end,
        env={**environment, "TERM": "xterm"},
    )
    os.close(end)
    printed = b""
    limit = time.monotonic() + seconds
    try:
        while until not in printed and time.monotonic() < limit:
            if select.select([master], [], [], 0.2)[0]:
                try:
                    piece = os.read(master, 65536)
                except OSError:
                    break
                printed += piece
        process.send_signal(signal.SIGINT)
        process.wait(seconds)
    finally:
        process.kill()
        process.wait()
        os.close(master)
    assert until in printed, printed[-2000:]
    return printed


def test_a_long_run_shows_a_bar_and_findings_as_they_come(torchlint: Torchlint, overwritten: str) -> None:
    slow = "import torch\n" + "".join(
        f"def f{n}(x):\n    y = x.exp()\n    y.add_(1)\n    return y\n" for n in range(300)
    )
    for number in range(60):
        Path(f"f{number:02}.py").write_text(slow.replace("exp", "exp" if number else "tanh") + f"# {number}\n")
    Path("a_first.py").write_text(overwritten)
    for early in (b"torchlint  [", b"a_first.py:5:1"):  # whichever comes first
        printed = _on_a_terminal("check", "--no-cache", "-j1", until=early)
        assert b"Found" not in printed  # not yet at the end


def test_verdicts_are_shown_as_they_come(torchlint: Torchlint, overwritten: str) -> None:
    Path("a_first.py").write_text(overwritten)
    endless = "import torch\nx = torch.ones(3, requires_grad=True)\ny = x.exp()\nwhile True:\n    pass\n"
    Path("b_last.py").write_text(endless + "y.add_(1)\ny.sum().backward()\n" + overwritten.replace("import torch", ""))
    printed = _on_a_terminal("check", "--no-cache", "-j1", "--verify", until=b"from version 0 to 1")
    assert b"a_first.py:5:1" in printed
    assert b"Found" not in printed  # not yet at the end
    _on_a_terminal("check", "--no-cache", "-j1", "--verify", until=b"torch  [")  # the bar, sooner or later


def test_watch(torchlint: Torchlint, overwritten: str, clean: str) -> None:
    pytest.importorskip("watchfiles")
    Path("a.py").write_text(clean)
    process = subprocess.Popen(
        [sys.executable, "-m", "torchlint", *CONCISE, "--watch"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert process.stdout is not None
    try:
        _until(process, "watching for changes")
        time.sleep(1)
        Path("a.py").write_text(overwritten)
        assert "a.py:5:1: error[TLN201]" in _until(process, "watching for changes")
        process.send_signal(signal.SIGINT)
        assert process.wait(300) == 130
    finally:
        process.kill()
        process.wait()


def _until(process: subprocess.Popen[str], words: str) -> str:
    assert process.stdout is not None
    said = ""
    while words not in said:
        line = process.stdout.readline()
        assert line, said
        said += line
    return said


def test_watch_without_watchfiles(torchlint: Torchlint, tmp_path: Path) -> None:
    (tmp_path / "hidden").mkdir()
    (tmp_path / "hidden" / "watchfiles.py").write_text("raise ImportError\n")
    ran = torchlint("check", "--watch", PYTHONPATH=str(tmp_path / "hidden"))
    assert (ran.status, ran.err) == (2, "torchlint: --watch: needs watchfiles: pip install 'torchlint[watch]'\n")


def test_the_settings_say_which_torch_is_meant_and_who_says_so(torchlint: Torchlint) -> None:
    assert torchlint("check", "--show-settings").out.splitlines()[-1].endswith("(the newest known)")
    Path("pyproject.toml").write_text('[project]\nname = "p"\nversion = "0"\ndependencies = ["torch>=1.13,<2.2"]\n')
    assert "# runs on torch 1.13 to 2.1 (torch" in torchlint("check", "--show-settings").out
    assert "2.0 to 2.13 (--target-torch)" in torchlint("check", "--show-settings", "--target-torch", "2.0").out
    Path("pyproject.toml").write_text('[tool.torchlint]\ntarget-torch = "2.4"\n')
    assert "(target-torch in " in torchlint("check", "--show-settings").out


def test_what_is_offered_knows_whether_unsafe_fixes_are_wanted(torchlint: Torchlint) -> None:
    Path("a.py").write_text("import torch\n\nx = torch.ones(3, requires_grad=True)\nx.add_(1)\n")
    assert "1 fixable with --fix --unsafe-fixes." in torchlint("check").out
    assert "1 fixable with --fix." in torchlint("check", "--unsafe-fixes").out
    Path("torchlint.toml").write_text("unsafe-fixes = true\n")
    assert "1 fixable with --fix." in torchlint("check").out
