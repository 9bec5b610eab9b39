"""Programs that cannot be run to the finding: the reason is named, never a guess given."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from torchlint.rule import Holds, Observed, Raises, Verdict
from torchlint.verify import verify

Verdicts = Callable[..., list[Verdict]]

TAIL = """
        x = torch.ones(3, requires_grad=True)
        (x * x).backward()  # error: [TLN103]
        """


def reason(found: list[Verdict]) -> str:
    """The evidence of the one verdict, which is inconclusive."""
    (verdict,) = found
    assert verdict.status == "inconclusive", verdict.evidence
    return verdict.evidence


def program(head: str) -> str:
    return f"""
        import torch
        {head}
        {TAIL.strip()}
        """


def test_missing_import(verdicts: Verdicts) -> None:
    evidence = reason(verdicts(program("import no_such_package_anywhere")))
    words = "it shows, but only once the error before it is passed over: ModuleNotFoundError in line 2: No module named"
    assert evidence == f"{words} 'no_such_package_anywhere'"


@pytest.mark.parametrize(
    ("claim", "words"),
    [
        (
            Holds("bound_.requires_grad"),
            "`bound_.requires_grad` raises after it: AttributeError: 'tuple' object has no",
        ),
        (Holds("z > 0", before=True), "`z > 0` raises before it: NameError: name 'z' is not defined"),
        (Holds("y > 0", words="`y` is positive"), "`y > 0` is after it a Tensor, neither true nor false"),
        (Holds("bound_[0] is y and y.shape = (3,)"), "raises after it: SyntaxError"),
    ],
)
def test_a_claim_that_cannot_be_judged(verdicts: Verdicts, claim: Holds, words: str) -> None:
    """That is a fault of the rule's author, who is told what the expression did."""
    text = """
        import torch

        x = torch.ones(3)
        y = x + 1  # error: [TLN999]
        z = 1
        """
    assert words in reason(verdicts(text, claims={"TLN999": (claim,)}))


def test_missing_file(verdicts: Verdicts) -> None:
    assert "No such file or directory: 'weights.pt'" in reason(verdicts(program("torch.load('weights.pt')")))


def test_network(verdicts: Verdicts) -> None:
    head = "import urllib.request; urllib.request.urlopen('http://127.0.0.1:9/')"
    assert "the program wants to use the network" in reason(verdicts(program(head)))


def test_writing_outside(verdicts: Verdicts, tmp_path: Path) -> None:
    target = tmp_path / "precious.txt"
    target.write_text("precious")
    assert "the program wants to write" in reason(verdicts(program(f"open({str(target)!r}, 'w')")))
    assert target.read_text() == "precious"


