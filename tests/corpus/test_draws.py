"""Draws and archives: the sample is the seed's, nothing lands outside, verdicts become figures. No foreign network."""

from __future__ import annotations

import hashlib
import io
import json
import subprocess
import sys
import tarfile
import threading
import zipfile
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from corpus import packages
from corpus.draws import __main__ as draws
from corpus.draws import names
from corpus.draws.lint import Linted, lint
from corpus.draws.sheet import excerpt, markdown, rows, sample
from corpus.draws.tally import COMMITTED, figures, pattern, stripped
from corpus.packages import Refused, frozen_linter, is_kept_for_later, unpack

ROOT = Path(__file__).parents[2]


def _list_of_names(folder: Path) -> Path:
    lines = ["name\tversion\tmonth\tsummary"]
    lines += [f"pkg-{number}\t1.{number}\t2026-01\tLayers for PyTorch" for number in range(60)]
    lines += ["timm\t1\t2026-01\ttorch models", "other\t1\t2026-01\tnothing of the kind", "short\t1"]
    path = folder / "names.tsv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def _finding(level: str, line: int, message: str = "`x` is lost") -> dict[str, object]:
    trace = [{"path": "a.py", "line": 40, "column": 1, "message": "here"}]
    return {"path": "a.py", "line": line, "level": level, "code": "TLN212", "message": message, "trace": trace}


def _tar(path: Path, *members: tuple[str, bytes | None]) -> Path:
    with tarfile.open(path, "w:gz") as tar:
        for name, data in members:
            info = tarfile.TarInfo(name)
            if data is None:
                info.type, info.linkname = tarfile.SYMTYPE, "/etc"
            else:
                info.size = len(data)
            tar.addfile(info, io.BytesIO(data or b""))
    return path


def test_a_draw_is_the_seeds_and_leaves_out_what_is_reserved(tmp_path: Path) -> None:
    possible = names.candidates(_list_of_names(tmp_path))
    found = {each.name for each in possible}
    assert found == {f"pkg-{n}" for n in range(60) if hashlib.sha1(f"pkg-{n}".encode()).hexdigest()[0] not in "01"}
    assert 40 < len(found) < 60
    drawn = names.draw(possible, 3, 10)
    assert drawn == names.draw(possible, 3, 20)[:10] != names.draw(possible, 4, 10)
    names.save(drawn, tmp_path / "draws" / "1" / "packages.jsonl")
    taken = names.burned(tmp_path / "draws")
    left = names.candidates(_list_of_names(tmp_path), without=taken)
    assert {each.name for each in left} == found - {each.name for each in drawn}


def test_a_list_without_the_columns_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "names.tsv"
    path.write_text("name\tsize\n", encoding="utf-8")
    with pytest.raises(ValueError, match="not in list"):
        names.candidates(path)


def test_a_name_is_kept_for_later_in_either_spelling() -> None:
    kept = [f"a_{n}" for n in range(200) if is_kept_for_later(f"a_{n}")]
    assert any(hashlib.sha1(name.encode()).hexdigest()[0] not in "01" for name in kept)
    assert all(is_kept_for_later(name.replace("_", "-")) or is_kept_for_later(name) for name in kept)


def test_nothing_that_is_committed_is_kept_for_later() -> None:
    assert not [name for path in ROOT.glob("tests/corpus/*/**/packages.jsonl") for name in _names(path)]


def _names(path: Path) -> list[str]:
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return [row["name"] for row in rows if is_kept_for_later(row["name"])]


def test_unpacking_keeps_python_and_makes_no_link(tmp_path: Path) -> None:
    members = ("p/a.py", b"x = 1\n"), ("p/data.bin", b"123"), ("p/link.py", None), ("p/setup.cfg", b"")
    assert unpack(_tar(tmp_path / "p.tar.gz", *members), tmp_path / "out") == 2
    assert sorted(path.name for path in (tmp_path / "out").rglob("*")) == ["a.py", "p", "setup.cfg"]


@pytest.mark.parametrize("name", ["../a.py", "/a.py", "p/../../a.py", "C:/a.py", "..\\a.py"])
def test_a_member_that_climbs_out_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(Refused):
        unpack(_tar(tmp_path / "p.tar.gz", (name, b"")), tmp_path / "out")
    with zipfile.ZipFile(tmp_path / "p.whl", "w") as wheel:
        wheel.writestr(name, "")
    with pytest.raises(Refused):
        unpack(tmp_path / "p.whl", tmp_path / "out")
    assert not list(tmp_path.rglob("a.py"))


