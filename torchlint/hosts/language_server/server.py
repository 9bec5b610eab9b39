"""
The language server: diagnostics while typing, fixes, rule pages, verdicts of torch on request.

Answers an editor over standard input and output; lints and runs nothing itself (`workers`). Nothing that a
file, a configuration or a rule does ends it: it is told to the editor's log.
"""

from __future__ import annotations

import asyncio
import gc
import os
import re
from collections.abc import Coroutine, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

from lsprotocol import types
from pygls import uris
from pygls.lsp.server import LanguageServer

import torchlint
from torchlint import config
from torchlint.finding import Finding, Level, TextEdit, TraceLine
from torchlint.fixes import edits
from torchlint.hosts.language_server import protocol, workers
from torchlint.lint import silencing
from torchlint.project import files as project
from torchlint.syntax.text import NEWLINE, Span

PAUSE = 0.3
"""Seconds without a keystroke after which a text is linted."""
LINT_SECONDS = 60.0
VERIFY_SECONDS = 10 * workers.VERIFY_SECONDS
CONFIRM = "torchlint.confirm"
_CODE = re.compile(r"\b[A-Z]{3,8}\d{3}\b")
_WATCHED = ("**/*.py", "**/pyproject.toml", "**/torchlint.toml")


@dataclass
class Shown:
    """
    What is shown in a document, or in a cell of a notebook.

    Attributes
    ----------
    version
        The version it was found in.
    lines
        The text in that version.
    findings
        What was found in it.
    owner
        The notebook of a cell; of a document, the document itself.
    """

    version: int | None
    lines: list[str]
    findings: list[Finding]
    owner: str


@dataclass(frozen=True, slots=True)
class _Part:
    """A document, or a cell of a notebook with its number."""

    uri: str
    version: int | None
    text: str
    cell: int | None = None


@dataclass
class _State:
    shown: dict[str, Shown] = field(default_factory=dict)
    waiting: dict[str, asyncio.Task[None]] = field(default_factory=dict)
    overrides: config.Overrides = field(default_factory=config.Overrides)
    misread: list[str] = field(default_factory=list)
    linter: workers.Worker = field(default_factory=workers.Worker)
    judge: workers.Worker = field(default_factory=workers.Worker)
    leaving: bool = False