def test_relative_files_go_to_a_directory_that_is_thrown_away(
    verdicts: Verdicts, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (verdict,) = verdicts(program("open('model.bin', 'wb').write(b'x'); torch.save({}, 'state.pt')"))
    assert verdict.status == "confirmed", verdict.evidence
    assert not list(tmp_path.iterdir())


def test_another_program(verdicts: Verdicts) -> None:
    assert "wants to start another program" in reason(verdicts(program("import subprocess; subprocess.run(['true'])")))


def test_wants_input(verdicts: Verdicts) -> None:
    assert "EOFError" in reason(verdicts(program("input('which gpu? ')")))


def test_wants_arguments(verdicts: Verdicts) -> None:
    head = "import argparse; p = argparse.ArgumentParser(); p.add_argument('data'); p.parse_args()"
    assert "SystemExit(2)" in reason(verdicts(program(head)))


def test_wants_a_gpu(verdicts: Verdicts) -> None:
    evidence = reason(verdicts(program("torch.ones(1).cuda()")))
    assert "it shows, but only once the error before it is passed over: AssertionError in line 2" in evidence


@pytest.mark.parametrize("loop", ["while True: pass", "\n        while True:\n            torch.ones(9).exp()"])
def test_infinite_loop(verdicts: Verdicts, loop: str) -> None:
    started = time.monotonic()
    evidence = reason(verdicts(program(loop), timeout=1.0))
    assert "time limit of 1 s" in evidence
    assert time.monotonic() - started < 8.0


def test_a_program_that_will_not_be_stopped_is_killed(verdicts: Verdicts) -> None:
    head = "import signal, time; signal.signal(signal.SIGALRM, signal.SIG_IGN); time.sleep(60)"
    assert "time limit of 1 s" in reason(verdicts(program(head), timeout=1.0))


def test_memory_hog(verdicts: Verdicts) -> None:
    for head in ("hog = torch.ones(1 << 33)", "hog = bytearray(1 << 34)"):
        assert "memory limit of 512 MB" in reason(verdicts(program(head), memory_mb=512))


def test_crash_of_the_interpreter(verdicts: Verdicts) -> None:
    assert "killed by SIGABRT" in reason(verdicts(program("import os; os.abort()")))
    assert "status 3" in reason(verdicts(program("import os; os._exit(3)")))


def test_a_smell_seen_before_the_time_limit_is_confirmed(verdicts: Verdicts) -> None:
    (verdict,) = verdicts(
        """
        import torch
        x = torch.ones(3, requires_grad=True)
        while True:
            (x * x).sum().backward()
            x.grad.zero_()  # smell: [TLN401]
        """,
        timeout=10.0,  # it ends soon after all places have been seen; how soon depends on what else runs
    )
    assert verdict.status == "confirmed", verdict.evidence


def test_retain_graph_in_an_endless_loop(verdicts: Verdicts) -> None:
    (verdict,) = verdicts(
        """
        import torch
        x = torch.ones(3, requires_grad=True)
        while True:
            (x * x).sum().backward(retain_graph=True)  # smell: [TLN102]
        """,
        fixes={"TLN102": ("retain_graph=True", "", True)},
        timeout=10.0,
    )
    assert verdict.status == "confirmed", verdict.evidence


def test_a_function_that_nobody_calls(verdicts: Verdicts) -> None:
    evidence = reason(
        verdicts(
            """
            import torch
            def train(x):
                (x * x).backward()  # error: [TLN103]
            """
        )
    )
    assert "line 3 was not reached" in evidence
    assert "does not call `train`" in evidence


def test_a_function_that_only_a_longer_run_would_call(verdicts: Verdicts) -> None:
    evidence = reason(
        verdicts(
            """
            import sys
            import torch
            def train(x):
                (x * x).backward()  # error: [TLN103]
            def main():
                if len(sys.argv) > 1:
                    train(torch.ones(3, requires_grad=True))
            if __name__ == "__main__":
                main()
            """
        )
    )
    assert "no call of `train` came about in this run" in evidence
    assert "does not call" not in evidence


def test_a_function_that_is_called_and_takes_another_way(verdicts: Verdicts) -> None:
    evidence = reason(
        verdicts(
            """
            import torch
            def main(long=False):
                x = torch.ones(3, requires_grad=True)
                if long:
                    (x * x).backward()  # error: [TLN103]
            main()
            """
        )
    )
    assert "line 5 was not reached; `main` was called, and took another way" in evidence
    assert "no call" not in evidence


def test_a_function_in_which_the_program_ends_before(verdicts: Verdicts) -> None:
    evidence = reason(
        verdicts(
            """
            import sys
            import torch
            def main():
                "What it is for."
                x = torch.ones(3, requires_grad=True)
                if not sys.argv[1:]:
                    raise ValueError("no data")
                (x * x).backward()  # error: [TLN103]
            main()
            """
        )
    )
    assert "line 8 was not reached: the program raises ValueError in line 7" in evidence
    assert "call" not in evidence


def test_a_method_that_is_not_driven(verdicts: Verdicts) -> None:
    evidence = reason(
        verdicts(
            """
            import torch
            class Net(torch.nn.Linear):
                def penalty(self):
                    self.weight.exp().backward()  # error: [TLN103]
            """
        )
    )
    assert "does not call `Net.penalty`" in evidence


def test_a_text_that_python_cannot_compile(verdicts: Verdicts) -> None:
    evidence = reason(
        verdicts(
            """
            import torch
            x = torch.ones(3, requires_grad=True)
            (x * x).backward()  # error: [TLN103]
            return x
            """
        )
    )
    assert "SyntaxError" in evidence


def test_without_a_claim_nothing_is_run(verdicts: Verdicts, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verify, "shared", None)
    (verdict,) = verdicts("import torch\nx = torch.ones(3) @ 1  # error: [TLN999]")
    assert (verdict.status, verdict.seconds) == ("inconclusive", 0.0)
    assert verdict.evidence == "TLN999 does not say what torch would show: nothing was run"


def test_a_probe_that_is_not_there(verdicts: Verdicts, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verify, "shared", None)
    claims = {"ABC123": (Observed("moon-phase"),)}
    assert "names the probe `moon-phase`" in reason(verdicts("x = 1  # error: [ABC123]", claims=claims))


def test_the_claim_of_a_rule_nobody_has_heard_of(verdicts: Verdicts) -> None:
    claims = {"ABC123": (Raises("size mismatch"),)}
    source = "import torch\nx = torch.ones(3, 2) @ torch.ones(3)  # error: [ABC123]"
    (verdict,) = verdicts(source, claims=claims)
    assert verdict.status == "confirmed"
    assert "size mismatch" in verdict.evidence
    (verdict,) = verdicts(source.replace("3, 2", "2, 3"), claims=claims)
    assert verdict.status == "refuted"
    missing = "import torch\nx = torch.load('weights.pt')  # error: [ABC123]"
    assert "FileNotFoundError" in reason(verdicts(missing, claims=claims))


def test_the_error_of_the_program_with_a_fix_is_not_told_for_that_of_the_program(verdicts: Verdicts) -> None:
    verdict, other = verdicts(
        """
        import torch
        net = torch.nn.Linear(4, 1)
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
        for _ in range(3):
            out = net(torch.ones(2, 4)).exp()
            with torch.no_grad():
                out.mul_(2)  # error: [TLN201]
            out.mean().backward()
            optimizer.step()  # warning: [TLN402]
        """,
        fixes={"TLN201": ("out.mul_(2)", "out = out.mul(2)", False)},
    )
    assert verdict.status == "confirmed", verdict.evidence
    assert "element 0 of tensors does not require grad" not in other.evidence
