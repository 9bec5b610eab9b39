"""
One file in, sorted findings out: decode, lower, interpret, parse what is wanted, ask the rules (`pipeline`), suppress.

The engine does not print, does not judge (rules do) and does not know where files come from. Nothing that
goes wrong in a file or in a rule leaves it as an exception: it becomes a TLN000 or TLN001 beside the other findings.
"""

from __future__ import annotations

import gc
import sys
import threading
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from time import perf_counter
from typing import TypeVar

from torchlint.condition import naming_reflection, unseen_class, without_reflection
from torchlint.finding import shown_beside
from torchlint.fixes import edits
from torchlint.lint import api
from torchlint.lint.facts import Facts, is_thorough, leaves_dim_open, listeners, visitors
from torchlint.lint.grad_modes import with_grad_modes
from torchlint.lint.grouped import counted, place_of, together
from torchlint.lint.places import Unparsed
from torchlint.lint.platforms import with_platforms
from torchlint.lint.question import Question, made
from torchlint.lint.registry import INTERNAL_ERROR, INVALID_SYNTAX, UNUSED_SUPPRESSION, DriverCode, Registry, Selection
from torchlint.lint.suppressions import Suppressions, has_directive, may_be_judged, name_rules
from torchlint.lint.unused import Unused
from torchlint.model import events, interpret
from torchlint.model.events.api import TensorMethod
from torchlint.model.events.trace import Step
from torchlint.project.copies import is_imitated, is_of_torch
from torchlint.project.generated import generated_from
from torchlint.project.index import ProjectIndex
from torchlint.results import MODEL, NEEDLE, PARSE, PLACES
from torchlint.results import FileReport as FileReport
from torchlint.rule import Diagnostic, File, Finding, FindingFix, Level, Rule, Settings, Target, TraceLine
from torchlint.stack import with_room
from torchlint.syntax import cst, ir
from torchlint.syntax.long_literals import Shortened, shortened
from torchlint.syntax.lowering import program_of
from torchlint.syntax.nodes import Nodes
from torchlint.syntax.place import NodeWantedError, Place
from torchlint.syntax.tree import Source, SourceError, Span, decode, described, finding_nodes, is_python


def problem(path: str, kind: DriverCode, message: str, span: Span = Span(1, 1, 1, 1)) -> Finding:  # noqa: B008
    """A finding of the driver itself."""
    return Finding(path, span, kind.code, kind.name, kind.level, message)


def check_bytes(path: str, data: bytes, registry: Registry, selection: Selection) -> FileReport:
    """
    Lint a file as it lies on disk.

    Parameters
    ----------
    path
        As shown to the user.
    data
        Its content.
    registry
        The rules.
    selection
        Which of them are asked for (`Registry.select`, without the file's `per-file-ignores`).
    """
    try:
        text = decode(data).text
        if NEEDLE not in data and not name_rules(text, registry):
            if not is_python(text):
                parse(path, text)  # what is Python for a newer one is Python
            return FileReport(path, mentions_torch=False)
    except SourceError as error:
        return not_readable(path, error)
    return check_text(path, text, registry, selection)


def check_text(path: str, text: str, registry: Registry, selection: Selection, *, noqa: bool = True) -> FileReport:
    """
    Lint a text; `noqa=False` leaves `# noqa` comments to somebody else (flake8). See `check_bytes`.
    """
    with _without_gc():
        short = shortened(text)
        report = _with_deep_stack(lambda: _check(path, short, registry, selection, noqa))
    if not short.left_out:
        return report
    return replace(report, findings=tuple(_keeping(finding, short) for finding in report.findings))


def _keeping(finding: Finding, short: Shortened) -> Finding:
    """A finding without a fix that would write what was not read."""
    if finding.fix is None or not any(short.touches(edit.span) for edit in finding.fix.edits):
        return finding
    return replace(finding, fix=None)


def parse(path: str, text: str) -> Source:
    """
    A text's tree, however deeply it is nested.

    Raises
    ------
    SourceError
        if it is not valid Python.
    """
    return _with_deep_stack(lambda: Source.parse(path, text))