class Server(LanguageServer):
    """pygls' server, and what it remembers of what it shows."""

    def __init__(self) -> None:
        super().__init__(
            "torchlint",
            torchlint.__version__,
            notebook_document_sync=types.NotebookDocumentSyncOptions(
                notebook_selector=[types.NotebookDocumentFilterWithCells(cells=[types.NotebookCellLanguage("python")])],
                save=True,
            ),
        )
        self.state = _State()

    def report_server_error(self, error: Exception, source: Any) -> None:
        """To the editor's log; nobody needs a window for it."""
        self.log(f"{type(error).__name__}: {error}")

    def log(self, message: str) -> None:
        """A line in the editor's log."""
        self.window_log_message(types.LogMessageParams(types.MessageType.Error, message))

    def end(self) -> None:
        """End the processes that work for it, and give back what the system keeps for talking to them."""
        self.state.linter.end(wait=True)
        self.state.judge.end(wait=True)
        gc.collect()  # semaphores are given back where their objects go

    # Linting

    def later(self, owner: str, pause: float = PAUSE) -> None:
        """Lint a document or a notebook when nothing has been typed for a while."""
        before = self.state.waiting.pop(owner, None)
        if before is not None:
            before.cancel()
        self.state.waiting[owner] = asyncio.create_task(self._contained(self._lint_after(owner, pause)))

    def all_later(self) -> None:
        """Lint everything that is open."""
        for owner in {shown.owner for shown in self.state.shown.values()} | set(self.state.waiting):
            self.later(owner)

    def forget(self, owner: str) -> None:
        """Show nothing of a document or notebook any more."""
        waiting = self.state.waiting.pop(owner, None)
        if waiting is not None:
            waiting.cancel()
        for uri in [uri for uri, shown in self.state.shown.items() if shown.owner == owner]:
            del self.state.shown[uri]
            self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, []))

    async def _contained(self, work: Coroutine[Any, Any, None]) -> None:
        try:
            await work
        except Exception as error:
            self.log(f"{type(error).__name__}: {error}")

    async def _lint_after(self, owner: str, pause: float) -> None:
        await asyncio.sleep(pause)
        parts = self.parts(owner)
        asked, findings = self.asked(owner, parts)
        if asked is not None:
            found = await self.state.linter.perform(workers.lint, asked, LINT_SECONDS)
            findings = list(found) if not isinstance(found, str) else [_problem(asked.job.path, found)]
        if [(part.uri, part.version) for part in self.parts(owner)] != [(part.uri, part.version) for part in parts]:
            return  # somebody has typed; the next one is on its way
        self.show(owner, parts, findings)

    def asked(self, owner: str, parts: Sequence[_Part]) -> tuple[workers.Asked | None, list[Finding]]:
        """What is to be linted; nothing where it is excluded, or the configuration is wrong: then what is wrong."""
        path = uris.to_fs_path(owner) or owner
        config.forget()
        try:
            job = workers.job(path, self.state.overrides)
            if os.path.exists(path) and not project.find_files([path], exclude_named=True).files:
                return None, []
        except config.ConfigError as error:
            return None, [_problem(path, str(error))]
        if parts and parts[0].cell is not None:
            cells = tuple((part.cell, part.text) for part in parts if part.cell is not None)
            return workers.Asked(job, "", cells), []
        return workers.Asked(job, "".join(part.text for part in parts)), []

    def parts(self, owner: str) -> list[_Part]:
        """The document, or the cells of the notebook, as they are now."""
        notebook = self.workspace.get_notebook_document(notebook_uri=owner)
        if notebook is None:
            document = self.workspace.get_text_document(owner)
            return [_Part(owner, document.version, document.source)]
        found = []
        for number, cell in enumerate(notebook.cells, start=1):
            if cell.kind == types.NotebookCellKind.Code:
                document = self.workspace.get_text_document(cell.document)
                found.append(_Part(cell.document, document.version, document.source, number))
        return found

    # Showing

    def show(self, owner: str, parts: Sequence[_Part], findings: Sequence[Finding]) -> None:
        """Show what was found in a document or notebook, in place of what was shown before."""
        shown = {}
        for part in parts:
            own = [each for each in findings if (each.cell or part.cell) == part.cell]
            shown[part.uri] = Shown(part.version, NEWLINE.split(part.text), own, owner)
        gone = [uri for uri, each in self.state.shown.items() if each.owner == owner and uri not in shown]
        for uri in gone:
            del self.state.shown[uri]
            self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, []))
        self.state.shown.update(shown)
        for uri in shown:
            self.publish(uri)

    def publish(self, uri: str) -> None:
        """Send what is known of a document or cell."""
        shown = self.state.shown[uri]
        found = [
            protocol.diagnostic(each, shown.lines, self.units, [*self._related(each, shown)]) for each in shown.findings
        ]
        self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, found, version=shown.version))

    def _related(self, finding: Finding, shown: Shown) -> Iterator[types.DiagnosticRelatedInformation]:
        for step in finding.trace:
            uri, lines = self._place(finding, step, shown)
            span = Span(step.line, step.column, step.end_line or step.line, step.end_column or step.column)
            location = types.Location(uri, protocol.extent(lines, span, self.units))
            yield types.DiagnosticRelatedInformation(location, step.message)

    def _place(self, finding: Finding, step: TraceLine, shown: Shown) -> tuple[str, list[str]]:
        if step.path != finding.path:
            uri = uris.from_fs_path(os.path.abspath(step.path)) or shown.owner
            return uri, NEWLINE.split(self.workspace.get_text_document(uri).source)
        return self.home(shown.owner, step.cell)

    def home(self, owner: str, cell: int | None) -> tuple[str, list[str]]:
        """The document, or one cell of the notebook, with its lines."""
        for part in self.parts(owner):
            if part.cell == cell:
                return part.uri, NEWLINE.split(part.text)
        return owner, []

    def units(self, text: str) -> int:
        """How many of the editor's units a text has."""
        return int(self.workspace.position_codec.client_num_units(text))

    def at(self, uri: str, wanted: types.Range) -> list[Finding]:
        """The findings at a place."""
        shown = self.state.shown.get(uri)
        if shown is None:
            return []
        return [each for each in shown.findings if protocol.covers(each, wanted, shown.lines, self.units)]

    # What can be done about it

    def changes(self, owner: str, wanted: Sequence[TextEdit]) -> types.WorkspaceEdit:
        """Edits of a document or of the cells of a notebook."""
        by_uri: dict[str, list[types.TextEdit]] = {}
        for each in wanted:
            uri, lines = self.home(owner, each.cell)
            place = protocol.edit_extent(lines, each.span, self.units)
            by_uri.setdefault(uri, []).append(types.TextEdit(place, each.replacement))
        return types.WorkspaceEdit(changes=by_uri)

    async def confirm(self, uri: str, code: str, line: int, column: int) -> None:
        """Run the program of a finding, and show what torch says."""
        shown = self.state.shown.get(uri)
        found = next((each for each in shown.findings if _is(each, code, line, column)), None) if shown else None
        if shown is None or found is None:
            return
        asked, _ = self.asked(shown.owner, self.parts(shown.owner))
        if asked is None:
            return
        verdict = await self.state.judge.perform(workers.verify, workers.Claim(asked, found), VERIFY_SECONDS)
        if isinstance(verdict, str):
            self._say(types.MessageType.Warning, f"torchlint: {code} could not be run: {verdict}")
            return
        evidence = f": {verdict.evidence}" if verdict.evidence else ""
        self._say(types.MessageType.Info, f"torchlint: {code} is {verdict.status} by torch{evidence}")
        if self.state.shown.get(uri) is shown:  # what was typed meanwhile is another program
            shown.findings = [replace(each, verdict=verdict) if each is found else each for each in shown.findings]
            self.publish(uri)

    def _say(self, kind: types.MessageType, message: str) -> None:
        self.window_show_message(types.ShowMessageParams(kind, message))


