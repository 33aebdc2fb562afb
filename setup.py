"""Builds merels: three layers of packages and five compiled extensions.

MERELS_TUNE=1 makes options of the numbers in engine/core/search/parameters.pxi.
MERELS_DEBUG=1 compiles with bounds checks and assertions, MERELS_SANITIZE=address,undefined (or
thread) with the compiler's sanitizers.
"""

import gc
import gzip
import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tarfile
from pathlib import Path

from Cython.Build import cythonize
from setuptools import Extension, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_ext import build_ext
from setuptools.command.build_py import build_py
from setuptools.command.sdist import sdist

# Two builds of one commit are the same bytes: no file's date goes in. This is a zip's earliest.
EPOCH = int(os.environ.setdefault("SOURCE_DATE_EPOCH", "315532800"))

DEBUG = os.environ.get("MERELS_DEBUG") == "1"
TUNE = os.environ.get("MERELS_TUNE") == "1"
SANITIZE = os.environ.get("MERELS_SANITIZE", "")
MSVC = sys.platform == "win32"

if SANITIZE and MSVC:
    raise SystemExit("MERELS_SANITIZE: needs gcc or clang; unset it to build here")

compile_args = ["/O2", "/volatile:ms"] if MSVC else ["-O3", "-g0", "-fno-strict-aliasing"]
if not MSVC:
    # Fitting makes the same numbers on every machine: no product is fused into a sum where a
    # processor can. Without `errno` square roots are vectors.
    compile_args += ["-ffp-contract=off", "-fno-math-errno"]
link_args = []
if (DEBUG or SANITIZE) and not MSVC:
    compile_args[:2] = ["-O1", "-g"]
if SANITIZE:
    link_args = [f"-fsanitize={SANITIZE}"]
    compile_args += ["-fno-omit-frame-pointer", *link_args]
if TUNE:
    compile_args.append("-DMERELS_TUNE")
# For gcc. Functions to inline are marked `inline`. gcc would inline others too, most of them
# Cython's glue: the search becomes slower, and compiling takes longer.
GCC_ARGS = [
    "-fno-inline-functions", "-fno-inline-small-functions", "-fno-partial-inlining", "-fno-ipa-cp",
]

# Read by `merels.engine.full_version`; in a checkout there is none.
COMMIT = Path("engine/commit")

# The compiler and Cython look at the sources' age alone. A build of another kind than the last
# one here must not keep anything of it.
KIND = Path("engine/core/core.kind")
kind = f"{DEBUG} {compile_args} {GCC_ARGS}\n"
other_kind = not KIND.is_file() or KIND.read_text(encoding="utf-8") != kind
SOURCES = (  # What takes longest comes first: they compile at the same time.
    "engine/core/core.pyx", "engine/core/solver.pyx", "engine/core/trainer.pyx",
    "protocol/client/scanner.pyx", "protocol/process/round_trip.pyx",
)


def extension(source: Path) -> Extension:
    """The extension of a source and the parts that it includes, all below its folder."""
    return Extension(
        ".".join(("merels", *source.with_suffix("").parts)),
        sources=[source.as_posix()],
        depends=[path.as_posix() for path in sorted(source.parent.rglob("*.pxi"))],
        extra_compile_args=compile_args,
        extra_link_args=link_args,
        define_macros=[] if DEBUG else [("CYTHON_WITHOUT_ASSERTIONS", "1")],
    )


def translated() -> list[Extension]:
    """The extensions, their sources translated to C."""
    # Little becomes free while a source is translated: a fifth of the time would go into looking.
    gc.disable()
    extensions = cythonize(
        [extension(Path(source)) for source in SOURCES],
        nthreads=min(os.cpu_count() or 1, len(SOURCES)),
        force=other_kind,
        compiler_directives={
            "language_level": 3,
            "boundscheck": DEBUG,
            "wraparound": False,
            "cdivision": True,
            "initializedcheck": DEBUG,
            "embedsignature": True,
            # Functions like those of C, not like Python's: less to compile.
            "binding": False,
            "auto_pickle": False,
            "freethreading_compatible": True,
        },
    )
    KIND.write_text(kind, encoding="utf-8")
    return extensions


def check_compiler() -> None:
    """End the build in one line if there is no C compiler, instead of after hundreds."""
    command = os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc"
    program = shlex.split(command)[0]
    if not MSVC and shutil.which(program) is None:
        raise SystemExit(
            f"merels needs a C compiler, and {program!r} was not found: install gcc or clang "
            "(Debian, Ubuntu: apt install gcc libc6-dev; Fedora: dnf install gcc; macOS: "
            "xcode-select --install), or set CC to the one you have"
        )


def is_gcc(compiler: list[str]) -> bool:
    """Whether a command is gcc, and not a compiler that only accepts its flags."""
    try:
        found = subprocess.run([*compiler, "--version"], capture_output=True, check=False)
    except OSError:
        return False  # The build reports that it is missing.
    return b"Free Software Foundation" in found.stdout