def _check(path: str, short: Shortened, registry: Registry, selection: Selection, noqa: bool) -> FileReport:
    text = short.text
    seconds: dict[str, float] = {}
    project = ProjectIndex(path)
    own = may_be_judged(text, registry, noqa=noqa)
    try:
        with _timed(seconds, MODEL):
            program = program_of(text, short.tree)
            wanted = visitors(text, program.at, registry, selection)
            meant, referred, lost = _referred(path, program, registry, selection, project)
            is_whole = own or bool(wanted)
            nodes = Nodes(path, program, whole=is_whole)

            def find(place: Place) -> cst.CSTNode | None:
                return nodes.find(place) or project.node(place)

            def read(place: Place) -> str | None:
                return nodes.text(place) or project.text(place)

            happened = interpret(
                program,
                project,
                find,
                read,
                thorough=is_thorough(registry, selection) or leaves_dim_open(text),
                calls=bool(listeners(events.OpCalled, registry, selection)),
            )
            happened, also_lost = _with_methods(path, happened, meant, program, project)
            happened, lost = [*happened, *referred], lost or also_lost
    except SourceError as error:
        return not_readable(path, error)
    except Exception as error:
        return _broken(path, f"the model could not follow this file: {described(error)}", seconds)
    with finding_nodes(find, read):
        facts = Facts(text, happened, registry, selection, project, seconds)
    judged = own and UNUSED_SUPPRESSION.code in selection.enabled
    try:
        if not (facts.lost or wanted or lost or judged):
            held = facts.held_back(suppressible=has_directive(text))
            if held is not None:
                return FileReport(path, held_back=held, cut=(facts.cut, 0), depends=project.depends, seconds=seconds)
            told = None if has_directive(text) else _told(path, text, nodes, registry, selection, facts, seconds)
            if told is not None:
                return told
        with _timed(seconds, PARSE):
            questions = facts.located(nodes)
            source = nodes.source()
        if source is None:
            Source.parse(path, text)
            raise LookupError("its parts cannot be parsed by themselves")
        suppressions = Suppressions(source, registry, noqa=noqa)
        check = _Check(source, selection, suppressions, facts, seconds)
        check.failures += [lost] if lost is not None else []
        return check.report(questions, wanted)
    except SourceError as error:
        return not_readable(path, error)
    except Exception as error:
        return _broken(path, f"could not be parsed: {described(error)}", seconds)
    finally:
        nodes.release()


def _told(
    path: str,
    text: str,
    nodes: Nodes,
    registry: Registry,
    selection: Selection,
    facts: Facts,
    seconds: dict[str, float],
) -> FileReport | None:
    """The findings of a file in which no comment silences any, without a tree; None if one of them wants it."""
    source = Unparsed(path, text, nodes)
    check = _Check(source, selection, Suppressions(source, registry), facts, dict(seconds))
    try:
        with finding_nodes(nodes.find, nodes.code):
            report = check.report(facts.questions, ())
    except NodeWantedError:
        return None
    return None if report.failed else report


def _referred(
    path: str, program: ir.Program, registry: Registry, selection: Selection, project: ProjectIndex
) -> tuple[Callable[[], Target], list[events.Event], Finding | None]:
    """What `api.referred` says, and what went wrong there."""
    try:
        return (*api.referred(path, program, registry, selection, project), None)
    except Exception as error:
        return Target, [], _lost_names(path, error)


def _with_methods(
    path: str, happened: list[events.Event], meant: Callable[[], Target], program: ir.Program, project: ProjectIndex
) -> tuple[list[events.Event], Finding | None]:
    """What `api`, `grad_modes` and `platforms` add, and what went wrong there: the other findings stand."""
    try:
        told = api.with_methods(happened, meant, program.at)
        return with_platforms(with_grad_modes(told, program.at, program.text, project), project), None
    except Exception as error:
        return [each for each in happened if not isinstance(each, TensorMethod)], _lost_names(path, error)


def _lost_names(path: str, error: Exception) -> Finding:
    what = "the names that this file refers to could not be followed; the other findings stand"
    return problem(path, INTERNAL_ERROR, f"{what}: {described(error)}")


