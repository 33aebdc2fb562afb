"""Rating lists, crosstables and terminations as text, JSON and CSV; the summary of a match."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable

import pytest

from merels.engine.common.errors import printable
from merels.tournament.journal.standings import TimeLosses
from merels.tournament.report import crosstable, html, summary
from merels.tournament.report.summary import endings_text
from merels.tournament.report.table import Column, Table, number_columns, shorten, width
from merels.tournament.report.time_report import MoveTimes
from merels.tournament.statistics import ratings
from merels.tournament.statistics.counts import GameScore, MatchCounts, count_matches
from merels.tournament.statistics.sprt import Sprt, match_llr
from merels.tournament.statistics.terminations import Ending, count_terminations

GAMES = [
    *[GameScore("Alpha", "Beta", s) for s in (1.0, 1.0, 0.5, 0.0)],
    *[GameScore("Gamma", "Alpha", s) for s in (0.5, 0.0)],
    *[GameScore("Beta", "Gamma", s) for s in (1.0, 0.5, 0.5, 0.0)],
]


def tabulate(
    games: Iterable[GameScore], anchor: tuple[str, float] | None = None
) -> crosstable.Crosstable:
    """Return the crosstable of games."""
    return crosstable.crosstable(count_matches(games), anchor)


def csv_rows(table: crosstable.Crosstable) -> list[list[str]]:
    """Return the head and the rows of the table as CSV."""
    return list(csv.reader(io.StringIO(crosstable.data_table(table).csv())))


def test_the_rating_list_and_the_crosstable_are_aligned_text() -> None:
    table = tabulate(GAMES)
    assert crosstable.rating_list(table.ratings) == (
        "#  Name     Elo    +/-  Games  Points  Score  Draws\n"
        "1  Alpha   82.8  155.8      6     4.0  66.7%  33.3%\n"
        "2  Beta   -30.2  120.6      8     3.5  43.8%  37.5%\n"
        "3  Gamma  -52.6  135.2      6     2.5  41.7%  50.0%\n"
        "\n"
        "Too few games (below 20) for a conclusion: Alpha, Beta, Gamma.\n"
    )
    assert crosstable.results_text(table) == (
        "#  Name   Points      1      2      3\n"
        "1  Alpha   4.0/6      x  2-1-1  1-1-0\n"
        "2  Beta    3.5/8  1-1-2      x  1-2-1\n"
        "3  Gamma   2.5/6  0-1-1  1-2-1      x\n"
        "Cells: wins-draws-losses of the row's engine.\n"
    )
    lines = crosstable.results_text(table, points=True).splitlines()
    assert "1.5" in lines[1] and lines[-1] == "Cells: points of the row's engine."


def test_the_records_of_two_engines_mirror_each_other() -> None:
    table = tabulate(GAMES)
    rows = [table.records(player) for player in table.ratings.players]
    for i, (row, player) in enumerate(zip(rows, table.ratings.players)):
        assert row[i] == MatchCounts()
        assert sum(record.games for record in row) == player.games
        assert sum(record.points for record in row) == player.points
        for j, record in enumerate(row):
            assert (record.wins, record.draws) == (rows[j][i].losses, rows[j][i].draws)


def test_superiority_is_printed_in_percent() -> None:
    lines = crosstable.superiority_table(tabulate(GAMES).ratings).text().splitlines()
    assert len(lines) == 4 and lines[1].split()[2] == "x"
    assert 50 < float(lines[1].split()[3]) < 100


def test_notes_explain_groups_the_anchor_and_virtual_draws() -> None:
    games = [*GAMES, GameScore("Xi", "Psi", 1.0)]
    text = crosstable.rating_list(tabulate(games, ("Beta", 1500.0)).ratings)
    head, *lines = text.splitlines()
    assert head.endswith("Group")
    assert [line.split()[-1] for line in lines[:5]] == ["1", "1", "1", "2", "2"]
    assert lines[3].startswith("4  Xi")
    assert "Beta is fixed at 1500" in text
    assert "2 groups" in text
    assert text.endswith("finite: 1.\n")


def test_tables_without_games_have_only_their_heads() -> None:
    table = tabulate([])
    assert crosstable.rating_list(table.ratings).startswith("#  Name")
    assert crosstable.results_text(table).startswith("#  Name")
    assert csv_rows(table)[0][:3] == ["rank", "name", "elo"]
    assert crosstable.as_dict(table)["players"] == []


def test_hostile_names_cannot_reach_the_terminal() -> None:
    hostile = "\x1b[2Jevil\r\n\u202etxt\x9b"
    text = crosstable.rating_list(tabulate([GameScore(hostile, "B", 1.0)]).ratings)
    assert "?[2Jevil???txt?" in text
    assert all(c == "\n" or c.isprintable() for c in text)
    assert summary.score_line(MatchCounts(), hostile, "B").isprintable()
    assert printable("Mühle 7") == "Mühle 7"


def test_wide_names_keep_the_columns() -> None:
    head = [Column("Name", left=True), *number_columns("Elo")]
    text = Table("", head, [["直棋", 7], ["e\u0301", 12]]).text()
    assert text == "Name  Elo\n直棋    7\ne\u0301      12\n"
    assert width("直棋") == 4 and width("e\u0301") == 1
    assert shorten("x" * 100_000) == "x" * 37 + "..."
    assert width(shorten("直" * 50)) <= 40
    assert shorten("y" * 40) == "y" * 40


def test_json_has_ratings_records_and_groups() -> None:
    games = [*GAMES, GameScore("Xi\x1b", "Psi", 1.0)]
    data = json.loads(json.dumps(crosstable.as_dict(tabulate(games)), allow_nan=False))
    first = data["players"][0]
    assert (first["rank"], first["name"], first["games"], first["points"]) == (1, "Alpha", 6, 4.0)
    against = {row["name"]: row for row in first["against"]}
    assert against["Beta"]["wins"] == 2 and against["Beta"]["superiority"] > 0.5
    assert against["Psi"]["superiority"] is None and against["Psi"]["points"] == 0
    assert [group["virtual_draws"] for group in data["groups"]] == [0, 1]
    assert data["players"][3]["name"] == "Xi\x1b" and data["players"][3]["group"] == 2
    assert data["anchor"] is None


def test_csv_holds_no_formula_and_no_control() -> None:
    names = ["=1+1", "+2", "-3", "@SUM(A1)", "\t=4", "ok=5", "a\x1b[2J"]
    games = [GameScore(name, "B", 0.5) for name in names]
    rows = csv_rows(tabulate(games))
    written = {row[1] for row in rows[1:]}
    assert written == {"'=1+1", "'+2", "'-3", "'@SUM(A1)", "?=4", "ok=5", "a?[2J", "B"}
    assert set(rows[0]) >= written


def test_csv_has_a_column_of_points_for_each_opponent() -> None:
    head, *lines = csv_rows(tabulate(GAMES))
    rows = [dict(zip(head, line)) for line in lines]
    assert [row["name"] for row in rows] == ["Alpha", "Beta", "Gamma"]
    assert rows[0]["Beta"] == "2.5" and rows[0]["Alpha"] == "" and rows[1]["Alpha"] == "1.5"
    assert float(rows[0]["elo"]) > 0


ENDINGS = [
    Ending("A", "B", 1.0, "time forfeit"),
    Ending("B", "A", 0.5, "normal"),
    Ending("A", "B", 0.0, "normal"),
    Ending("B", "A", None, "unterminated"),
    Ending("A", "B", 1.0, "rules infraction"),
    Ending("A", "B", 1.0, "time forfeit"),
]


def test_terminations_are_counted_for_the_loser() -> None:
    stats = count_terminations(ENDINGS)
    assert stats.games == 6
    assert list(stats.results.items()) == [
        ("normal", (0, 1, 1, 0)), ("time forfeit", (2, 0, 0, 0)), ("unterminated", (0, 0, 0, 1)),
        ("rules infraction", (1, 0, 0, 0)),
    ]
    assert stats.lost == {"A": {"normal": 1}, "B": {"time forfeit": 2, "rules infraction": 1}}
    assert json.loads(json.dumps(summary.terminations_dict(stats)))["games"] == 6


def test_terminations_are_aligned_text() -> None:
    assert endings_text(count_terminations(ENDINGS)) == (
        "Termination       Games  Share  White  Drawn  Black  Unfinished\n"
        "normal                2  33.3%      0      1      1           0\n"
        "time forfeit          2  33.3%      2      0      0           0\n"
        "unterminated          1  16.7%      0      0      0           1\n"
        "rules infraction      1  16.7%      1      0      0           0\n"
        "\n"
        "Lost by  normal  time forfeit  unterminated  rules infraction\n"
        "A             1             0             0                 0\n"
        "B             0             2             0                 1\n"
    )
    assert endings_text(count_terminations([])).startswith("Termination")


MATCH = MatchCounts(wins=45, losses=48, draws=7, ll=11, ld=4, wl=22, wd=3, ww=10)


def test_the_summary_of_a_match_has_five_lines() -> None:
    assert summary.summary_lines(MATCH, "A", "B") == [
        "Score of A vs B: 45 - 48 - 7  [0.485] 100",
        "Elo: -10.43 +/- 65.73, nElo: -10.94 +/- 68.10",
        "LOS: 37.65 %, DrawRatio: 44.00 %, PairsRatio: 0.87",
        "Games: 100, Wins: 45, Losses: 48, Draws: 7, Points: 48.5 (48.50 %)",
        "Ptnml(0-2): [11, 4, 22, 3, 10], WL/DD Ratio: inf",
    ]


def test_the_llr_is_printed_with_its_bounds() -> None:
    sprt = Sprt(-3, 1, alpha=0.05, beta=0.1)
    assert summary.llr_line(sprt, 2.902) == "LLR: 2.90 (100.4%) (-2.25, 2.89) [-3.00, 1.00]"
    assert summary.llr_line(sprt, -0.001) == "LLR: 0.00 (0.0%) (-2.25, 2.89) [-3.00, 1.00]"
    assert summary.llr_line(sprt, sprt.lower).startswith("LLR: -2.25 (-100.0%)")
    assert summary.summary_lines(MATCH, "A", "B", sprt)[-1] == summary.llr_line(
        sprt, sprt.llr((11, 4, 22, 3, 10))
    )


def test_the_json_of_a_match_has_the_figures_of_its_lines() -> None:
    """Estimates use pairs if there are any, and otherwise games."""
    unpaired = MatchCounts(wins=45, losses=48, draws=7)
    for counts, cells, error in (
        (MATCH, [11, 4, 22, 3, 10], "65.73"), (unpaired, None, "66.50"),
    ):  # fmt: skip
        figures = summary.match_dict({("A", "B"): counts}, ["A", "B"], None, None)
        assert figures["pentanomial"] == cells and figures["sprt"] is None
        assert f"{figures['elo']:.2f} +/- {figures['elo_error']:.2f}" == f"-10.43 +/- {error}"
        assert (figures["wins"], figures["losses"], figures["draws"]) == (45, 48, 7)


def test_without_penta_estimates_use_games() -> None:
    sprt = Sprt(0, 5)
    lines = summary.summary_lines(MATCH, "A", "B", sprt, penta=False)
    assert len(lines) == 5 and not any(line.startswith("Ptnml") for line in lines)
    assert lines[1] == "Elo: -10.43 +/- 66.50, nElo: -10.81 +/- 68.10"
    assert "DrawRatio: 7.00 %" in lines[2]
    assert lines[-1] == summary.llr_line(sprt, sprt.llr((48, 7, 45)))
    bayesian = Sprt(0, 5, model="bayesian")
    assert match_llr(bayesian, MATCH) == bayesian.llr((48, 7, 45))


def test_the_last_line_warns_of_too_few_pairs() -> None:
    one_pair, nine_pairs = (MatchCounts(wins=n, draws=n, wd=n) for n in (1, 9))
    for counts in (one_pair, nine_pairs):
        lines = summary.summary_lines(counts, "A", "B", Sprt(0, 5))
        assert lines[-1] == f"Too few pairs for a conclusion: {counts.pairs} (below 10)"
        assert "+/- 0.00" not in lines[1] and lines[5].startswith("LLR: ")
    lines = summary.summary_lines(one_pair, "A", "B", None, penta=False)
    assert lines[-1] == "Too few games for a conclusion: 2 (below 20)"
    enough = MatchCounts(wins=10, draws=10, wd=10)
    for penta in (True, False):
        lines = summary.summary_lines(enough, "A", "B", None, penta)
        assert not any("few" in line for line in lines)
    assert summary.match_dict({("A", "B"): one_pair}, ("A", "B"), None, None)["too_few"] is True


def test_a_large_field_has_a_rating_list_but_no_crosstable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(crosstable, "MAX_EXACT", 2)
    monkeypatch.setattr(ratings, "MAX_EXACT", 2)
    table = tabulate([*GAMES, GameScore("Xi", "Alpha", 0.5)])
    sentence = "The crosstable of 4 engines is left out (more than 2)"
    assert crosstable.results_text(table).startswith(sentence)
    assert csv_rows(table)[0][-1] == "group"
    players = crosstable.as_dict(table)["players"]
    xi = next(player for player in players if player["name"] == "Xi")
    assert [row["name"] for row in xi["against"]] == ["Alpha"]
    assert xi["against"][0]["draws"] == 1 and xi["against"][0]["superiority"] is None
    page = html.details(table, count_terminations([]))
    assert sentence in page and "cross" not in page.replace(sentence, "")


def test_no_summary_contains_nan() -> None:
    drawn, won = MatchCounts(draws=4, dd=2), MatchCounts(wins=4, ww=2)
    for counts in (
        MatchCounts(), drawn, won, won.reversed(), MatchCounts(wins=1, losses=1, wl=1),
        MatchCounts(wins=1),
    ):
        for penta in (True, False):
            text = "\n".join(summary.summary_lines(counts, "A", "B", Sprt(0, 5), penta))
            assert "nan" not in text.lower() and "-0.00" not in text
    assert "Elo: inf +/- inf, nElo: inf" in summary.summary_lines(won, "A", "B")[1]
    assert summary.summary_lines(drawn, "A", "B")[2] == (
        "LOS: 50.00 %, DrawRatio: 100.00 %, PairsRatio: 1.00"
    )


def test_a_table_has_the_same_values_as_text_csv_json_and_html() -> None:
    head = [Column("Name", "name", left=True), Column("Elo", "elo", "{:z.1f}"),
            Column("Score", form="{:.1%}"), Column("", "group")]
    table = Table("", head, [["<A>", -0.04, 0.5, 1], ["=B\x1b", None, None, 2]], "ranked")
    assert table.text() == "Name  Elo  Score\n<A>   0.0  50.0%\n=B?     -      -\n"
    assert table.csv() == "name,elo,group\n<A>,-0.04,1\n'=B?,,2\n"
    assert table.json() == [{"name": "<A>", "elo": -0.04, "group": 1},
                            {"name": "=B\x1b", "elo": None, "group": 2}]
    html = table.html()
    assert '<th scope="row">&lt;A&gt;</th><td>0.0</td><td>50.0%</td></tr>' in html
    assert '<th scope="row">=B?</th><td>–</td><td>–</td></tr>' in html


def test_a_narrow_table_cuts_names_and_then_leaves_out_columns() -> None:
    head = [Column("Name", left=True), *number_columns("Elo", "Games")]
    table = Table("", head, [["a long name of an engine", 1234, 100]])
    lines = [table.text(columns, ("Games", "Elo")).splitlines()[1] for columns in (30, 22, 10)]
    assert lines == ["a long name of...  1234    100", "a long name o...  1234", "a long ..."]


def test_every_engine_has_its_whole_name_beside_its_times() -> None:
    """In a former version, a chart shortened two engines to one label."""
    names = ("merels-with-many-threads-1", "merels-with-many-threads-2")
    times = {name: MoveTimes() for name in names}
    for engine in times.values():
        engine.used.extend([1_000_000, 5_000_000])
    page = html.times_section(times, TimeLosses())
    assert page.count("<svg") == 2 and all(f">{name}</th>" in page for name in names)
