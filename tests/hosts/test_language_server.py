"""A real client speaks to a real `torchlint server` over its standard input and output."""

from __future__ import annotations

import ast
import asyncio
import json
import subprocess
import sys
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import IO, Any

import expectations
import pytest
from lsprotocol import types
from pygls.lsp.client import LanguageClient

OVERWRITTEN = """\
import torch

x = torch.ones(3, requires_grad=True)
y = x.exp()
y.mul_(2)
y.sum().backward(retain_graph=True)
"""
CLEAN = "import torch\n"
PATIENCE = 300
"""Seconds until a server that says nothing is given up: on a machine with much else to do it takes half a minute."""


class Editor:
    """An editor with one window."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.client = LanguageClient("an editor", "1")
        self.shown: dict[str, list[types.Diagnostic]] = {}
        self.versions: dict[str, int | None] = {}
        self.messages: list[str] = []
        self.log: list[str] = []
        self.news = asyncio.Event()

        @self.client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
        def published(params: types.PublishDiagnosticsParams) -> None:
            self.shown[params.uri] = list(params.diagnostics)
            self.versions[params.uri] = params.version
            self.news.set()

        @self.client.feature(types.WINDOW_SHOW_MESSAGE)
        def said(params: types.ShowMessageParams) -> None:
            self.messages.append(params.message)
            self.news.set()

        @self.client.feature(types.WINDOW_LOG_MESSAGE)
        def logged(params: types.LogMessageParams) -> None:
            self.log.append(params.message)

    async def start(self, **options: Any) -> types.InitializeResult:
        await self.client.start_io(sys.executable, "-m", "torchlint", "server", cwd=self.folder)
        result = await self.client.initialize_async(
            types.InitializeParams(
                types.ClientCapabilities(), root_uri=self.folder.as_uri(), initialization_options=options
            )
        )
        self.client.initialized(types.InitializedParams())
        return result

    async def stop(self) -> int | None:
        await self.client.shutdown_async(None)
        self.client.exit(None)
        await self.client.stop()
        assert self.client._server is not None
        return self.client._server.returncode

    async def until(self, holds: Callable[[], bool]) -> None:
        async def waiting() -> None:
            while not holds():
                self.news.clear()
                await self.news.wait()

        await asyncio.wait_for(waiting(), PATIENCE)

    def uri(self, name: str) -> str:
        return (self.folder / name).as_uri()

    async def open(self, name: str, text: str, version: int = 1) -> list[types.Diagnostic]:
        item = types.TextDocumentItem(self.uri(name), types.LanguageKind.Python, version, text)
        self.client.text_document_did_open(types.DidOpenTextDocumentParams(item))
        await self.until(lambda: self.versions.get(self.uri(name)) == version)
        return self.shown[self.uri(name)]

    async def type(self, name: str, text: str, version: int) -> list[types.Diagnostic]:
        document = types.VersionedTextDocumentIdentifier(version, self.uri(name))
        change = types.TextDocumentContentChangeWholeDocument(text)
        self.client.text_document_did_change(types.DidChangeTextDocumentParams(document, [change]))
        await self.until(lambda: self.versions.get(self.uri(name)) == version)
        return self.shown[self.uri(name)]

    async def actions(self, uri: str, line: int, only: str | None = None) -> list[types.CodeAction]:
        place = types.Range(types.Position(line, 0), types.Position(line, 99))
        context = types.CodeActionContext([], only=[only] if only else None)
        found = await self.client.text_document_code_action_async(
            types.CodeActionParams(types.TextDocumentIdentifier(uri), place, context)
        )
        return [_action(each) for each in found or ()]

    async def hover(self, uri: str, line: int, character: int) -> str:
        found = await self.client.text_document_hover_async(
            types.HoverParams(types.TextDocumentIdentifier(uri), types.Position(line, character))
        )
        assert found is None or isinstance(found.contents, types.MarkupContent)
        return "" if found is None else found.contents.value  # type: ignore[union-attr]


def _action(found: types.CodeAction | types.Command) -> types.CodeAction:
    """lsprotocol reads every action with a command as if it were the command."""
    if isinstance(found, types.CodeAction):
        return found
    inner = ast.literal_eval(found.command)
    return types.CodeAction(
        found.title, command=types.Command(inner["title"], inner["command"], None, inner["arguments"])
    )


def _in_an_editor(folder: Path, session: Callable[[Editor], Coroutine[Any, Any, None]], **options: Any) -> None:
    async def run() -> None:
        editor = Editor(folder)
        await editor.start(**options)
        await session(editor)
        assert await editor.stop() == 0
        assert editor.log == []

    asyncio.run(asyncio.wait_for(run(), 2 * PATIENCE))


def _edited(text: str, action: types.CodeAction) -> str:
    """A text after the edits of an action in its only document."""
    assert action.edit is not None
    ((_, edits),) = (action.edit.changes or {}).items()
    lines = text.splitlines(True)

    def offset(place: types.Position) -> int:
        return sum(map(len, lines[: place.line])) + place.character

    for edit in sorted(edits, key=lambda each: -each.range.start.line):
        text = text[: offset(edit.range.start)] + edit.new_text + text[offset(edit.range.end) :]
    return text


def test_the_unsaved_text_is_linted(tmp_path: Path) -> None:
    async def session(editor: Editor) -> None:
        assert await editor.open("a.py", CLEAN) == []
        first, second = await editor.type("a.py", OVERWRITTEN, 2)
        assert (first.code, first.source, first.severity) == ("TLN201", "torchlint", types.DiagnosticSeverity.Error)
        assert first.range == types.Range(types.Position(4, 0), types.Position(4, 9))
        assert [(each.location.range.start.line, each.message) for each in first.related_information or ()] == [
            (3, "`exp` saves its result"), (4, "`mul_` overwrites `y`"), (5, "backward reads it here"),
        ]  # fmt: skip
        assert (second.code, second.severity) == ("TLN102", types.DiagnosticSeverity.Information)
        assert await editor.type("a.py", "import torch\nx = (\n", 3) != []
        assert await editor.type("a.py", CLEAN, 4) == []
        await editor.type("a.py", OVERWRITTEN, 5)
        closing = types.DidCloseTextDocumentParams(types.TextDocumentIdentifier(editor.uri("a.py")))
        editor.client.text_document_did_close(closing)
        await editor.until(lambda: editor.shown[editor.uri("a.py")] == [])

    _in_an_editor(tmp_path, session)
    assert list(tmp_path.iterdir()) == []


def test_columns_are_in_the_units_of_the_editor(tmp_path: Path) -> None:
    async def session(editor: Editor) -> None:
        found = await editor.open("a.py", OVERWRITTEN.replace("y.mul_", "'😀'; y.mul_"))
        assert (found[0].range.start.character, found[0].range.end.character) == (6, 15)

    _in_an_editor(tmp_path, session)


def test_fixes_the_safe_ones_preferred(tmp_path: Path) -> None:
    async def session(editor: Editor) -> None:
        await editor.open("a.py", OVERWRITTEN)
        uri = editor.uri("a.py")
        (fix, confirm, ignore) = await editor.actions(uri, 4)
        assert fix.title == "torchlint: write `y = y.mul(2)`, out of place (unsafe: may change what the code does)"
        assert fix.is_preferred is False
        assert _edited(OVERWRITTEN, fix) == OVERWRITTEN.replace("y.mul_(2)", "y = y.mul(2)")
        assert confirm.command is not None
        assert _edited(OVERWRITTEN, ignore) == OVERWRITTEN.replace("mul_(2)", "mul_(2)  # torchlint: ignore[TLN201]")
        (fix, *_) = [each for each in await editor.actions(uri, 5) if each.is_preferred]
        assert fix.title == "torchlint: remove `retain_graph=True`"
        assert _edited(OVERWRITTEN, fix) == OVERWRITTEN.replace("retain_graph=True", "")
        (everything,) = await editor.actions(uri, 0, "source.fixAll")
        assert _edited(OVERWRITTEN, everything) == OVERWRITTEN.replace("retain_graph=True", "")
        assert await editor.actions(uri, 0) == []

    _in_an_editor(tmp_path, session)


@pytest.mark.parametrize(
    ("line", "silenced"),
    [
        ("y.mul_(2)  # doubled", "y.mul_(2)  # doubled  # torchlint: ignore[TLN201]"),
        ("y.mul_(2)  # noqa: E501", "y.mul_(2)  # noqa: E501  # torchlint: ignore[TLN201]"),
        ("y.mul_(2)  # torchlint: ignore[TLN204] so", "y.mul_(2)  # torchlint: ignore[TLN204, TLN201] so"),
        ("y.mul_('#'.count('#'))", "y.mul_('#'.count('#'))  # torchlint: ignore[TLN201]"),
        ("y.mul_(\n    2\n)", "y.mul_(  # torchlint: ignore[TLN201]\n    2\n)"),
    ],
)
def test_what_is_ignored_is_said_behind_what_stands_there(tmp_path: Path, line: str, silenced: str) -> None:
    text = OVERWRITTEN.replace("y.mul_(2)", line)

    async def session(editor: Editor) -> None:
        await editor.open("a.py", text)
        actions = await editor.actions(editor.uri("a.py"), 4)
        (ignore,) = [each for each in actions if "ignore TLN201" in each.title]
        assert _edited(text, ignore) == OVERWRITTEN.replace("y.mul_(2)", silenced)

    _in_an_editor(tmp_path, session)
    report = expectations.lint(OVERWRITTEN.replace("y.mul_(2)", silenced))
    assert "TLN201" not in [finding.code for finding in report.findings]


def test_no_place_for_a_comment(tmp_path: Path) -> None:
    async def session(editor: Editor) -> None:
        await editor.open("a.py", OVERWRITTEN.replace("y.mul_(2)", "y.mul_ \\\n    (2)"))
        assert [each for each in await editor.actions(editor.uri("a.py"), 4) if "ignore" in each.title] == []

    _in_an_editor(tmp_path, session)


def test_hover_shows_the_page_of_the_rule(tmp_path: Path) -> None:
    async def session(editor: Editor) -> None:
        uri = editor.uri("a.py")
        await editor.open("a.py", OVERWRITTEN + "z = 1  # not TLN101\n")
        page = await editor.hover(uri, 4, 2)
        assert page.startswith("# TLN201 saved-tensor-overwritten\n")
        assert "## Why is this bad?" in page
        assert (await editor.hover(uri, 6, 17)).startswith("# TLN101 ")
        assert await editor.hover(uri, 0, 0) == ""

    _in_an_editor(tmp_path, session)


def test_confirmed_by_running(tmp_path: Path) -> None:
    pytest.importorskip("torch")

    async def session(editor: Editor) -> None:
        uri = editor.uri("a.py")
        await editor.open("a.py", OVERWRITTEN)
        confirm = next(each for each in await editor.actions(uri, 4) if each.command is not None)
        assert confirm.title == "torchlint: confirm TLN201 by running this file"
        assert confirm.command is not None
        await editor.client.workspace_execute_command_async(
            types.ExecuteCommandParams(confirm.command.command, confirm.command.arguments)
        )
        await editor.until(lambda: bool(editor.messages))
        assert editor.messages[0].startswith("torchlint: TLN201 is confirmed by torch: ")
        await editor.until(lambda: "torch: confirmed" in editor.shown[uri][0].message)

    _in_an_editor(tmp_path, session)


def test_the_configuration_of_the_project_holds_and_is_read_again(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[tool.torchlint]\nignore = ["TLN201"]\nextend-exclude = ["old/"]\n')
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "a.py").write_text(OVERWRITTEN)

    async def session(editor: Editor) -> None:
        assert [each.code for each in await editor.open("a.py", OVERWRITTEN)] == ["TLN102"]
        assert await editor.open("old/a.py", OVERWRITTEN) == []
        (tmp_path / "pyproject.toml").write_text("[tool.torchlint]\nselct = []\n")
        (wrong,) = await editor.type("a.py", OVERWRITTEN, 2)
        assert wrong.code == "TLN000"
        assert "unknown key `selct`; did you mean `select`?" in wrong.message
        (tmp_path / "pyproject.toml").write_text("[tool.torchlint]\n")
        changed = types.FileEvent((tmp_path / "pyproject.toml").as_uri(), types.FileChangeType.Changed)
        editor.client.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams([changed]))
        await editor.until(lambda: [each.code for each in editor.shown[editor.uri("a.py")]] == ["TLN201", "TLN102"])

    _in_an_editor(tmp_path, session)


def test_the_settings_of_the_editor_come_on_top(tmp_path: Path) -> None:
    async def session(editor: Editor) -> None:
        assert [each.code for each in await editor.open("a.py", OVERWRITTEN)] == ["TLN102"]

    _in_an_editor(tmp_path, session, select=["TLN1"])


def test_settings_that_are_not_understood_are_told(tmp_path: Path) -> None:
    async def session(editor: Editor) -> None:
        await editor.until(lambda: len(editor.messages) == 2)
        assert editor.messages == [
            "torchlint: no initialization option `selct`; did you mean `select`?",
            "torchlint: the initialization option `strict` must be true or false",
        ]

    _in_an_editor(tmp_path, session, selct=["TLN1"], strict="yes")


@pytest.mark.parametrize(
    "text",
    ["import torch\n\0", "import torch\n" + "(" * 5000, "# coding: klingon\nimport torch\nx\n", "torch\r\n\x0c\ud800"],
)
def test_no_file_ends_it(tmp_path: Path, text: str) -> None:
    async def session(editor: Editor) -> None:
        await editor.open("a.py", text.encode("utf-8", "replace").decode())
        assert len(await editor.type("a.py", OVERWRITTEN, 2)) == 2

    _in_an_editor(tmp_path, session)


def test_a_rule_that_takes_the_process_with_it_ends_it_not(tmp_path: Path) -> None:
    (tmp_path / "deadly.py").write_text(
        '''
import os
from torchlint.model import events
from torchlint.rule import Level, Rule


class Deadly(Rule):
    """
    Ends the process.

    ## What it does
    Ends.
    ## Why is this bad?
    It is.
    ## Cure
    None.
    ## References
    None.
    """

    code, name, level = "DIE001", "deadly", Level.ERROR

    def check(self, event: events.InplaceWrite):
        print("not for the editor")
        os._exit(3)
'''
    )
    (tmp_path / "torchlint.toml").write_text('plugins = ["deadly"]\n')

    async def session(editor: Editor) -> None:
        (lost,) = await editor.open("a.py", OVERWRITTEN)
        assert (lost.code, lost.message) == ("TLN000", "the process that worked on this file died")
        assert [each.code for each in await editor.type("a.py", OVERWRITTEN.replace("y.mul_(2)\n", ""), 2)] == [
            "TLN102"
        ]

    _in_an_editor(tmp_path, session)


def test_notebooks(tmp_path: Path) -> None:
    async def session(editor: Editor) -> None:
        sources = ["%matplotlib inline\n" + OVERWRITTEN.partition("y.mul_")[0], "y.mul_(2)", "y.sum().backward()"]
        uri = editor.uri("n.ipynb")
        names = [f"{uri}#{number}" for number in range(len(sources))]
        cells = [types.NotebookCell(types.NotebookCellKind.Code, name) for name in names]
        texts = [
            types.TextDocumentItem(name, types.LanguageKind.Python, 1, source)
            for name, source in zip(names, sources, strict=True)
        ]
        document = types.NotebookDocument(uri, "jupyter-notebook", 1, cells)
        editor.client.notebook_document_did_open(types.DidOpenNotebookDocumentParams(document, texts))
        await editor.until(lambda: len(editor.shown) == len(names))
        assert [len(editor.shown[name]) for name in names] == [0, 1, 0]
        (found,) = editor.shown[names[1]]
        assert (found.code, found.range.start.line) == ("TLN201", 0)
        assert [each.location.uri for each in found.related_information or ()] == names
        fix = (await editor.actions(names[1], 0))[0]
        assert fix.edit is not None
        assert list(fix.edit.changes or ()) == [names[1]]
        closing = types.DidCloseNotebookDocumentParams(
            types.NotebookDocumentIdentifier(uri), [types.TextDocumentIdentifier(name) for name in names]
        )
        editor.client.notebook_document_did_close(closing)
        await editor.until(lambda: not any(editor.shown.values()))

    _in_an_editor(tmp_path, session)


def test_it_ends_when_the_editor_goes_away(tmp_path: Path) -> None:
    request = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"capabilities": {}}})
    message = f"Content-Length: {len(request)}\r\n\r\n{request}".encode()
    ran = subprocess.run(
        [sys.executable, "-m", "torchlint", "server"],
        input=message,
        capture_output=True,
        timeout=PATIENCE,
        cwd=tmp_path,
    )
    assert ran.returncode == 0, ran.stderr
    assert b'"name":"torchlint"' in ran.stdout.replace(b": ", b":")


def test_without_pygls_it_says_what_to_install(tmp_path: Path) -> None:
    program = (
        "import sys; sys.modules['pygls'] = None; sys.argv = ['torchlint', 'server'];"
        "from torchlint.__main__ import main; main()"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=PATIENCE, cwd=tmp_path
    )
    assert ran.returncode == 2
    assert ran.stderr == (
        "torchlint: the language server needs pygls, which is not installed: pip install 'torchlint[lsp]'\n"
    )


def test_it_leaves_nothing_behind_and_says_nothing_at_its_end(tmp_path: Path) -> None:
    server = subprocess.Popen(
        [sys.executable, "-m", "torchlint", "server"],
        cwd=tmp_path,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert server.stdin is not None
    assert server.stdout is not None
    document = {"uri": (tmp_path / "a.py").as_uri(), "languageId": "python", "version": 1, "text": OVERWRITTEN}
    told = [
        {"id": 1, "method": "initialize", "params": {"processId": None, "rootUri": None, "capabilities": {}}},
        {"method": "initialized", "params": {}},
        {"method": "textDocument/didOpen", "params": {"textDocument": document}},
    ]
    for message in told:
        _send(server.stdin, message)
    while "publishDiagnostics" not in _received(server.stdout):
        pass  # its process has linted: the semaphores are there
    _send(server.stdin, {"id": 2, "method": "shutdown"})
    _send(server.stdin, {"method": "exit"})
    _, said = server.communicate(timeout=PATIENCE)
    assert (server.returncode, said) == (0, b"")


def _send(pipe: IO[bytes], message: dict[str, Any]) -> None:
    data = json.dumps({"jsonrpc": "2.0", **message}).encode()
    pipe.write(b"Content-Length: %d\r\n\r\n" % len(data) + data)
    pipe.flush()


def _received(pipe: IO[bytes]) -> str:
    length = 0
    while line := pipe.readline().strip():
        if line.lower().startswith(b"content-length:"):
            length = int(line.partition(b":")[2])
    assert length, "the server has ended"
    return pipe.read(length).decode()
