"""Builds merels: three layers of packages and five compiled extensions.

MERELS_TUNE=1 turns the constants of engine/core/search/parameters.pxi into engine options.
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

# Two builds of one commit are identical, because they store this date: the earliest in a zip file.
EPOCH = int(os.environ.setdefault("SOURCE_DATE_EPOCH", "315532800"))

DEBUG = os.environ.get("MERELS_DEBUG") == "1"
TUNE = os.environ.get("MERELS_TUNE") == "1"
SANITIZE = os.environ.get("MERELS_SANITIZE", "")
MSVC = sys.platform == "win32"

if SANITIZE and MSVC:
    raise SystemExit("MERELS_SANITIZE: needs gcc or clang; unset it to build here")

compile_args = ["/O2", "/volatile:ms"] if MSVC else ["-O3", "-g0", "-fno-strict-aliasing"]
if not MSVC:
    # Without fused multiply-add, fitting gives the same numbers on every machine. Without `errno`,
    # the compiler can vectorize square roots.
    compile_args += ["-ffp-contract=off", "-fno-math-errno"]
link_args = []
if (DEBUG or SANITIZE) and not MSVC:
    # A sanitizer prints places, not variables, whose ranges take gcc a third of its time to find.
    compile_args[:2] = ["-O1", "-g1" if SANITIZE else "-g"]
if SANITIZE:
    link_args = [f"-fsanitize={SANITIZE}"]
    compile_args += ["-fno-omit-frame-pointer", *link_args]
if TUNE:
    compile_args.append("-DMERELS_TUNE")
# For gcc. Functions to inline are marked `inline`. By default, gcc also inlines other functions,
# most of them Cython's glue code, which makes the search slower and compiling longer.
GCC_ARGS = [
    "-fno-inline-functions", "-fno-inline-small-functions", "-fno-partial-inlining", "-fno-ipa-cp",
]

# Read by `merels.engine.full_version`; a checkout has no such file.
COMMIT = Path("engine/commit")

# The compiler and Cython check only the dates of the sources. Therefore a build with other flags
# than the last build in this folder must translate and compile everything again.
FLAGS_FILE = Path("engine/core/core.kind")
flags = f"{DEBUG} {compile_args} {GCC_ARGS}\n"
flags_changed = not FLAGS_FILE.is_file() or FLAGS_FILE.read_text(encoding="utf-8") != flags
SOURCES = (  # They compile in parallel, so the slowest comes first.
    "engine/core/core.pyx", "engine/core/solver.pyx", "engine/core/trainer.pyx",
    "protocol/client/scanner.pyx", "protocol/process/round_trip.pyx",
)


def extension(source: Path) -> Extension:
    """Return the extension of a source and of the parts that it includes, all below its folder."""
    return Extension(
        ".".join(("merels", *source.with_suffix("").parts)),
        sources=[source.as_posix()],
        depends=[path.as_posix() for path in sorted(source.parent.rglob("*.pxi"))],
        extra_compile_args=compile_args,
        extra_link_args=link_args,
        define_macros=[] if DEBUG else [("CYTHON_WITHOUT_ASSERTIONS", "1")],
    )


def translated() -> list[Extension]:
    """Return the extensions, with their sources translated to C."""
    # Translation frees little memory; the garbage collector would take a fifth of the time.
    gc.disable()
    extensions = cythonize(
        [extension(Path(source)) for source in SOURCES],
        nthreads=min(os.cpu_count() or 1, len(SOURCES)),
        force=flags_changed,
        compiler_directives={
            "language_level": 3,
            "boundscheck": DEBUG,
            "wraparound": False,
            "cdivision": True,
            "initializedcheck": DEBUG,
            "embedsignature": True,
            # Compile functions as built-in functions, which need less code.
            "binding": False,
            "auto_pickle": False,
            "freethreading_compatible": True,
        },
    )
    FLAGS_FILE.write_text(flags, encoding="utf-8")
    return extensions


def check_compiler() -> None:
    """End the build with one line if there is no C compiler, instead of hundreds of lines."""
    command = os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc"
    program = shlex.split(command)[0]
    if not MSVC and shutil.which(program) is None:
        raise SystemExit(
            f"merels needs a C compiler, and {program!r} was not found: install gcc or clang "
            "(Debian, Ubuntu: apt install gcc libc6-dev; Fedora: dnf install gcc; macOS: "
            "xcode-select --install), or set CC to your compiler"
        )


def is_gcc(compiler: list[str]) -> bool:
    """Return whether a command is gcc, and not a compiler that only accepts gcc's flags."""
    try:
        result = subprocess.run([*compiler, "--version"], capture_output=True, check=False)
    except OSError:
        return False  # The build reports that the compiler is missing.
    return b"Free Software Foundation" in result.stdout


