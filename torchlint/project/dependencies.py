"""
Whether what a project requires beside torch may ask for another torch than the project itself does.

By tables of packages of which that is known: what is in neither of them may. Reads no file.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from torchlint.project.companions import NAMES
from torchlint.target import Release

_WITHOUT_TORCH = frozenset({
    "absl-py", "accessible-pygments", "aiofiles", "aiohttp", "albumentations", "altair", "anndata", "anyascii",
    "anyio", "anytree", "appdirs", "arviz", "ase", "astropy", "attrs", "av", "beartype", "beautifulsoup4",
    "biopython", "black", "blosc", "bokeh", "boto3", "botocore", "bs4", "cachetools", "catboost", "certifi", "cffi",
    "chardet", "charset-normalizer", "click", "cloudpickle", "cma", "colorama", "coloredlogs", "colorlog",
    "coqpit-config", "cryptography", "cvxpy", "cycler", "cython", "cytoolz", "dash", "dask", "datasets",
    "decorator", "dill", "distributed", "docker", "docopt", "docstring-parser", "duckdb", "easydict", "einops",
    "einx", "evaluate", "faiss-cpu", "faiss-gpu", "fastapi", "fastcore", "fastdownload", "fastprogress",
    "fasttransform", "ffmpeg-python", "filelock", "fire", "flask", "flask-cors", "flatbuffers", "fonttools",
    "fsspec", "ftfy", "future", "gdown", "gensim", "geopandas", "gitpython", "google-api-python-client", "gputil",
    "gradio", "graphviz", "grpcio", "grpcio-tools", "gym", "gymnasium", "h11", "h5py", "hf-transfer", "hf-xet",
    "httpcore2", "httptools", "httpx", "httpx2", "huggingface-hub", "hydra-core", "hypothesis", "idna", "imageio",
    "imageio-ffmpeg", "imbalanced-learn", "importlib-metadata", "importlib-resources", "inflect", "ipdb",
    "ipykernel", "ipython", "ipywidgets", "itsdangerous", "jaxtyping", "jieba", "jinja2", "joblib", "json5",
    "jsonargparse", "jsonlines", "jsonschema", "jsonschema-specifications", "jupyter", "keras", "kiwisolver",
    "langdetect", "librosa", "lightgbm", "lime", "llvmlite", "lmdb", "loguru", "lxml", "lz4", "markdown",
    "markdown-it-py", "markupsafe", "matplotlib", "mdurl", "mlflow", "mlx", "monotonic-alignment-search",
    "more-itertools", "mpmath", "msgpack", "msgspec", "multipledispatch", "munch", "mypy", "narwhals", "natsort",
    "netcdf4", "networkx", "nibabel", "ninja", "nltk", "num2words", "numba", "numpy", "numpydoc", "oauthlib",
    "omegaconf", "onnx", "onnxruntime", "onnxruntime-gpu", "openai", "opencv-contrib-python", "opencv-python",
    "opencv-python-headless", "openpyxl", "opt-einsum", "optuna", "orjson", "overrides", "packaging", "pandas",
    "patsy", "piexif", "pillow", "pip", "pkgconfig", "platformdirs", "plotly", "pluggy", "plum-dispatch", "polars",
    "pooch", "portalocker", "pot", "pre-commit", "prettytable", "prompt-toolkit", "protobuf", "psutil",
    "py-cpuinfo", "pyaml", "pyarrow", "pybind11", "pyclipper", "pycocotools", "pydantic", "pydantic-settings",
    "pydeck", "pydot", "pydub", "pygame", "pygments", "pyparsing", "pypdfium2", "pysbd", "pytest", "pytest-asyncio",
    "pytest-cov", "python-dateutil", "python-dotenv", "python-fasthtml", "python-levenshtein", "python-louvain",
    "python-multipart", "pytz", "pywavelets", "pyyaml", "pyzmq", "rapidfuzz", "rasterio", "ray", "rdkit",
    "referencing", "regex", "requests", "rich", "ripser", "rpds-py", "ruff", "sacrebleu", "sacremoses",
    "safetensors", "scanpy", "scikit-image", "scikit-learn", "scikit-optimize", "scipy", "seaborn", "semver",
    "sentencepiece", "seqeval", "setuptools", "shap", "shapely", "simpleitk", "six", "sklearn", "smart-open",
    "sortedcontainers", "soundfile", "soupsieve", "soxr", "spacy", "sphinx", "sqlalchemy", "starlette",
    "statsmodels", "streamlit", "sympy", "tabulate", "tenacity", "tensorboard", "tensorboardx", "tensorflow",
    "termcolor", "texttable", "threadpoolctl", "tifffile", "tiktoken", "tokenizers", "toml", "tomli", "tomlkit",
    "toolz", "torchinfo", "torchsummary", "tornado", "tqdm", "transformers", "triton", "truststore", "typeguard",
    "typer", "types-pyyaml", "typing", "typing-extensions", "tyro", "tzdata", "ujson", "umap-learn", "unidecode",
    "urllib3", "uvicorn", "uvloop", "validators", "wandb", "watchdog", "watchfiles", "websockets", "werkzeug",
    "wheel", "xarray", "xgboost", "xlrd", "yacs", "zarr", "zstandard",
})  # fmt: skip
"""Packages that ask for no torch unless told to by an extra, nor does what they ask for themselves."""
_AT_MOST: dict[str, Release] = {
    "accelerate": (2, 0), "diffusers": (0, 4), "peft": (1, 13), "pytorch-metric-learning": (1, 6),
    "sentence-transformers": (2, 2), "timm": (1, 7), "torch-geometric": (0, 4), "torchdiffeq": (1, 5),
    "torchmetrics": (2, 0), "trl": (2, 0),
}  # fmt: skip
"""The highest release that any version of a package begins with, itself or by what it asks for, as of their wheels."""
_EARLIER: dict[str, tuple[tuple[int, int], Release]] = {"accelerate": ((1, 2), (1, 10))}
"""A version up to which none begins with a later release than that."""
_ANY: Release = (99, 0)
_UP_TO = re.compile(r"(?:<=?|==|~=)\s*(\d+)\.(\d+)")
_NAME = re.compile(r"\s*([A-Za-z0-9][\w.-]*)(\[[^\]]*\])?\s*\(?([^;)]*)")


def _others(required: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Of requirements that are not of torch, nor known to ask for none: the package, and its specifier."""
    for each in required:
        found = _NAME.match(each)
        if found is None:
            continue
        name = re.sub(r"[-_.]+", "-", found[1]).lower()
        known = name in ("torch", "pytorch", "python", *NAMES) or name.startswith(("types-", "nvidia-", "pytest-"))
        if not known and (name not in _WITHOUT_TORCH or (found[2] and "torch" in found[2])):
            yield name, found[3].strip()


def may_raise(required: Iterable[str], oldest: Release) -> str:
    """The first package that may ask for a later torch than that; "" if all are known to ask for none."""
    return next((name for name, bound in _others(required) if _most(name, bound) > oldest), "")


def _most(name: str, bound: str) -> Release:
    """The highest release that an allowed version of a package may begin with."""
    earlier, up_to = _EARLIER.get(name), _UP_TO.search(bound)
    if earlier is not None and up_to is not None and (int(up_to[1]), int(up_to[2])) <= earlier[0]:
        return earlier[1]
    return _AT_MOST.get(name, _ANY)


def may_hold(required: Iterable[str]) -> str:
    """
    The first package, with its bound, of which only old versions are allowed, and which may refuse a new torch; "" if
    there is none. Who takes the newest version of everything gets a new torch with it.
    """
    bounded = (f"{name}{bound}" for name, bound in _others(required) if re.search(r"==|<|~=", bound))
    return next((each for each in bounded if not each.startswith(tuple(_AT_MOST))), "")