@pytest.fixture
def index(tmp_path: Path) -> Iterator[tuple[Path, str]]:
    """A folder that is served as an index, and its URL."""

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, format: str, *args: object) -> None: ...

    folder = tmp_path / "index"
    folder.mkdir()
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield folder, f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def test_a_source_archive_is_read_and_not_run(tmp_path: Path, index: tuple[Path, str]) -> None:
    folder, url = index
    setup = f"open({str(tmp_path / 'ran')!r}, 'w')\n".encode()
    members = ("p-1.0/setup.py", setup), ("p-1.0/p/a.py", b""), ("p-1.0/requirements.txt", b"torch\n")
    _tar(folder / "p-1.0.tar.gz", *members)
    names_of_files = ["p-0.9.tar.gz", "p-1.0.tar.gz", "p-1.0.1-py3-none-any.whl"]
    (folder / "p").mkdir()
    # `index.html` is what the server answers for a folder; what the answer is called is nobody's question.
    listed = [{"filename": name, "url": f"{url}/{name}"} for name in names_of_files]
    (folder / "p" / "index.html").write_text(json.dumps({"files": listed}))
    names.save([names.Release("p", "1.0"), names.Release("q", "1.0")], tmp_path / "work" / "drawn.jsonl")
    command = [sys.executable, "-m", "tests.corpus.draws", "fetch", "--work", str(tmp_path / "work"), "--index", url]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert run.stdout.splitlines() == ["p 1.0: 3 files", "q 1.0: left out, the index does not answer: HTTPError"]
    package = tmp_path / "work" / "packages" / "p"
    found = sorted(path.relative_to(package).as_posix() for path in package.rglob("*") if path.is_file())
    assert found == ["p/a.py", "requirements.txt", "setup.py"]
    assert not (tmp_path / "ran").exists()


def test_limits_and_damage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    archive = _tar(tmp_path / "p.tar.gz", ("a.py", b"x" * 100), ("b.py", b"x" * 100))
    monkeypatch.setattr(packages, "MAX_UNPACKED", 150)
    with pytest.raises(Refused, match="unpacks to more"):
        unpack(archive, tmp_path / "out")
    (tmp_path / "broken.tar.gz").write_bytes(archive.read_bytes()[:60])
    with pytest.raises(Refused, match="damaged"):
        unpack(tmp_path / "broken.tar.gz", tmp_path / "other")


def test_the_linter_is_a_commit_and_its_trouble_is_counted(tmp_path: Path) -> None:
    repository = tmp_path / "repository"
    (repository / "torchlint").mkdir(parents=True)
    (repository / "rules").mkdir()
    (repository / "rules" / "__init__.py").write_text("")
    main = repository / "torchlint" / "__main__.py"
    found = [{**_finding("error", 3), "code": code} for code in ("TLN212", "TLN000")]
    main.write_text(f"print({json.dumps(json.dumps(found))})\n")
    identity = ["-c", "user.name=a", "-c", "user.email=a@example.invalid", "-c", "commit.gpgsign=false"]
    for command in (["init", "-q"], ["add", "."], [*identity, "commit", "-q", "-m", "x"]):
        subprocess.run(["git", "-C", str(repository), *command], check=True)
    linter, commit = frozen_linter(repository, tmp_path / "work")
    main.write_text("raise SystemExit('edited')\n")
    assert frozen_linter(repository, tmp_path / "work") == (linter, commit)
    package = tmp_path / "package"
    package.mkdir()
    (package / "a.py").write_text("x = 1\ny = 2\n")
    linted = lint("p", "1", package, linter)
    assert (linted.files, linted.lines, len(linted.findings)) == (1, 2, 1)
    assert linted.trouble == ["a.py:3: `x` is lost"]
    kept = {codes: lint("p", "1", package, linter, codes) for codes in (("TLN2",), ("TLN8", "TLN9"))}
    assert [len(each.findings) for each in kept.values()] == [1, 0]
    assert all(each.trouble == linted.trouble for each in kept.values())
    (linter / "torchlint" / "__main__.py").write_text("raise SystemExit('ended')\n")
    assert lint("p", "1", package, linter).trouble == ["exit status 1: ended"]
    (linter / "torchlint" / "__main__.py").write_text("import time; time.sleep(60)\n")
    assert lint("p", "1", package, linter, timeout=0.2).trouble == ["no end after 0 s"]


