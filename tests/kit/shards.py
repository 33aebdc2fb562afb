"""Runs the tests in several processes, which share the files, or in random order.

A process runs a whole file, so that fixtures of modules are made once, and then takes the next file
that no other process has taken. Long files come first, by the seconds in ``seconds.json``, which
``--record-seconds`` measures again; in random order, files of similar length are shuffled. The
first process reports the results of all: the others write them to files.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from tests.kit import session

SECONDS = Path(__file__).with_name("seconds.json")
PROCESSES = 3
"""Processes of a run of the whole suite; one more than two cores, because many tests wait."""
USUAL_SECONDS = 10.0
"""Seconds assumed for a file without a record."""
SIMILAR_SECONDS = 10.0
"""Files whose seconds differ by less are of about the same length."""

File = str
"""A test file's path, relative to the root, as in the ids of its tests."""


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("merels")
    group.addoption(
        "--shards", type=int,
        help=f"processes that share the tests (default: {PROCESSES} for the whole suite)",
    )
    group.addoption("--shard", metavar="FILE", help="internal: share the files, report to FILE")
    group.addoption("--shuffle", metavar="SEED", help="random order of files and of their tests")
    group.addoption("--record-seconds", action="store_true", help=f"measure {SECONDS.name} again")


def pytest_configure(config: pytest.Config) -> None:
    if config.option.shard:
        path = Path(config.option.shard)
        config.pluginmanager.register(Files(config, path.parent))
        config.pluginmanager.register(Shard(config, path))
        return
    whole = config.args_source is pytest.Config.ArgsSource.TESTPATHS
    count = config.option.shards or (PROCESSES if whole and _cores() > 1 else 1)
    if count > 1 and not config.option.collectonly:
        config.pluginmanager.register(Controller(config, count))
    if config.option.record_seconds:
        config.pluginmanager.register(Recorder(config))


def pytest_report_header(config: pytest.Config) -> str | None:
    seed = config.option.shuffle
    return f"order: --shuffle={seed}" if seed else None


def shuffle(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Put files, and the tests of each file, in the random order of the seed of ``--shuffle``."""
    if seed := config.option.shuffle:
        chance = random.Random(seed)
        files = list(by_file(items).values())
        chance.shuffle(files)
        seconds = _seconds(config)
        files.sort(
            key=lambda tests: -(seconds.get(_file(tests[0]), USUAL_SECONDS) // SIMILAR_SECONDS)
        )
        for file in files:
            chance.shuffle(file)
        items[:] = [item for file in files for item in file]


def by_file(items: list[pytest.Item]) -> dict[File, list[pytest.Item]]:
    """Return the tests of each file, in their order."""
    files: dict[File, list[pytest.Item]] = defaultdict(list)
    for item in items:
        files[_file(item)].append(item)
    return files


def _file(item: pytest.Item) -> File:
    return item.nodeid.partition("::")[0]


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1


def _record_of(config: pytest.Config) -> str:
    """Return the record of a run in `SECONDS`: tests that only CI runs have another one."""
    return "thorough" if config.option.markexpr.startswith("thorough") else "default"


def _seconds(config: pytest.Config) -> dict[File, float]:
    """Return the seconds of each file that were recorded for a run of this kind."""
    seconds: dict[File, float] = json.loads(SECONDS.read_text(encoding="utf-8"))[_record_of(config)]
    return seconds


class Files:
    """The files of a run. Each process takes the next file that no other process has taken."""

    def __init__(self, config: pytest.Config, folder: Path) -> None:
        self._config, self._folder = config, folder

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Run the tests of files until all files are taken."""
        if session.testsfailed and not session.config.option.continue_on_collection_errors:
            raise session.Interrupted(f"{session.testsfailed} errors during collection")
        files = iter(self._in_order(session.items))
        tests = self._take(files)
        while tests:
            following: list[pytest.Item] = []
            for index, item in enumerate(tests, 1):
                if index == len(tests):
                    # Fixtures of the session outlive the file only if a next test is known.
                    following = self._take(files)
                coming = [*tests[index:], *following]
                item.config.hook.pytest_runtest_protocol(
                    item=item, nextitem=coming[0] if coming else None
                )
                if session.shouldfail:
                    raise session.Failed(session.shouldfail)
                if session.shouldstop:
                    raise session.Interrupted(session.shouldstop)
            tests = following
        return True

    def _in_order(self, items: list[pytest.Item]) -> list[tuple[File, list[pytest.Item]]]:
        """Return files with their tests: the longest first, unless the order is random."""
        files = list(by_file(items).items())
        if not self._config.option.shuffle:
            seconds = _seconds(self._config)
            files.sort(key=lambda file: (-seconds.get(file[0], USUAL_SECONDS), file[0]))
        return files

    def _take(self, files: Iterator[tuple[File, list[pytest.Item]]]) -> list[pytest.Item]:
        """Return the tests of the next file that no other process has taken."""
        for file, tests in files:
            with suppress(FileExistsError):
                self._folder.joinpath(file.replace("/", "-")).touch(exist_ok=False)
                return tests
        return []


class Shard:
    """A process that writes its reports to a file."""

    def __init__(self, config: pytest.Config, path: Path) -> None:
        self._config, self._file = config, path.open("a", encoding="utf-8")

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        data = self._config.hook.pytest_report_to_serializable(config=self._config, report=report)
        self._write(data)

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, exitstatus: int) -> None:
        self._write({"exit": int(exitstatus)})
        self._file.close()

    def _write(self, data: dict[str, Any]) -> None:
        self._file.write(json.dumps(data) + "\n")
        self._file.flush()