server = Server()


@server.feature(types.INITIALIZE)
def _initialize(ls: Server, params: types.InitializeParams) -> None:
    options = params.initialization_options
    options = options if isinstance(options, dict) else {}
    ls.state.overrides = _overrides(options)
    ls.state.misread = _misread(options)


@server.feature(types.INITIALIZED)
async def _initialized(ls: Server, params: types.InitializedParams) -> None:
    for complaint in ls.state.misread:
        ls._say(types.MessageType.Warning, f"torchlint: {complaint}")
    workspace = ls.client_capabilities.workspace
    watching = workspace.did_change_watched_files if workspace is not None else None
    if watching is None or not watching.dynamic_registration:
        return
    watchers = [types.FileSystemWatcher(pattern) for pattern in _WATCHED]
    options = types.DidChangeWatchedFilesRegistrationOptions(watchers)
    wanted = types.Registration("torchlint-files", types.WORKSPACE_DID_CHANGE_WATCHED_FILES, options)
    await ls.client_register_capability_async(types.RegistrationParams([wanted]))


@server.feature(types.SHUTDOWN)
def _shut_down(ls: Server, params: Any) -> None:
    ls.state.leaving = True


@server.feature(types.EXIT)
def _exit(ls: Server, params: Any) -> None:
    """At once: pygls waits for a thread that waits for the editor, which may wait for this process."""
    ls.end()
    os._exit(0 if ls.state.leaving else 1)


# Of a notebook the editor says the same as of a document, in messages of other names.


def _uri(
    params: types.DidOpenTextDocumentParams
    | types.DidChangeTextDocumentParams
    | types.DidCloseTextDocumentParams
    | types.DidOpenNotebookDocumentParams
    | types.DidChangeNotebookDocumentParams
    | types.DidCloseNotebookDocumentParams,
) -> str:
    of_notebook = (
        types.DidOpenNotebookDocumentParams,
        types.DidChangeNotebookDocumentParams,
        types.DidCloseNotebookDocumentParams,
    )
    if isinstance(params, of_notebook):
        return params.notebook_document.uri
    return params.text_document.uri