def test_a_sheet_is_the_seeds_and_shows_what_the_trace_names(tmp_path: Path) -> None:
    (tmp_path / "p").mkdir()
    (tmp_path / "p" / "a.py").write_text("".join(f"line_{n} = 0\n" for n in range(1, 81)))
    findings = [_finding("error", 3), *[_finding("warning", n) for n in range(4, 30)], _finding("smell", 70)]
    linted = [Linted("p", "1", findings=findings)]
    chosen = sample(linted, 1, grave=5, smells=5)
    assert [each["level"] for each in chosen].count("smell") == 1
    assert len(chosen) == 6
    assert chosen == sample(linted, 1, grave=5, smells=5) != sample(linted, 2, grave=5, smells=5)
    sheet = rows(chosen, tmp_path)
    assert all(row["verdict"] == "" and "line_40 " in row["source"]["a.py"] for row in sheet)
    assert f"{chosen[0]['line']:5} line_{chosen[0]['line']} " in markdown(sheet)
    assert excerpt(tmp_path / "p" / "b.py", {1}) == "(not in the package)"


def test_verdicts_become_figures() -> None:
    verdicts = ["true and useful", "true and useful", "true, a shrug", "wrong", "misleading"]
    levels = ["error", "error", "error", "error", "smell"]
    messages = ["`a` is lost", "`b` is lost", "other", "line 3", "line 4"]
    sheet = [
        {"number": n, "package": "p", "version": "1", "source": {}, **_finding(level, n, message), "verdict": verdict}
        | {"reason": "because"}
        for n, (verdict, level, message) in enumerate(zip(verdicts, levels, messages, strict=True), 1)
    ]
    kept = stripped(sheet)
    assert not {"source", "trace"} & set(kept[0])
    assert pattern(kept[0]) == pattern(kept[1]) != pattern(kept[2])
    assert "| error | 4 | 3 (75 %) | 2 (50 %) | 0 | 1 | 3 | 2 (67 %) | 1 (33 %) |" in figures(kept)
    assert "| warning | 0 | – | – | 0 | 0 | 0 | – | – |" in figures(kept)
    with pytest.raises(ValueError, match="row 1: the verdict"):
        stripped([{**sheet[0], "verdict": "fine"}])
    with pytest.raises(ValueError, match="row 1: no reason"):
        stripped([{**sheet[0], "reason": " "}])


def test_names_may_have_the_word_where_summaries_do_not(tmp_path: Path) -> None:
    path = tmp_path / "names.tsv"
    rows = ("fastorchid", "torchfoo", "foo-torch", "agent-orchestra", "agentorchestra", "plain")
    path.write_text("name\tversion\tsummary\n" + "".join(f"{row}\t1.0\tnone\n" for row in rows), encoding="utf-8")
    kept = {row for row in ("torchfoo", "foo-torch") if not names.is_kept_for_later(row)}
    assert {each.name for each in names.candidates(path, without=set(), column="name")} == kept != set()
    assert names.candidates(path) == []
    assert {each.name for each in names.candidates(path, ("none", "torch"), set(), "name")} == kept


@pytest.mark.parametrize(("judged", "written"), [(0, set()), (1, {"partial.jsonl"}), (2, {"verdicts.jsonl"})])
def test_a_reading_that_was_broken_off_is_kept_and_is_no_figure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, judged: int, written: set[str]
) -> None:
    work, kept = tmp_path / "work", tmp_path / "kept"
    work.mkdir()
    row = dict.fromkeys(COMMITTED, "") | {"number": 1, "line": 1, "level": "error"}
    sheet = [row | ({"verdict": "wrong", "reason": "ran"} if index < judged else {}) for index in range(2)]
    (work / "sheet.jsonl").write_text("".join(json.dumps(each) + "\n" for each in sheet), encoding="utf-8")
    for name in ("packages.jsonl", "run.json"):
        (work / name).write_text("", encoding="utf-8")
    monkeypatch.setattr(sys, "argv", ["draws", "record", "--work", str(work), "--to", str(kept)])
    assert draws.main() == 0
    assert {each.name for each in kept.iterdir()} == {"packages.jsonl", "run.json"} | written