class BuildExtensions(build_ext):
    """A build of the extensions with the flags for the compiler that is used."""

    def build_extensions(self):
        command = getattr(self.compiler, "compiler_so", None)  # MSVC's class has no such field.
        if command and is_gcc(command):
            for extension in self.extensions:
                extension.extra_compile_args = [*compile_args, *GCC_ARGS]
        super().build_extensions()


def commit_of(version: str) -> str:
    """Return the commit of these sources for a development version, '' for a release.

    It is read from the source distribution or from the checkout in this folder. ``.modified``
    follows if a file differs from the commit.
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
            return ""  # The sources were unpacked in another project's checkout.
        commit = git("rev-parse", "HEAD")[:10]
        return commit + ".modified" * bool(git("status", "--porcelain", "--untracked-files=no"))
    except (OSError, subprocess.CalledProcessError):
        return ""


def write_commit(path: Path, version: str) -> None:
    """Write the commit of a development version to ``path``; without a commit, remove the file."""
    commit = commit_of(version)
    path.unlink(missing_ok=True)
    if commit:
        path.write_text(commit + "\n", encoding="utf-8")


class BuildModules(build_py):
    """A build of the modules that adds the commit of a development version."""

    def run(self):
        super().run()
        if not self.editable_mode:
            write_commit(Path(self.build_lib, "merels", COMMIT), self.distribution.get_version())


class SourceArchive(sdist):
    """A source distribution without owners and dates of the machine that builds it."""

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
    """A wheel whose file modes do not depend on those of the checkout."""

    def write_wheelfile(self, wheelfile_base, *words):
        super().write_wheelfile(wheelfile_base, *words)
        for path in Path(wheelfile_base).parent.rglob("*"):
            if path.is_file():
                path.chmod(0o755 if path.stat().st_mode & 0o100 else 0o644)


def anonymous(member: tarfile.TarInfo) -> tarfile.TarInfo:
    """Return the member of an archive without owner and date."""
    member.mtime = EPOCH
    member.uid = member.gid = 0
    member.uname = member.gname = ""
    member.mode = 0o755 if member.mode & 0o100 else 0o644
    return member


# Folder of each package. The package `merels` itself has only its version and `python -m merels`.
# Its folder is not ./merels, which Python would import instead of the installed package.
PACKAGES = {
    ".".join(("merels", *path.parent.parts)): path.parent.as_posix()
    for layer in ("engine", "protocol", "tournament")
    for path in sorted(Path(layer).rglob("__init__.py"))
}
PACKAGES["merels"] = PACKAGES.pop("merels.tournament.merels")

# On systems without fork, the processes that translate the sources import this file, too.
if __name__ == "__main__":
    if {"bdist_wheel", "build_ext", "build", "editable_wheel", "develop"} & set(sys.argv):
        check_compiler()
    setup(
        packages=[*PACKAGES],
        package_dir=PACKAGES,
        package_data={
            "merels.engine": ["py.typed"],
            "merels.engine.core": ["*.pyx", "*.pyi", "*.bin", "*.pxi", "**/*.pxi"],
            "merels.engine.tablebase": ["*.md", "opening/*/*"],
            "merels.protocol": ["py.typed", "*.md", "*.jsonl", "examples/*.py", "examples/*.c"],
            "merels.protocol.client": ["*.pyx", "*.pyi"],
            "merels.protocol.process": ["*.pyx", "*.pyi"],
            "merels.protocol.board": ["page/*", "page/*/*"],
            "merels.protocol.puzzles": ["*.md", "*.gz"],
            "merels.protocol.web": ["page/*"],
            "merels.tournament": ["py.typed", "*.md"],
            "merels.tournament.openings": ["books/*.pos"],
            "merels.tournament.report": ["page/*"],
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
