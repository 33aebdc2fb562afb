"""``merels merge``: join the journals of a tournament that was played in parts."""

from __future__ import annotations

from collections import Counter

from merels.engine.common.numbers import counted
from merels.protocol.commands.arguments import add_flag, make_parser
from merels.protocol.commands.exit_status import FAILED, OK
from merels.tournament.flags.command_line import without_flags
from merels.tournament.journal.merging import Joined, merge
from merels.tournament.pairing.schedule import pair_of, schedule_for

MAX_LISTED = 10
"""Largest number of games with two results that are listed; further games are counted."""

PART_FLAGS = (
    "-journal", "-resume", "-shard", "-concurrency", "-force-concurrency", "-wait", "-use-affinity",
    "-maxfaults", "-executor", "-executorwait", "-pgnout", "-log", "-serve",
    "-quiet", "-ratinginterval", "-scoreinterval",
)
"""Flags of the run of a part; the stored command line of the merged journal omits them."""
DESCRIPTION = """\
Joins journals of one tournament, played in parts (merels tournament -shard i/n) or on several
machines, into the new journal OUT. A game in several journals is taken from the first. Journals of
different tournaments are refused, with a list of the differences. Prints how many games of each
shard are missing, which games have different results in two journals, and which engine names belong
to different programs.

To play the missing games: merels tournament -journal file=OUT -resume
The stored command line of OUT has no output files and no run options such as -concurrency,
-executor or -quiet; give them again."""


def main(argv: list[str]) -> int:
    """Run ``merels merge``; return the exit status."""
    parser = make_parser("merge", DESCRIPTION)
    parser.add_argument("out", metavar="OUT", help="the journal to write; it must not exist yet")
    parser.add_argument("journals", metavar="IN", nargs="*", help="a journal to take games from")
    add_flag(
        parser, "complete", action="store_true",
        help="exit with status 1 if games are missing or have two results",
    )
    arguments = parser.parse_args(argv)
    joined = merge(
        arguments.out, arguments.journals, lambda words: without_flags(words, PART_FLAGS)
    )
    total, missing = _audit(joined)
    skipped = f"; skipped {counted(joined.duplicates, 'duplicate')}" if joined.duplicates else ""
    games, journals = counted(joined.games, "game"), counted(len(arguments.journals), "journal")
    if total is not None and total > joined.games:
        bound = "at most " if joined.settings.sprt is not None else ""
        games = f"{joined.games} of {bound}{counted(total, 'game')}"
    print(f"{arguments.out}: {games} from {journals}{skipped}")
    for text in [*missing, *joined.conflicts[:MAX_LISTED]]:
        print(text)
    if len(joined.conflicts) > MAX_LISTED:
        print(f"and {counted(len(joined.conflicts) - MAX_LISTED, 'more game')} with two results")
    for text in joined.mixtures:
        print(f"WARNING: {text}")
    is_whole = joined.is_decided or total is not None and total <= joined.games
    return FAILED if arguments.complete and not (is_whole and not joined.conflicts) else OK


def _audit(joined: Joined) -> tuple[int | None, list[str]]:
    """Return the number of games of the tournament, and a line for each incomplete shard.

    The number is None for a knockout, because it depends on results. There are no lines unless the
    ``-shard i/n`` of all parts have the same n.
    """
    settings = joined.settings
    if settings.format == "knockout":
        return None, []
    total = schedule_for(settings).games(settings)
    counts = {count for _, count in joined.shards}
    if len(counts) != 1 or total <= joined.games:
        return total, []
    (count,) = counts
    expected = Counter(pair_of(settings, number) % count for number in range(1, total + 1))
    present = Counter(pair_of(settings, number) % count for number in joined.numbers)
    missing = []
    for index in range(1, count + 1):
        games, played = expected[index % count], present[index % count]
        if (index, count) not in joined.shards and not played:
            missing.append(f"shard {index}/{count} is missing: {counted(games, 'game')}")
        elif played < games:
            missing.append(f"shard {index}/{count} has {played} of {counted(games, 'game')}")
    return total, missing
