"""Whether other files of a package call a function with grad mode off alone, as their texts say."""

from __future__ import annotations

import textwrap

import pytest

from torchlint.model.scheduling.modes_elsewhere import is_called_with_grad_mode_off


def called(*texts: str) -> bool:
    """Of a function `predict`, in files of one package."""
    files = [(f"package/file{number}.py", textwrap.dedent(text)) for number, text in enumerate(texts)]
    return is_called_with_grad_mode_off("predict", lambda word: iter([each for each in files if word in each[1]]))


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(
            """
            def run(net, x):
                with torch.no_grad():
                    y = prepare(
                        net.predict(x),
                    )
            """,
            id="a block, and a statement of several lines",
        ),
        pytest.param(
            """
            @torch.no_grad()
            @other
            def run(net, x):
                return net.predict(x)
            """,
            id="a decorator",
        ),
        pytest.param(
            "@torch.inference_mode()\nasync def run(net):\n\n    return net.predict\n", id="an async function"
        ),
    ],
)
def test_with_grad_mode_off(text: str) -> None:
    assert called(text)
    assert called(text, "def predict(x):\n    return x\n")
    assert not called(text, "predict(x)\n")


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("def predict(self, x):\n    return x\n", id="another of that name"),
        pytest.param("def predict_all(self, x):\n    return x\n", id="a longer name"),
        pytest.param("# see predict\nx = 'as `predict` says'\n", id="a comment and a text"),
        pytest.param("def predict(self, x):\n    return super().predict(x)\n", id="what it hands on itself"),
        pytest.param("with torch.no_grad():\n    pass\nnet.predict(x)\n", id="after a block"),
        pytest.param("@predict\ndef other(): pass\n", id="a decorator that it is itself"),
        pytest.param(
            "with torch.no_grad():\n    net.predict(x)\nf = getattr(net, 'predict')\n", id="by its name alone"
        ),
        pytest.param("with torch.inference_mode(flag):\n    net.predict(x)\n", id="a mode that is not known"),
        pytest.param("with torch.no_grad():\n    predict(x)\nelse\n", id="no Python"),
    ],
)
def test_not_with_grad_mode_off(text: str) -> None:
    assert not called(text)


def test_a_script_says_nothing() -> None:
    text = "with torch.no_grad():\n    net.predict(x)\n"
    assert not is_called_with_grad_mode_off("predict", lambda word: iter([("script.py", text)]))