class Controller:
    """The process that starts the others and reports the results of all."""

    def __init__(self, config: pytest.Config, count: int) -> None:
        self._config = config
        self._folder = tempfile.TemporaryDirectory(prefix="merels-shards-")
        folder = Path(self._folder.name)
        config.pluginmanager.register(Files(config, folder))
        self._reports = [folder / f"{index}.jsonl" for index in range(1, count)]
        self._logs = [path.with_suffix(".log") for path in self._reports]
        self._processes = []
        for path, log in zip(self._reports, self._logs):
            path.touch()
            with log.open("wb") as output:
                self._processes.append(subprocess.Popen(
                    [
                        sys.executable, "-m", "pytest", *config.invocation_params.args,
                        "-p", "no:cacheprovider", f"--shard={path}",
                    ],
                    stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT,
                    cwd=config.invocation_params.dir,
                    env=os.environ | {"PYTEST_ADDOPTS": session.OPTIONS},
                ))  # fmt: skip

    @pytest.hookimpl(wrapper=True)
    def pytest_runtestloop(self, session: pytest.Session) -> Iterator[None]:
        result = yield
        for process, path, log in zip(self._processes, self._reports, self._logs):
            status = None
            for data in _lines(path, process):
                if "exit" in data:
                    status = data["exit"]
                    continue
                report = self._config.hook.pytest_report_from_serializable(
                    config=self._config, data=data
                )
                # A skip's place and reason are a tuple, which JSON does not have.
                if isinstance(report.longrepr, list):
                    report.longrepr = tuple(report.longrepr)
                self._config.hook.pytest_runtest_logreport(report=report)
                if session.shouldfail:
                    raise session.Failed(session.shouldfail)
            if status not in (
                pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED, pytest.ExitCode.NO_TESTS_COLLECTED
            ):
                tail = log.read_text(encoding="utf-8", errors="replace")[-10_000:]
                pytest.exit(f"a shard ended early:\n{tail}", pytest.ExitCode.INTERNAL_ERROR)
        return result

    def pytest_unconfigure(self) -> None:
        for process in self._processes:
            if process.poll() is None:
                process.terminate()
            process.wait()
        self._folder.cleanup()


def _lines(path: Path, process: subprocess.Popen[bytes]) -> Iterator[dict[str, Any]]:
    """Yield the reports that a process writes to a file, until the process has ended."""
    with path.open(encoding="utf-8") as file:
        rest = ""
        while True:
            ended = process.poll() is not None
            if text := file.read():
                *lines, rest = (rest + text).split("\n")
                yield from map(json.loads, lines)
            elif ended:
                return
            else:
                time.sleep(0.05)


class Recorder:
    """Measures the seconds of each file and stores them for the next run."""

    def __init__(self, config: pytest.Config) -> None:
        self._record = _record_of(config)
        self._seconds: dict[File, float] = defaultdict(float)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._seconds[report.nodeid.partition("::")[0]] += report.duration

    def pytest_sessionfinish(self) -> None:
        records = json.loads(SECONDS.read_text(encoding="utf-8"))
        seconds = records[self._record]
        seconds |= {file: round(value, 1) for file, value in self._seconds.items()}
        for files in records.values():
            for file in [file for file in files if not Path(file).exists()]:
                del files[file]
        text = json.dumps(records, indent=1, sort_keys=True)
        SECONDS.write_text(text + "\n", encoding="utf-8")