class BuildExtensions(build_ext):
    """A build of the extensions with the flags of the compiler at hand."""

    def build_extensions(self):
        command = getattr(self.compiler, "compiler_so", None)  # MSVC's class has none.
        if command and is_gcc(command):
            for extension in self.extensions:
                extension.extra_compile_args = [*compile_args, *GCC_ARGS]
        super().build_extensions()


def commit_of(version: str) -> str:
    """Return the commit of these sources, for a development version; else ''.

    It is that of the source distribution, or of the checkout in this folder, with ``.modified`` if
    a file differs from it.
    """
    if "dev" not in version:
        return ""
    if COMMIT.is_file():
        return COMMIT.read_text(encoding="utf-8").strip()

    def git(*words: str) -> str:
        command = ["git", *words]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()

    try:
        if not os.path.samefile(git("rev-parse", "--show-toplevel"), "."):
            return ""  # Sources unpacked below another project's checkout.
        commit = git("rev-parse", "HEAD")[:10]
        return commit + ".modified" * bool(git("status", "--porcelain", "--untracked-files=no"))
    except (OSError, subprocess.CalledProcessError):
        return ""


def write_commit(path: Path, version: str) -> None:
    """Write the commit of a development version, or remove what an earlier build wrote."""
    commit = commit_of(version)
    path.unlink(missing_ok=True)
    if commit:
        path.write_text(commit + "\n", encoding="utf-8")


class BuildModules(build_py):
    """A build of the modules with the commit of a development version."""

    def run(self):
        super().run()
        if not self.editable_mode:
            write_commit(Path(self.build_lib, "merels", COMMIT), self.distribution.get_version())


class SourceArchive(sdist):
    """A source distribution that holds nothing of the machine it is made on."""

    def make_release_tree(self, base_dir, files):
        super().make_release_tree(base_dir, files)
        write_commit(Path(base_dir, COMMIT), self.distribution.get_version())

    def make_archive(self, base_name, format, root_dir=None, base_dir=None, **_):
        name = f"{base_name}.tar.gz"
        with (
            open(name, "wb") as file,
            gzip.GzipFile("", "wb", fileobj=file, mtime=EPOCH) as packed,
            tarfile.open(fileobj=packed, mode="w") as archive,
        ):
            for path in sorted(Path(base_dir).rglob("*")):
                archive.add(path, path.as_posix(), recursive=False, filter=anonymous)
        return name


class Wheel(bdist_wheel):
    """A wheel whose files have the same modes whatever those of the checkout."""

    def write_wheelfile(self, wheelfile_base, *words):
        super().write_wheelfile(wheelfile_base, *words)
        for path in Path(wheelfile_base).parent.rglob("*"):
            if path.is_file():
                path.chmod(0o755 if path.stat().st_mode & 0o100 else 0o644)


def anonymous(member: tarfile.TarInfo) -> tarfile.TarInfo:
    """A member of an archive without owner and date."""
    member.mtime = EPOCH
    member.uid = member.gid = 0
    member.uname = member.gname = ""
    member.mode = 0o755 if member.mode & 0o100 else 0o644
    return member


# Folder by package. The package `merels` itself has only its version and `python -m merels`. Its
# folder is not ./merels: that would be imported instead of the installed package.
PACKAGES = {
    ".".join(("merels", *path.parent.parts)): path.parent.as_posix()
    for layer in ("engine", "protocol", "tournament")
    for path in sorted(Path(layer).rglob("__init__.py"))
}
PACKAGES["merels"] = PACKAGES.pop("merels.tournament.merels")

# Where no process can be forked, those that translate run this file, too.
if __name__ == "__main__":
    if {"bdist_wheel", "build_ext", "build", "editable_wheel", "develop"} & set(sys.argv):
        check_compiler()
    setup(
        packages=[*PACKAGES],
        package_dir=PACKAGES,
        package_data={
            "merels.engine": ["py.typed"],
            "merels.engine.core": ["*.pyx", "*.pyi", "*.bin", "*.pxi", "**/*.pxi"],
            "merels.engine.tablebase": ["*.md"],
            "merels.protocol": ["py.typed", "*.md", "*.jsonl", "examples/*.py", "examples/*.c"],
            "merels.protocol.client": ["*.pyx", "*.pyi"],
            "merels.protocol.process": ["*.pyx", "*.pyi"],
            "merels.protocol.board": ["page/*", "page/*/*"],
            "merels.protocol.puzzles": ["*.md"],
            "merels.protocol.web": ["page/*"],
            "merels.tournament": ["py.typed", "*.md"],
            "merels.tournament.league": ["*.css", "*.js"],
            "merels.tournament.openings": ["books/*.pos"],
            "merels.tournament.report": ["*.css", "*.js"],
            "merels.tournament.views": ["page/*"],
        },
        exclude_package_data={
            **{".".join(("merels", *Path(source).parent.parts)): ["*.c"] for source in SOURCES},
            # For developers.
            "merels.engine.tablebase": ["RESULTS.md", "results/*"],
        },
        ext_modules=translated(),
        options={"build_ext": {"parallel": True}},
        cmdclass={
            "bdist_wheel": Wheel,
            "build_ext": BuildExtensions,
            "build_py": BuildModules,
            "sdist": SourceArchive,
        },
    )