class _Check:
    """The findings of one file, while they are collected."""

    def __init__(
        self,
        source: Source,
        selection: Selection,
        suppressions: Suppressions,
        facts: Facts,
        seconds: dict[str, float],
    ) -> None:
        self.source = source
        self.selection = selection
        self.suppressions = suppressions
        self.facts = facts
        self.project = facts.project
        self.seconds = seconds
        self.found: dict[tuple[str, Span], Finding] = {}
        self.failures: list[Finding] = []
        self.answers: list[tuple[Question, list[Diagnostic]]] = []
        self.broken: set[str] = set()
        self.files: dict[str, File] = {}
        self.suppressed: set[tuple[str, Span]] = set()
        self.groups: dict[tuple[str, Span], Diagnostic] = {}

    @cached_property
    def file(self) -> File:
        """What the rules are told of the file, but for their settings."""
        return File(self.source, Settings(Target(), {}))

    def report(self, questions: Sequence[Question], visitors: Sequence[Rule]) -> FileReport:
        self.failures += map(self._lost, self.facts.lost)
        if isinstance(self.source, Unparsed):
            for question in questions:
                self._ask(question)
        elif questions or visitors:
            from torchlint.lint.pipeline import Pipeline

            Pipeline(self.source, self._ask, questions, visitors).run()
        # what is said of one place counts in the order in which it happened, not in which it was visited
        self.answers.sort(key=lambda answer: (answer[0].event is None, answer[0].order))
        for question, diagnostics in self.answers:
            try:
                with _timed(self.seconds, PLACES):
                    self._take(question, diagnostics)
            except Exception as error:
                self._failed(question, error)
        shown = [item for item in self.found.values() if self._shown(item)]
        held_back = len(self.found) - len(shown)
        shown = self._grouped(shown)
        if UNUSED_SUPPRESSION.code in self.selection.enabled and not self.broken:
            shown += self.suppressions.unused(self.selection.enabled)
        findings = sorted((*shown, *self.failures), key=lambda item: (item.span, item.code))
        return FileReport(
            self.source.path,
            tuple(findings),
            held_back,
            len(self.suppressed),
            bool(self.failures),
            cut=(self.facts.cut, 0),
            depends=self.project.depends,
            seconds=self.seconds,
        )

    def _ask(self, question: Question) -> None:
        rule, event = question.rule, question.event
        if rule.code in self.broken:
            return
        try:
            with _timed(self.seconds, rule.code):
                if event is None:
                    found = rule.visit(question.node, self._file_for(rule))
                elif rule.given is File:
                    found = rule.check(event, self._file_for(rule))
                else:
                    found = self.facts.check(rule, event)
                if diagnostics := [made(each) for each in found]:
                    self.answers.append((question, diagnostics))
        except (Exception, SystemExit) as error:  # no rule ends the run
            self._failed(question, error)

    def _file_for(self, rule: Rule) -> File:
        known = self.files.get(rule.code)
        if known is None:
            known = self.files[rule.code] = self.file.with_settings(self.facts.settings(rule))
        return known

    def _failed(self, question: Question, error: BaseException) -> None:
        self.broken.add(question.rule.code)
        self.failures.append(self._failure(question, error))

    def _take(self, question: Question, diagnostics: Sequence[Diagnostic]) -> None:
        rule, event = question.rule, question.event
        for diagnostic in diagnostics:
            finding = self._finding(rule, event, diagnostic)
            refused = (diagnostic.level or rule.level) is Level.ERROR and not without_reflection(finding.conditions)
            if refused and self._generated:
                continue  # what runs is the generated file, which has it as well, or it is a generator's mark
            key = (finding.code, finding.span)
            known = self.found.get(key)
            if known is not None:
                if finding.level.rank < known.level.rank:
                    self.found[key] = finding
            elif self.suppressions and self.suppressions.covers(rule.code, self._lines(diagnostic.node, finding.span)):
                self.suppressed.add(key)
            else:
                self.found[key] = finding
            if diagnostic.group is not None:
                self.groups[key] = diagnostic

    def _grouped(self, findings: Sequence[Finding]) -> list[Finding]:
        """
        The weightiest finding of each group (`Diagnostic.group`), the first of several, with the fixes of all, and what
        the others are.
        """
        alone: list[Finding] = []
        groups: dict[tuple[str, Level, Hashable], list[Finding]] = {}
        for finding in findings:
            group = self.groups.get((finding.code, finding.span))
            if group is None:
                alone.append(finding)
            else:
                groups.setdefault((finding.code, finding.level, group.group), []).append(finding)
        for members in groups.values():
            members.sort(key=lambda item: item.span)
            said = {id(each): self.groups[each.code, each.span] for each in members}
            first = max(members, key=lambda item: said[id(item)].weight)
            others = [each for each in members if each is not first]
            if others:
                many = counted(said[id(first)], [said[id(each)] for each in others])
                lines = others[0].span.line, others[-1].span.line
                place = f"line {lines[0]}" if lines[0] == lines[1] else f"lines {lines[0]} to {lines[1]}"
                first = replace(
                    first,
                    message=f"{first.message} (and {many}, {place})",
                    fix=together(members),
                    others=tuple(place_of(each) for each in others),
                )
            alone.append(first)
        return alone

    def _shown(self, finding: Finding) -> bool:
        return self.selection.shows(finding.code, finding.level)

    def _finding(self, rule: Rule, event: events.Event | None, diagnostic: Diagnostic) -> Finding:
        assert not callable(diagnostic.message)  # see `made`
        assert not callable(diagnostic.claims)
        level = diagnostic.level or rule.level
        conditions = event.conditions if event is not None else ()
        if level is not Level.ERROR:
            conditions = without_reflection(conditions)
        elif conditions := conditions or (unseen_class(event.unseen_class) if event is not None else ()):
            level = Level.WARNING  # an error has no open link
        if level is Level.SMELL and self._unused.is_at(self._span(diagnostic.node).line):
            level = Level.STRICT  # what a test builds is small, and thrown away; what nobody calls costs nothing
        if self._is_of_torch:
            level = Level.STRICT
        return Finding(
            path=self.source.path,
            span=self._span(diagnostic.node),
            code=rule.code,
            name=rule.name,
            level=level,
            message=naming_reflection(diagnostic.message, conditions),
            trace=self._proof(diagnostic),
            fix=self._fix(rule, diagnostic),
            conditions=conditions,
            claims=diagnostic.claims,
        )

    @cached_property
    def _generated(self) -> bool:
        """Whether a file of the project was generated from this one: that is what runs, and is linted itself."""
        return bool(generated_from(self.source.path, self.project))

    @cached_property
    def _is_of_torch(self) -> bool:
        """Whether the file is of a copy of torch, which is torch's to change, or imports what imitates torch."""
        return is_of_torch(self.project) or is_imitated(self.project)

    @cached_property
    def _unused(self) -> Unused:
        return Unused(self.source.path, self.source.text, self.project)

    def _proof(self, diagnostic: Diagnostic) -> tuple[TraceLine, ...]:
        """The trace with places; none where its only step is the place of the finding itself."""
        lines = tuple(self._trace_line(step) for step in diagnostic.trace)
        if len(lines) == 1 and lines[0].path == self.source.path and lines[0].line == self._span(diagnostic.node).line:
            return ()
        return lines

    def _trace_line(self, step: Step) -> TraceLine:
        unparsed = isinstance(self.source, Unparsed)  # then a place is one of this file
        elsewhere = None if unparsed else self.project.place(step.node)
        path, span = elsewhere or (self.source.path, self._span(step.node))
        if elsewhere is not None:
            path = shown_beside(path, self.source.path)
        return TraceLine(path, span.line, span.column, step.message, span.end_line, span.end_column)

    def _fix(self, rule: Rule, diagnostic: Diagnostic) -> FindingFix | None:
        """The fix with places; the finding stands without one that cannot be written."""
        assert not callable(diagnostic.fix)  # see `made`
        try:
            return edits.resolve(self.source, diagnostic.fix) if diagnostic.fix else None
        except edits.EditError as error:
            message = f"the fix of {rule.code} ({rule.name}) is left out: {error}"
            self.failures.append(problem(self.source.path, INTERNAL_ERROR, message, self._span(diagnostic.node)))
            return None

    def _span(self, node: cst.CSTNode) -> Span:
        try:
            return self.source.span(node)
        except KeyError:
            raise LookupError(f"it points at a {type(node).__name__} that is not in this file") from None

    def _lines(self, node: cst.CSTNode, span: Span) -> set[int]:
        """The lines on which a comment silences a finding at a node (see `torchlint.lint.suppressions`)."""
        parents = self.source.parents
        statement: cst.CSTNode | None = node
        while statement is not None and not isinstance(statement, (cst.SimpleStatementLine, cst.BaseCompoundStatement)):
            statement = parents.get(statement)
        lines = {span.line, span.end_line}
        if isinstance(statement, cst.BaseCompoundStatement):
            body = statement.body
            header = body.header if isinstance(body, cst.IndentedBlock) else body
            lines = {span.line, self.source.span(statement).line, self.source.span(header).line}
        elif statement is not None:
            whole = self.source.span(statement)
            lines |= {whole.line, whole.end_line}
        return lines

    def _lost(self, event: events.EntryLost) -> Finding:
        message = f"the model could not follow {event.name}: {event.error}; the other findings stand"
        return problem(self.source.path, INTERNAL_ERROR, message, self._span(event.node))

    def _failure(self, question: Question, error: BaseException) -> Finding:
        rule = question.rule
        try:
            span = self._span(question.node)
        except LookupError:
            span = Span(1, 1, 1, 1)
        message = f"the rule {rule.code} ({rule.name}) failed: {described(error)}; the other findings stand"
        return problem(self.source.path, INTERNAL_ERROR, message, span)