@server.feature(types.TEXT_DOCUMENT_DID_OPEN)
@server.feature(types.NOTEBOOK_DOCUMENT_DID_OPEN)
async def _opened(ls: Server, params: types.DidOpenTextDocumentParams | types.DidOpenNotebookDocumentParams) -> None:
    ls.later(_uri(params), 0.0)


@server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
@server.feature(types.NOTEBOOK_DOCUMENT_DID_CHANGE)
async def _changed(
    ls: Server, params: types.DidChangeTextDocumentParams | types.DidChangeNotebookDocumentParams
) -> None:
    ls.later(_uri(params))


@server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
@server.feature(types.NOTEBOOK_DOCUMENT_DID_CLOSE)
async def _closed(ls: Server, params: types.DidCloseTextDocumentParams | types.DidCloseNotebookDocumentParams) -> None:
    ls.forget(_uri(params))


@server.feature(types.TEXT_DOCUMENT_DID_SAVE)
@server.feature(types.NOTEBOOK_DOCUMENT_DID_SAVE)
@server.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)
async def _saved(ls: Server, params: Any) -> None:
    ls.all_later()


@server.feature(
    types.TEXT_DOCUMENT_CODE_ACTION,
    types.CodeActionOptions([types.CodeActionKind.QuickFix, types.CodeActionKind.SourceFixAll]),
)
async def _actions(ls: Server, params: types.CodeActionParams) -> list[types.CodeAction]:
    uri, only = params.text_document.uri, params.context.only
    shown = ls.state.shown.get(uri)
    if shown is None or shown.version != ls.workspace.get_text_document(uri).version:
        return []
    actions = []
    if _wanted(types.CodeActionKind.QuickFix, only):
        found = ls.at(uri, params.range)
        actions += [each for finding in found for each in _quick_fixes(ls, shown, uri, finding)]
        actions.sort(key=lambda each: not each.is_preferred)
    if only and _wanted(types.CodeActionKind.SourceFixAll, only):
        safe = _safe_edits(shown.findings)
        if safe:
            title = "torchlint: apply all safe fixes"
            kind = types.CodeActionKind.SourceFixAll
            actions.append(types.CodeAction(title, kind=kind, edit=ls.changes(shown.owner, safe)))
    return actions


def _quick_fixes(ls: Server, shown: Shown, uri: str, finding: Finding) -> Iterator[types.CodeAction]:
    kind = types.CodeActionKind.QuickFix
    about = [protocol.diagnostic(finding, shown.lines, ls.units, ())]
    if finding.fix is not None:
        edit = ls.changes(shown.owner, finding.fix.edits)
        safe = finding.fix.safe
        yield types.CodeAction(protocol.title(finding.fix), kind, about, is_preferred=safe, edit=edit)
    if finding.code.startswith("TLN00"):
        return
    title = f"torchlint: confirm {finding.code} by running this file"
    place = [uri, finding.code, finding.span.line, finding.span.column]
    yield types.CodeAction(title, kind, about, command=types.Command(title, CONFIRM, arguments=place))
    silence = silencing.ignored(shown.lines, finding)
    if silence is not None:
        title = f"torchlint: ignore {finding.code} in this line"
        yield types.CodeAction(title, kind, about, edit=ls.changes(shown.owner, [silence]))


@server.feature(types.TEXT_DOCUMENT_HOVER)
async def _hover(ls: Server, params: types.HoverParams) -> types.Hover | None:
    uri, place = params.text_document.uri, params.position
    here = types.Range(place, place)
    found = ls.at(uri, here)
    codes = dict.fromkeys(each.code for each in found)
    if not codes:
        document = ls.workspace.get_text_document(uri)
        lines = NEWLINE.split(document.source)
        line = lines[place.line] if place.line < len(lines) else ""
        codes = dict.fromkeys(
            each[0]
            for each in _CODE.finditer(line)
            if ls.units(line[: each.start()]) <= place.character <= ls.units(line[: each.end()])
        )
    pages = [page for code in codes if (page := _page(ls, uri, code))]
    if not pages:
        return None
    return types.Hover(types.MarkupContent(types.MarkupKind.Markdown, "\n\n---\n\n".join(pages)))


