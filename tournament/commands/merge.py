"""``merels merge``: one journal from those of a tournament that was played in parts."""

from __future__ import annotations

from merels.engine.game.numbers import counted
from merels.protocol.commands.arguments import make_parser
from merels.protocol.commands.exit_status import OK
from merels.tournament.flags.command_line import without
from merels.tournament.journal.merge import merge

OF_A_PART = (
    "-journal", "-resume", "-shard", "-concurrency", "-force-concurrency", "-use-affinity",
    "-executor", "-executorwait", "-recover", "-pgnout", "-log", "-serve", "-quiet",
    "-ratinginterval", "-scoreinterval",
)
"""The flags that say how a part was run and shown, which are not those of the whole."""
DESCRIPTION = """\
Joins journals of one tournament, played in parts (merels tournament -shard i/n) or on several
machines, into the new journal OUT. A game in several of them is taken from the first. Journals of
different tournaments are refused, with their differences.

To play what is still missing: merels tournament -journal file=OUT -resume
That writes to none of the parts' files, and runs as if -concurrency, -executor, -quiet and the like
had not been given; give them anew."""


def main(argv: list[str]) -> int:
    """Run ``merels merge``; returns the exit status."""
    parser = make_parser("merge", DESCRIPTION)
    parser.add_argument("out", metavar="OUT", help="the journal to write; it must not exist yet")
    parser.add_argument("journals", metavar="IN", nargs="*", help="a journal to take games from")
    arguments = parser.parse_args(argv)
    joined = merge(arguments.out, arguments.journals, lambda words: without(words, OF_A_PART))
    doubles = f"; {joined.again} came more than once" if joined.again else ""
    games, journals = counted(joined.games, "game"), counted(len(arguments.journals), "journal")
    print(f"{arguments.out}: {games} from {journals}{doubles}")
    return OK
