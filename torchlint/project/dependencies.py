"""
Whether what a project requires beside torch may ask for another torch than the project itself does.

By tables of packages of which that is known, and by names that say torch. Of what is in none of them nothing is known:
it may, and is told apart, as most of it has nothing to do with torch. Reads no file.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from torchlint.project.companions import NAMES
from torchlint.target import Release

_WITHOUT_TORCH = frozenset({
    "absl-py", "accessible-pygments", "addict", "adjusttext", "adlfs", "aiofiles", "aiohttp", "albumentations",
    "ale-py", "alembic", "alive-progress", "altair", "anndata", "annotated-types", "annoy", "anthropic", "anyascii",
    "anyio", "anytree", "appdirs", "arrow", "art", "arviz", "ase", "astropy", "astroquery", "asttokens", "astunparse",
    "atari-py", "attrdict", "attrs", "audioread", "autopep8", "av", "awscli", "azure-storage-blob", "backoff",
    "bandit", "bcrypt", "beartype", "beautifulsoup4", "bidict", "biopython", "biotite", "black", "blake3", "blosc",
    "bokeh", "boto3", "botocore", "bottleneck", "box2d-kengz", "box2d-py", "bqplot", "brokenaxes", "brotli",
    "bs4", "build", "cachecontrol", "cachetools", "cachier", "cartopy", "casadi", "catboost", "cattrs",
    "celery", "cerberus", "certifi", "cffi", "cfgrib", "cftime", "chardet", "charset-normalizer", "chess", "chex",
    "cibuildwheel", "clarabel", "class-registry", "click", "click-default-group", "cloudpickle", "cma", "cmake",
    "cmasher", "cmocean", "codecov", "cohere", "colorama", "colorcet", "coloredlogs", "colorlog", "comet-ml",
    "configargparse", "configobj", "confuse", "contextily", "contractions", "control", "coqpit-config", "corner",
    "coverage", "coveralls", "crcmod", "cryptography", "cssselect", "cupy", "cupy-cuda11x", "cupy-cuda12x", "cvxopt",
    "cvxpy", "cycler", "cython", "cytoolz", "cyvcf2", "dacite", "dash", "dask", "dask-jobqueue", "dataclasses",
    "dataclasses-json", "datasets", "datashader", "datasketch", "ddt", "decorator", "deepdiff", "deprecated",
    "deprecation", "dicom2nifti", "dictdiffer", "dill", "discord-py", "diskcache", "distributed",
    "dm-control", "dm-env", "dm-haiku", "dm-tree", "docker", "docopt", "docstring-parser", "duckdb", "dynaconf",
    "dynesty", "easydict", "eccodes", "ecos", "editdistance", "einops", "einx", "elasticsearch", "emcee", "emoji",
    "enlighten", "equinox", "evaluate", "executing", "exifread", "fabric", "faiss", "faiss-cpu", "faiss-gpu", "faker",
    "fastapi", "fastcore", "fastdownload", "fastparquet", "fastprogress", "fasttext", "fasttransform", "feedparser",
    "ffmpeg-python", "filelock", "filterpy", "finufft", "fiona", "fire", "flake8", "flask", "flask-cors",
    "flatbuffers", "flax", "flexcache", "flexparser", "flit", "flit-core", "folium", "fonttools", "freezegun",
    "frozendict", "frozenlist", "fsspec", "ftfy", "fugashi", "func-timeout", "furo", "future", "g2p-en", "gcsfs",
    "gdown", "gensim", "geopandas", "gitpython", "google-api-core", "google-api-python-client", "google-auth",
    "google-cloud-storage", "google-generativeai", "gpustat", "gputil", "gradio", "graphviz", "groq", "grpcio",
    "grpcio-tools", "gurobipy", "gym", "gym-minigrid", "gymnasium", "h11", "h5netcdf", "h5py", "halo", "hatchling",
    "hdbscan", "healpy", "hf-transfer", "hf-xet", "highdicom", "highspy", "hmmlearn", "hnswlib", "holoviews",
    "html5lib", "httpcore2", "httpretty", "httptools", "httpx", "httpx2", "huggingface-hub", "humanfriendly",
    "humanize", "hvplot", "hydra-colorlog", "hydra-core", "hydra-joblib-launcher", "hydra-submitit-launcher",
    "hypothesis", "icecream", "idna", "igraph", "imageio", "imageio-ffmpeg", "imbalanced-learn", "imgaug", "iminuit",
    "immutables", "importlib-metadata", "importlib-resources", "inflect", "inflection", "invoke", "ipadic", "ipdb",
    "ipykernel", "ipympl", "ipython", "ipywidgets", "isort", "itk", "itsdangerous", "janome", "jax", "jaxlib",
    "jaxlie", "jaxtyping", "jedi", "jellyfish", "jieba", "jinja2", "jiwer", "joblib", "joblib-progress", "json5",
    "jsonargparse", "jsondiff", "jsonlines", "jsonmerge", "jsonpickle", "jsonschema", "jsonschema-specifications",
    "jupyter", "jupyter-client", "jupyter-core", "jupyterlab", "jupyterthemes", "kafka-python", "keras",
    "keras-applications", "keras-preprocessing", "kiwisolver", "konlpy", "langdetect", "langid", "lazy-import",
    "lazy-loader", "leidenalg", "levenshtein", "librosa", "lifelines", "lightgbm", "lightkurve", "lightning-utilities",
    "lime", "line-profiler", "linearmodels", "litellm", "livelossplot", "llvmlite", "lmdb", "lmfit", "locket", "loguru",
    "lxml", "lz4", "mapclassify", "markdown", "markdown-it-py", "markupsafe", "marshmallow", "matplotlib", "mayavi",
    "mdanalysis", "mdtraj", "mdurl", "mecab-python3", "medpy", "memoization", "memory-profiler", "mendeleev",
    "meshio", "meson", "metpy", "mido", "minigrid", "minio", "mir-eval", "mistralai", "mkdocs", "mkdocs-material",
    "mkdocstrings", "ml-collections", "mlflow", "mlx", "mmh3", "mne", "mock", "monotonic-alignment-search", "mordred",
    "more-click", "more-itertools", "moto", "mpi4py", "mpl-scatter-density", "mpmath", "msgpack", "msgspec", "mss",
    "mujoco", "mujoco-py", "multidict", "multipledispatch", "multiprocess", "munch", "mxnet", "mypy",
    "mypy-extensions", "myst-parser", "narwhals", "natsort", "nbconvert", "nbformat", "nbsphinx", "neptune-client",
    "netcdf4", "networkit", "networkx", "newspaper3k", "nibabel", "nilearn", "ninja", "nlopt", "nltk", "nmslib",
    "noisereduce", "nose", "notebook", "nox", "nptyping", "num2words", "numba", "numexpr", "numpy",
    "numpy-quaternion", "numpydoc", "nvidia-ml-py", "nvidia-ml-py3", "oauthlib", "ollama", "omegaconf", "onnx",
    "onnxruntime", "onnxruntime-gpu", "open3d", "openai", "openbabel", "opencv-contrib-python",
    "opencv-contrib-python-headless", "opencv-python", "opencv-python-headless", "openmm", "openpyxl", "opt-einsum",
    "optax", "optuna", "orbax-checkpoint", "ordered-set", "orjson", "ortools", "osqp", "overrides", "packaging",
    "paddlepaddle", "palettable", "pandas", "pandera", "panel", "parameterized", "paramiko", "parso", "partd",
    "passlib", "pathos", "patool", "patsy", "pdfplumber", "peewee", "pendulum", "pesq", "petsc4py", "pettingzoo",
    "pexpect", "phantom-types", "phonemizer", "phonopy", "photutils", "piexif", "pillow", "pingouin", "pint", "pip",
    "pkgconfig", "platformdirs", "playwright", "plotly", "plotnine", "pluggy", "plum-dispatch", "plumbum", "plyfile",
    "pmdarima", "poetry", "poetry-core", "polars", "pooch", "portalocker", "pot", "ppft", "praat-parselmouth", "praw",
    "pre-commit", "pretty-midi", "prettytable", "procgen", "prody", "progressbar", "progressbar2", "prompt-toolkit",
    "prophet", "protobuf", "protobuf3-to-dict", "psutil", "psycopg2", "psycopg2-binary", "ptyprocess", "pubchempy",
    "pulp", "py-cpuinfo", "py-spy", "py3nvml", "py7zr", "pyamg", "pyaml", "pyarrow", "pyasn1", "pyaudio", "pyautogui",
    "pybedtools", "pybigwig", "pybind11", "pybullet", "pyclipper", "pycocoevalcap", "pycocotools", "pycuda",
    "pydantic", "pydantic-settings", "pydeck", "pydicom", "pydot", "pydub", "pyfaidx", "pyfftw", "pyfiglet", "pygal",
    "pygame", "pyglet", "pygments", "pygrib", "pyhocon", "pyjwt", "pykalman", "pylint", "pyloudnorm", "pymatgen",
    "pymongo", "pymupdf", "pymysql", "pynndescent", "pynput", "pynrrd", "pynufft", "pynvml", "pyomo", "pyopencl",
    "pyparsing", "pypdf", "pypdf2", "pypdfium2", "pyperclip", "pypinyin", "pyproj", "pyquaternion", "pyquery",
    "pyrender", "pyro4", "pyrsistent", "pysam", "pysbd", "pyscipopt", "pyserial", "pysnooper", "pyspellchecker",
    "pystoi", "pytest", "pytest-asyncio", "pytest-cov", "python-box", "python-chess", "python-dateutil",
    "python-docx", "python-dotenv", "python-fasthtml", "python-igraph", "python-levenshtein", "python-louvain",
    "python-multipart", "python-pptx", "python-snappy", "python-telegram-bot", "pytransform3d", "pyturbojpeg", "pytz",
    "pytz-deprecation-shim", "pyusb", "pyvi", "pyvista", "pywavelets", "pyworld", "pyyaml", "pyzmq",
    "rank-bm25", "rapidfuzz", "rarfile", "rasterio", "ratelimit", "ray", "rdkit", "readability-lxml",
    "recommonmark", "redis", "referencing", "regex", "reportlab", "requests", "requests-cache", "requests-oauthlib",
    "requests-toolbelt", "resampy", "responses", "retry", "retrying", "rich", "ripser", "rouge", "rouge-score",
    "rpds-py", "rsa", "rtree", "ruamel-yaml", "ruamel-yaml-clib", "ruff", "s3fs", "sacrebleu", "sacred", "sacremoses",
    "safetensors", "scalene", "scanpy", "scienceplots", "scikit-build", "scikit-build-core", "scikit-image",
    "scikit-learn", "scikit-optimize", "scikit-sparse", "scikit-survival", "scikit-video", "scipy", "scrapy", "scs",
    "seaborn", "selenium", "selfies", "semver", "sentencepiece", "seqeval", "setuptools", "setuptools-scm", "sh",
    "shap", "shapely", "simple-parsing", "simpleitk", "simplejpeg", "simplejson", "six", "sklearn", "slycot",
    "smart-open", "sortedcollections", "sortedcontainers", "sounddevice", "soundfile", "soupsieve", "soxr", "spacy",
    "sparse", "spatialmath-python", "specutils", "spglib", "sphinx", "sphinx-autodoc-typehints", "sphinx-rtd-theme",
    "sqlalchemy", "sqlmodel", "squarify", "starlette", "statsmodels", "stopit", "streamlit", "strictyaml", "submitit",
    "sudachipy", "symengine", "sympy", "tables", "tabulate", "tenacity", "tensorboard", "tensorboard-data-server",
    "tensorboard-logger", "tensorboard-plugin-wit", "tensorboardx", "tensorflow", "tensorflow-datasets",
    "tensorflow-gpu", "tensorflow-probability", "termcolor", "textblob", "textstat", "texttable", "tf-keras",
    "tf-slim", "threadpoolctl", "tifffile", "tiktoken", "timeout-decorator", "tokenizers", "toml", "tomli", "tomlkit",
    "toolz", "torchinfo", "torchsummary", "tornado", "tox", "tqdm", "tqdm-joblib", "tqdm-multiprocess", "traitlets",
    "transformers", "transforms3d", "trimesh", "triton", "triton-nightly", "triton-windows", "truststore", "tweepy",
    "twine", "typeguard", "typer", "types-pyyaml", "typeshed-client", "typing", "typing-extensions", "typing-inspect",
    "typing-utils", "tyro", "tzdata", "tzlocal", "ujson", "ultranest", "umap-learn", "uncertainties", "unidecode",
    "unidic-lite", "untangle", "urllib3", "uvicorn", "uvloop", "validators", "varname", "versioneer", "visdom",
    "viztracer", "voluptuous", "vtk", "wandb", "watchdog", "watchfiles", "webrtcvad", "websockets", "werkzeug",
    "wheel", "wordcloud", "wordfreq", "wrapt", "xarray", "xesmf", "xgboost", "xlrd", "xlsxwriter", "xlwt",
    "xmltodict", "xxhash", "yacs", "yamlargparse", "yapf", "yaspin", "zarr", "zeus-mcmc", "zict", "zmq", "zstandard",
    "zstd",
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
_WITH_TORCH = frozenset({
    "allennlp", "apex", "asteroid", "audiocraft", "auto-gptq", "autoawq", "autogluon", "axolotl", "basicsr",
    "bert-score", "bertopic", "bitsandbytes", "brevitas", "captum", "catalyst", "chemprop", "chgnet", "clip",
    "compel", "composer", "controlnet-aux", "coqui-tts", "darts", "deepchem", "deepspeed", "demucs", "detectron2",
    "dgl", "e2cnn", "e3nn", "easyocr", "effdet", "encodec", "escnn", "face-alignment", "facexlib", "fair-esm",
    "fairscale", "fairseq", "fairseq2", "fastai", "flair", "flash-attn", "freia", "geomloss", "geoopt", "gfpgan",
    "grad-cam", "gsplat", "higher", "hqq", "hummingbird-ml", "invisible-watermark", "k-diffusion", "keybert",
    "kornia", "learn2learn", "liger-kernel", "linear-operator", "lpips", "mamba-ssm", "matgl", "megatron-core",
    "mmcls", "mmcv", "mmcv-full", "mmdet", "mmengine", "mmpose", "mmsegmentation", "monai", "mosaicml",
    "nemo-toolkit", "nequip", "nerfacc", "nerfstudio", "neuralforecast", "nflows", "nncf", "nnsight", "nnunetv2",
    "normflows", "norse", "ogb", "openai-clip", "openai-whisper", "opennmt-py", "optimum", "optimum-quanto", "parlai",
    "piqa", "pretrainedmodels", "pyannote-audio", "pyiqa", "pykeops", "pyro-ppl", "python-doctr", "pyvene",
    "realesrgan", "recbole", "rl-games", "sae-lens", "sbi", "schnetpack", "segment-anything", "setfit", "skorch",
    "spandrel", "spconv", "speechbrain", "spikingjelly", "stable-baselines3", "stanza", "super-gradients",
    "tensordict", "textattack", "tianshou", "tortoise-tts", "trainer", "tsai", "tts", "ultralytics", "unbabel-comet",
    "unsloth", "vllm", "whisperx", "xformers", "yolov5", "zuko",
})  # fmt: skip
"""Packages that ask for torch, and do not say so by their names."""
_SAYS_TORCH = re.compile(r"torch|lightning|diffus|transformer")
"""In the names of packages that may be expected to ask for torch."""
AT_LEAST: dict[str, tuple[tuple[tuple[int, int], Release], ...]] = {
    "accelerate": (((1, 3), (2, 0)), ((0, 21), (1, 10))),
}
"""Versions from which on all begin with that release or a later one, the latest first."""
_FROM = re.compile(r"(?:>=?|==|~=)\s*(\d+)\.(\d+)")
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


class Doubt(NamedTuple):
    """
    What may ask for another torch.

    Attributes
    ----------
    expected
        The first package that may, and has to do with torch: that is known, or its name says so; "" if there is none.
    unknown
        The first one of which nothing is known; "" if there is none.
    """

    expected: str = ""
    unknown: str = ""


def may_raise(required: Iterable[str], oldest: Release) -> Doubt:
    """What may ask for a later torch than that."""
    return _doubt((name, name) for name, bound in _others(required) if _most(name, bound) > oldest)


def at_least(required: Iterable[str]) -> tuple[Release, str]:
    """The release with which all begins that may be installed for some requirements, and the one that says so."""
    found: tuple[Release, str] = (0, 0), ""
    for name, bound in _others(required):
        begins = _FROM.search(bound)
        version = (int(begins[1]), int(begins[2])) if begins is not None else (0, 0)
        release = next((of for since, of in AT_LEAST.get(name, ()) if version >= since), (0, 0))
        found = max(found, (release, f"{name}{bound}"))
    return found if found[0] > (0, 0) else ((0, 0), "")


def _doubt(packages: Iterable[tuple[str, str]]) -> Doubt:
    """Of packages, each with how it is shown, what is to be told."""
    expected, unknown = "", ""
    for name, shown in packages:
        if name in _AT_MOST or name in _WITH_TORCH or _SAYS_TORCH.search(name):
            expected = expected or shown
        else:
            unknown = unknown or shown
    return Doubt(expected, unknown)


def _most(name: str, bound: str) -> Release:
    """The highest release that an allowed version of a package may begin with."""
    earlier, up_to = _EARLIER.get(name), _UP_TO.search(bound)
    if earlier is not None and up_to is not None and (int(up_to[1]), int(up_to[2])) <= earlier[0]:
        return earlier[1]
    return _AT_MOST.get(name, _ANY)


def may_hold(required: Iterable[str]) -> Doubt:
    """
    The packages, with their bounds, of which only old versions are allowed, and which may refuse a new torch. Who takes
    the newest version of everything gets a new torch with it.
    """
    bounded = ((name, bound) for name, bound in _others(required) if re.search(r"==|<|~=", bound))
    return _doubt((name, f"{name}{bound}") for name, bound in bounded if name not in _AT_MOST)
