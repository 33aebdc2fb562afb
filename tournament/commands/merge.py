"""``merels merge``: one journal from those of a tournament that was played in parts."""

from __future__ import annotations

from collections import Counter

from merels.engine.common.numbers import counted
from merels.protocol.commands.arguments import add_flag, make_parser
from merels.protocol.commands.exit_status import FAILED, OK
from merels.tournament.flags.command_line import without
from merels.tournament.journal.merging import Joined, merge
from merels.tournament.pairing.schedule import pair_of, schedule_for

NAMED = 10
"""Games with two results that are listed; the others are counted."""

OF_A_PART = (
    "-journal", "-resume", "-shard", "-concurrency", "-force-concurrency", "-wait", "-use-affinity",
    "-maxfaults", "-executor", "-executorwait", "-recover", "-pgnout", "-epdout", "-output", "-log",
    "-serve", "-quiet", "-ratinginterval", "-scoreinterval",
)
"""Flags of how a part was run and shown, which the merged journal does not inherit."""
DESCRIPTION = """\
Joins journals of one tournament, played in parts (merels tournament -shard i/n) or on several
machines, into the new journal OUT. A game in several of them is taken from the first. Journals of
different tournaments are refused, with their differences. Prints which shards and games are
missing, games that two journals state different results of, and names behind which programs were
exchanged.

To play what is still missing: merels tournament -journal file=OUT -resume
That writes to none of the parts' files, and runs as if -concurrency, -executor, -quiet and the like
had not been given; give them again."""


def main(argv: list[str]) -> int:
    """Run ``merels merge``; returns the exit status."""
    parser = make_parser("merge", DESCRIPTION)
    parser.add_argument("out", metavar="OUT", help="the journal to write; it must not exist yet")
    parser.add_argument("journals", metavar="IN", nargs="*", help="a journal to take games from")
    add_flag(
        parser, "complete", action="store_true",
        help="exit with status 1 where games are missing or have two results",
    )
    arguments = parser.parse_args(argv)
    joined = merge(arguments.out, arguments.journals, lambda words: without(words, OF_A_PART))
    total, missing = _audit(joined)
    doubles = f"; {joined.again} came more than once" if joined.again else ""
    games, journals = counted(joined.games, "game"), counted(len(arguments.journals), "journal")
    if total is not None and total > joined.games:
        bound = "at most " if joined.settings.sprt is not None else ""
        games = f"{joined.games} of {bound}{counted(total, 'game')}"
    print(f"{arguments.out}: {games} from {journals}{doubles}")
    for text in [*missing, *joined.conflicts[:NAMED]]:
        print(text)
    if len(joined.conflicts) > NAMED:
        print(f"and {counted(len(joined.conflicts) - NAMED, 'more game')} with two results")
    for text in joined.mixtures:
        print(f"WARNING: {text}")
    is_whole = joined.is_decided or total is not None and total <= joined.games
    return FAILED if arguments.complete and not (is_whole and not joined.conflicts) else OK


def _audit(joined: Joined) -> tuple[int | None, list[str]]:
    """How many games the tournament has, and which parts of it are missing, a sentence each.

    The number is None for a knockout, where it depends on results.
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
    found = Counter(pair_of(settings, number) % count for number in joined.numbers)
    missing = []
    for index in range(1, count + 1):
        whole, there = expected[index % count], found[index % count]
        if (index, count) not in joined.shards and not there:
            missing.append(f"shard {index}/{count} is missing: {counted(whole, 'game')}")
        elif there < whole:
            missing.append(f"shard {index}/{count} has {there} of {counted(whole, 'game')}")
    return total, missing