@server.command(CONFIRM)
async def _confirm(ls: Server, uri: str, code: str, line: int, column: int) -> None:
    await ls.confirm(uri, code, line, column)


def _page(ls: Server, uri: str, code: str) -> str:
    from torchlint.lint import registry
    from torchlint.report import rule_page

    path = uris.to_fs_path(ls.state.shown[uri].owner if uri in ls.state.shown else uri) or uri
    try:
        job = workers.job(path, ls.state.overrides)
        found = registry.load(job.settings.plugins, str(job.settings.file)).find(code)
    except (config.ConfigError, registry.RegistryError, KeyError):
        return ""
    if isinstance(found, registry.DriverCode):
        return f"# {found.code} {found.name}\n\n{found.summary}"
    return rule_page.page(found)


def _safe_edits(findings: Sequence[Finding]) -> list[TextEdit]:
    """The edits of all safe fixes, without those that touch an earlier one."""
    taken: list[TextEdit] = []
    for finding in findings:
        fix = finding.fix
        if fix is not None and fix.safe:
            own = [each for each in fix.edits if each not in taken]
            same_cell = [(a, b) for a in own for b in taken if a.cell == b.cell]
            if not any(edits.clash(a, b) for a, b in same_cell):
                taken += own
    taken.sort(key=lambda each: (each.cell or 0, each.span))
    assert not any(a.cell == b.cell and edits.clash(a, b) for a, b in pairwise(taken))
    return taken


def _wanted(kind: types.CodeActionKind, only: Sequence[types.CodeActionKind | str] | None) -> bool:
    return not only or any(kind.value == each or kind.value.startswith(f"{each}.") for each in map(_text, only))


def _text(kind: types.CodeActionKind | str) -> str:
    return kind.value if isinstance(kind, types.CodeActionKind) else kind


def _is(finding: Finding, code: str, line: int, column: int) -> bool:
    return (finding.code, finding.span.line, finding.span.column) == (code, line, column)


def _problem(path: str, message: str) -> Finding:
    """Something that is wrong with torchlint or its configuration, shown where the file begins."""
    return Finding(path, Span(1, 1, 1, 1), "TLN000", "internal-error", Level.ERROR, message)


def _overrides(options: dict[str, Any]) -> config.Overrides:
    """What the editor's settings say on top of every configuration file."""

    def codes(key: str) -> tuple[str, ...]:
        value = options.get(key)
        return tuple(each for each in value if isinstance(each, str)) if isinstance(value, list) else ()

    return config.Overrides(
        select=codes("select") or None,
        extend_select=codes("extendSelect"),
        ignore=codes("ignore"),
        strict=options.get("strict") is True,
    )


def _misread(options: dict[str, Any]) -> list[str]:
    """What the editor's settings say that is not understood."""
    found = []
    for key, value in options.items():
        if key not in _OPTIONS:
            known = config.near_miss(key, list(_OPTIONS)) or f" (there are {', '.join(_OPTIONS)})"
            found.append(f"no initialization option `{key}`{known}")
        elif not isinstance(value, _OPTIONS[key]):
            expected = "true or false" if _OPTIONS[key] is bool else "a list of codes"
            found.append(f"the initialization option `{key}` must be {expected}")
    return found


_OPTIONS: dict[str, type] = {"strict": bool, "select": list, "extendSelect": list, "ignore": list}


def serve() -> None:
    """Serve one editor over standard input and output, until it says good-bye or goes away."""
    gc.enable()  # a process that lives for days
    output = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what anybody prints is not for the editor
    try:
        server.start_io(stdout=output)
    finally:
        server.end()