def not_readable(path: str, error: SourceError) -> FileReport:
    """The report of a file that is not what it should be."""
    place = Span(error.line, error.column, error.line, error.column)
    return FileReport(path, (problem(path, INVALID_SYNTAX, error.message, place),), followed=False)


def _broken(path: str, message: str, seconds: Mapping[str, float] | None = None) -> FileReport:
    found = (problem(path, INTERNAL_ERROR, message),)
    return FileReport(path, found, failed=True, followed=False, seconds=seconds or {})


def internal_error(path: str, message: str) -> FileReport:
    """The report of a file that was lost for a reason outside of it: unreadable, or its process died."""
    return _broken(path, message)


@contextmanager
def _timed(seconds: dict[str, float], key: str) -> Iterator[None]:
    start = perf_counter()
    try:
        yield
    finally:
        seconds[key] = seconds.get(key, 0.0) + perf_counter() - start


@contextmanager
def _without_gc() -> Iterator[None]:
    """
    Trees are live and have no cycles: the collector would walk over them again and again and free nothing. What files
    leave behind is collected once, without what was there before them: after each file where the collector is somebody
    else's, and where it is off, as in our own processes, when it has become much.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled or gc.get_count()[0] >= _MUCH:
            gc.collect(0)
        if enabled:
            gc.enable()


_Result = TypeVar("_Result")
_STACK = 256 * 1024 * 1024
_RECURSION = 20_000
_MUCH = 4_000_000
"""
Objects, of a hundred bytes or so, with those that are kept (modules, tables, programs of other files: up to a million).
A file leaves twenty that only the collector frees; to look through a million takes as long as to lint thirty files.
"""


def _with_deep_stack(function: Callable[[], _Result]) -> _Result:
    """
    Run a function where deep recursion is no crash: libcst's parser recurses in native code (3,000 nested brackets
    overflow the usual eight megabytes), its tree is walked recursively. The memory is only reserved, not used.
    """
    results: list[_Result] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            results.append(with_room(function))
        except BaseException as error:
            errors.append(error)

    limit = sys.getrecursionlimit()
    former = threading.stack_size(_STACK)
    try:
        thread = threading.Thread(target=run, daemon=True)
        sys.setrecursionlimit(max(limit, _RECURSION))
        thread.start()
        thread.join()
    except RuntimeError:  # no room for such a stack: the usual one must do
        return function()
    finally:
        threading.stack_size(former)
        sys.setrecursionlimit(limit)
    if errors:
        raise errors[0]
    return results[0]
