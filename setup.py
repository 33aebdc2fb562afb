"""Builds merels: three packages and one compiled extension.

MERELS_NATIVE=1 compiles for this machine's own processor: faster, but the result may not run on
another. MERELS_DEBUG=1 compiles with bounds checks and assertions.
"""

import os
import sys
from pathlib import Path

from Cython.Build import cythonize
from setuptools import Extension, setup

DEBUG = os.environ.get("MERELS_DEBUG") == "1"
NATIVE = os.environ.get("MERELS_NATIVE") == "1"
MSVC = sys.platform == "win32"

compile_args = ["/O2"] if MSVC else ["-O1" if DEBUG else "-O3", "-g0", "-fno-strict-aliasing"]
if NATIVE and not MSVC:
    compile_args.append("-march=native")

core = Extension(
    "merels.engine.core",
    sources=["engine/core.pyx"],
    depends=[path.as_posix() for path in sorted(Path("engine").rglob("*.pxi"))],
    extra_compile_args=compile_args,
    define_macros=[] if DEBUG else [("CYTHON_WITHOUT_ASSERTIONS", "1")],
)

setup(
    packages=[
        "merels.engine",
        "merels.engine.tables",
        "merels.protocol",
        "merels.protocol.board",
        "merels.protocol.check",
        "merels.protocol.formats",
        "merels.tournament",
    ],
    package_dir={
        "merels.engine": "engine",
        "merels.engine.tables": "engine/tables",
        "merels.protocol": "protocol",
        "merels.protocol.board": "protocol/board",
        "merels.protocol.check": "protocol/check",
        "merels.protocol.formats": "protocol/formats",
        "merels.tournament": "tournament",
    },
    package_data={
        "merels.engine": ["*.pyx", "*.pxi", "*.pyi", "*.bin", "*.md", "py.typed"],
        "merels.engine.tables": ["*.pxi", "*.md"],
        "merels.protocol": ["py.typed"],
        "merels.protocol.board": ["page/*"],
        "merels.tournament": ["py.typed", "*.css", "*.js", "books/*.pos"],
    },
    exclude_package_data={"merels.engine": ["*.c"]},
    ext_modules=cythonize(
        [core],
        compiler_directives={
            "language_level": 3,
            "boundscheck": DEBUG,
            "wraparound": False,
            "cdivision": True,
            "initializedcheck": DEBUG,
            "embedsignature": True,
        },
    ),
)
