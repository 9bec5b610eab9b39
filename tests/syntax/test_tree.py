"""Bytes to text, and text to tree: every way in which a file may be none."""

from __future__ import annotations

import codecs

import libcst as cst
import pytest

from torchlint.syntax.tree import Source, SourceError, Span, decode, walk


@pytest.mark.parametrize(
    ("data", "text", "encoding", "bom"),
    [
        (b"x = 1\n", "x = 1\n", "utf-8", False),
        (b"", "", "utf-8", False),
        ("ä = '日本'\r\n".encode(), "ä = '日本'\r\n", "utf-8", False),
        (codecs.BOM_UTF8 + b"x = 1\n", "x = 1\n", "utf-8", True),
        (b"# -*- coding: latin-1 -*-\ns = '\xe4'\n", "# -*- coding: latin-1 -*-\ns = 'ä'\n", "iso8859-1", False),
        (b"#!/usr/bin/python\n# vim: set fileencoding=cp1252 :\ns = '\x80'\n", None, "cp1252", False),
        (b"x = 1\n# coding: latin-1\n", "x = 1\n# coding: latin-1\n", "utf-8", False),
    ],
)
def test_decode_and_back(data: bytes, text: str | None, encoding: str, bom: bool) -> None:
    decoded = decode(data)
    assert (decoded.encoding, decoded.bom) == (encoding, bom)
    assert text is None or decoded.text == text
    assert decoded.encode(decoded.text) == data


@pytest.mark.parametrize(
    ("data", "message", "line", "column"),
    [
        (b"x = 1\ny = '\xff'\n", "not utf-8: cannot decode byte 0xff", 2, 6),
        ("é = 1; y = '".encode() + b"\xe4'\n", "not utf-8: cannot decode byte 0xe4", 1, 13),
        (b"a\r\nb\rc \xc3\n", "not utf-8: cannot decode byte 0xc3", 3, 3),
        (b"# coding: klingon\n", "unknown encoding `klingon`", 1, 1),
        (b"\n# coding: rot13\n", "unknown encoding `rot13`", 2, 1),
        (codecs.BOM_UTF8 + b"# coding: latin-1\n", "the file has a UTF-8 byte order mark but declares", 1, 1),
    ],
)
def test_what_cannot_be_decoded_says_where(data: bytes, message: str, line: int, column: int) -> None:
    with pytest.raises(SourceError) as caught:
        decode(data)
    assert caught.value.message.startswith(message)
    assert (caught.value.line, caught.value.column) == (line, column)


@pytest.mark.parametrize(
    ("text", "message", "line", "column"),
    [
        ("x = 1\ndef f(:\n  pass\n", "invalid syntax", 2, 7),
        ("x = (1,\n", "'(' was never closed", 1, 5),
        ("x = 1\n\x00y\n", "source code cannot contain null bytes", 2, 1),
        ("def f():\nreturn 1\n", "expected an indented block after function definition on line 1", 2, 1),
        ("if x:\n" * 1 + "".join("  " * depth + "if x:\n" for depth in range(1, 300)), None, None, None),
    ],
)
def test_syntax_errors_say_what_and_where(text: str, message: str | None, line: int | None, column: int | None) -> None:
    with pytest.raises(SourceError) as caught:
        Source.parse("x.py", text)
    assert message is None or caught.value.message == message
    assert line is None or (caught.value.line, caught.value.column) == (line, column)


def test_spans_count_characters_and_every_kind_of_newline() -> None:
    source = Source.parse("x.py", "a = 1\r\nπ = 'ü𝛁'; (b)\rc\n")
    names = [node for node in walk(source.module) if isinstance(node, cst.Name | cst.SimpleString)]
    assert [source.span(node) for node in names] == [
        Span(1, 1, 1, 2),
        Span(2, 1, 2, 2),
        Span(2, 5, 2, 9),
        Span(2, 12, 2, 13),
        Span(3, 1, 3, 2),
    ]
    assert source.lines == ["a = 1", "π = 'ü𝛁'; (b)", "c", ""]


def test_parents_lead_to_the_module() -> None:
    source = Source.parse("x.py", "def f():\n    return g(1)\n")
    node: cst.CSTNode = next(node for node in walk(source.module) if isinstance(node, cst.Integer))
    chain = []
    while node in source.parents:
        node = source.parents[node]
        chain.append(type(node).__name__)
    assert chain == ["Arg", "Call", "Return", "SimpleStatementLine", "IndentedBlock", "FunctionDef", "Module"]
