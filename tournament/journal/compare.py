"""Differences between the settings of two tournaments, named by flags of the command line.

Engines are compared by their names and playing conditions. The paths of one program may differ: a
file can have several paths, and folders may have moved.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Container, Sequence
from typing import NamedTuple

from merels.engine.common.errors import printable
from merels.protocol.client.engine_spec import EngineSpec
from merels.tournament.records.as_flags import engine_words
from merels.tournament.records.settings import Settings
from merels.tournament.records.table import FLAGS, TUNE_OWN

MAY_GROW = ("roundrobin", "gauntlet")
"""Formats in which more rounds do not change the games of the earlier rounds."""
MAX_NAMED = 3
"""Most differences, or engines, that an error names; the others are counted."""
ABSENT = "not given"
PROGRAM = ("cmd", "args", "dir")
"""Keys that select an engine's program."""


class Difference(NamedTuple):
    """A flag, with its engine and key, and its values in two tournaments."""

    flag: str
    ours: str
    theirs: str


def differences(
    ours: Settings, theirs: Settings, played: Container[str], folders: tuple[str, str]
) -> list[Difference]:
    """Return the differences between two tournaments started in ``folders``.

    Some changes are no difference: ``ours`` may have more rounds in a format of `MAY_GROW`. An
    engine whose name is not in ``played`` may have another program and dialect. Files may have
    moved. A difference common to all engines is listed once, as ``-each``.
    """
    engines = _engine_differences(ours, theirs, played, folders)
    return engines + _setting_differences(ours, theirs)


def listed(items: Sequence[Difference], here: str, there: str) -> str:
    """Return the first differences as text; ``here`` and ``there`` name the tournaments."""
    texts = [
        f"{flag}: {here} {ours or ABSENT}, {there} {theirs or ABSENT}"
        for flag, ours, theirs in items[:MAX_NAMED]
    ]
    if len(items) > MAX_NAMED:
        texts.append(f"and {len(items) - MAX_NAMED} more")
    return printable("; ".join(texts))


def _setting_differences(ours: Settings, theirs: Settings) -> list[Difference]:
    """Return the differences in all settings except the engines."""
    our_words, their_words = setting_words(ours), setting_words(theirs)
    ignored = set()
    if ours.rounds > theirs.rounds and ours.format in MAY_GROW:
        ignored.add("-rounds")
    if _is_same_or_moved(ours.adjudication.tables, theirs.adjudication.tables):
        ignored.add("-tb")
    digests = ours.openings.digest, theirs.openings.digest
    if digests[0] == digests[1]:
        ignored.add("-openings file")
    elif all(digests):  # Without a file of openings, the digest is empty.
        for words, digest in zip((our_words, their_words), digests):
            words["-openings file"] += f" (SHA-256 {digest[:8]})"
    return [
        Difference(flag, our_words.get(flag, ""), their_words.get(flag, ""))
        for flag in our_words | their_words
        if flag not in ignored and our_words.get(flag) != their_words.get(flag)
    ]  # fmt: skip


def setting_words(settings: Settings) -> dict[str, str]:
    """Return the values of all settings except the engines, as written after their flags.

    The keys are flags, or a flag and its key, such as ``-openings file``.
    """
    is_tune = settings.tuning is not None
    flags = FLAGS | {"-spsa": TUNE_OWN["-spsa"], "-pairs": TUNE_OWN["-pairs"]} if is_tune else FLAGS
    words = {
        name: field.text(settings)
        for flag in flags if flag not in ("-engine", "-each", "-rounds" if is_tune else "")
        for name, field in flags[flag].fields(flag).items() if field.path
    }
    for parameter in settings.tuning.parameters if settings.tuning is not None else ():
        fields = TUNE_OWN["-param"].keys.items()
        words[f"-param {parameter.name}"] = " ".join(
            f"{key}={field.text(parameter)}" for key, field in fields if field.path
        )
    return words


def _engine_differences(
    ours: Settings, theirs: Settings, played: Container[str], folders: tuple[str, str]
) -> list[Difference]:
    """Return the differences between engines at the same place in their list."""
    if len(ours.engines) != len(theirs.engines):
        return [Difference("-engine", _names(ours), _names(theirs))]
    pairs = list(zip(ours.engines, theirs.engines))
    renamed = [
        Difference(f"-engine {number} name", our.name, their.name)
        for number, (our, their) in enumerate(pairs, 1) if our.name != their.name
    ]  # fmt: skip
    if renamed:
        return renamed
    word_pairs = []
    for our, their in pairs:
        ignored: tuple[str, ...] = ()
        if our.name not in played:
            ignored = (*PROGRAM, "proto")
        elif _is_same_program(our.engine, their.engine, folders):
            ignored = PROGRAM
        word_pairs.append([
            {key: value for key, value in engine_words(entrant).items() if key not in ignored}
            for entrant in (our, their)
        ])
    result = []
    for key in dict.fromkeys(key for our, their in word_pairs for key in our | their):
        values = [(our.get(key, ""), their.get(key, "")) for our, their in word_pairs]
        flags = [f"-engine {engine.name}" for engine in ours.engines]
        if len(flags) > 1 and len(set(values)) == 1:
            flags = ["-each"]
        result += [
            Difference(f"{flag} {key}", our, their)
            for flag, (our, their) in zip(flags, values) if our != their
        ]  # fmt: skip
    return result


def _names(settings: Settings) -> str:
    """Return the number of engines and the first names."""
    names = [engine.name for engine in settings.engines[:MAX_NAMED]]
    more = ["…"] if len(settings.engines) > MAX_NAMED else []
    return f"{len(settings.engines)} ({', '.join(names + more)})"


def _is_same_program(ours: EngineSpec, theirs: EngineSpec, folders: tuple[str, str]) -> bool:
    """Return whether two engines run the same program with the same arguments, by any paths."""
    our_folder, their_folder = ours.directory or folders[0], theirs.directory or folders[1]
    if len(ours.command) != len(theirs.command) or (
        ours.directory != theirs.directory and not _is_same_or_moved(our_folder, their_folder)
    ):
        return False
    (our_program, *our_words), (their_program, *their_words) = ours.command, theirs.command
    return _is_same_or_moved(
        _locate(our_program, our_folder), _locate(their_program, their_folder)
    ) and all(
        our == their
        or _is_same_file(os.path.join(our_folder, our), os.path.join(their_folder, their))
        for our, their in zip(our_words, their_words)
    )


def _locate(program: str, folder: str) -> str:
    """Return the path of a program, searched for in the folder and in PATH."""
    beside = os.path.join(folder, program)
    return beside if os.path.exists(beside) else shutil.which(program) or program


def _is_same_or_moved(ours: str, theirs: str) -> bool:
    """Return whether two paths name the same file or folder, even if it was moved.

    A path that no longer exists counts as moved if the names without folders are equal.
    """
    if ours == theirs or _is_same_file(ours, theirs):
        return True
    is_moved = not (os.path.exists(ours) and os.path.exists(theirs))
    return is_moved and os.path.basename(ours) == os.path.basename(theirs)


def _is_same_file(ours: str, theirs: str) -> bool:
    """Return whether two paths lead to the same existing file or folder."""
    return os.path.exists(ours) and os.path.exists(theirs) and os.path.samefile(ours, theirs)
