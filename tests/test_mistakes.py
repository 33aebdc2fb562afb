"""Mistakes of users on the command line, each refused with an error that names it."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from merels.engine.search.levels import LEVELS
from tests.commands import MERELS, call, output, run_process
from tests.kit.rows import check_rows

ROOT = Path(__file__).parents[1]
PYTHON = shlex.quote(sys.executable)
MATCH = "-engine cmd=merels name=A -engine cmd=merels name=B -each tc=10+0.1"
MERELS_ENGINE = f"cmd={PYTHON} args='-m merels.protocol'"
SMALL_BOOK = "-positions 8 -nodes 3000"
TUNABLE = f"cmd={PYTHON} args='{ROOT}/tests/fakes/tunable.py Alpha=70 Beta=35' name=E depth=1"
TUNE_ONE = f"-engine {TUNABLE} -openings plies=4 -maxmoves 3 -param Alpha"
TUNE_THREE = f"{TUNE_ONE} -param Beta -param Noise"
ELO_RANGE = f"{LEVELS[0].elo} to {LEVELS[-1].elo}"

MISTAKES = (
    # tournament
    ("tournament -concurency 2", "-concurency", "did you mean -concurrency?"),
    ("tournament --rouds 2", "--rouds", "did you mean -rounds?"),
    ("tournament -engine comd=a", "comd=", "did you mean cmd?"),
    ("tournament -engine './a mill'", "expected cmd= after -engine; did you mean 'cmd=./a mill'?"),
    ("tournament -engine cmd=a cmd=b", "'cmd=b': cmd= is given twice; begin each engine with"),
    ("tournament -pgnout file=x apend=true", "apend=", "did you mean append?"),
    ("tournament hello", "hello", "expected a flag"),
    *((f"tournament {MATCH} {flag}", f"'{flag}': expected file=")
      for flag in ("-journal", "-pgnout", "-log")),
    ("tournament -rounds x", "'x'", "whole number", "-rounds"),
    ("tournament -rounds 0", "'0'", "from 1"),
    ("tournament -rounds", "'-rounds'", "expected a value after"),
    ("tournament -rounds 2 3", "'3'", "after -rounds 2, which takes one value"),
    ("tournament -rounds 2 games 4", "'games'", "after -rounds 2", "did you mean -games?"),
    ("tournament -noswap 1", "'1'", "after -noswap, which takes no value"),
    ("tournament -tournament swis", "did you mean swiss?"),
    ("tournament -variant mil", "'mil'", "loc, mill"),
    ("tournament -set Flying=up", "'up'", "one of never, own, both"),
    (f"tournament -tb {'9' * 400}", "merels tables build"),
    ("tournament -engine name=x", "no cmd="),
    ("tournament -engine cmd=merels -engine cmd=merels", "'-engine'", "no limit for merels"),
    ("tournament -version", "unknown flag"),
    ("tournament -engine cmd=a 'name= ' nodes=1", "printable characters"),
    ("tournament -engine cmd=merels name=A nodes=1", "'-engine'", "at least two engines, found 1"),
    (f"tournament {MATCH} -seeds 1", "'-seeds'", "-tournament gauntlet"),
    (f"tournament {MATCH} -openings start=9", "'start='", "file= as well"),
    (f"tournament {MATCH} -openings plies=-1", "plies=", "0 to"),
    (f"tournament {MATCH} -openings plies=4 order=sequential", "'order='", "file= as well"),
    (f"tournament {MATCH} -openings format=pgn", "'format='", "file= as well"),
    (f"tournament {MATCH} -executor a:b -log l engine=true", "-log engine=", "-executor"),
    ("tournament -each tc=1+1 st=1", "not both"),
    ("tournament -each tc=inf", "no limit"),
    ("tournament -each name=x", "one name"),
    ("tournament -each restart=maybe", "'maybe'", "true or false"),
    ("tournament -each proto=xboard", "'xboard'", "uci, ugi, sanmill"),
    ("tournament -each dir=/no/such/folder nodes=1", "/no/such/folder", "no such folder"),
    ("tournament -sprt elo0=0", "-sprt"),
    (f"tournament {MATCH} -sprt elo0=5 elo1=0", "elo0 < elo1"),
    (f"tournament {MATCH} -sprt elo0=0 elo1=5 model=logist", "did you mean"),
    (f"tournament {MATCH} -resign movecount=3", "score="),
    (f"tournament {MATCH} -shard 4/3", "'4'", "from 1 to 3"),
    (f"tournament {MATCH} -shard 4", "i/n"),
    (f"tournament {MATCH} -use-affinity 4000", "processor 4000"),
    (f"tournament {MATCH} -use-affinity -concurrency 900", "-concurrency 900"),
    (f"tournament {MATCH} -executor here", "module:factory"),
    ("tournament -openings file=/no/such format=pos", "cannot read", "/no/such"),
    ("tournament -engine level=Clb", "'Clb'", "perfect", ELO_RANGE, "did you mean Club?"),
    ("tournament -engine level=perfct", "did you mean perfect?"),
    ("tournament -engine level=9999", "'9999'", ELO_RANGE),
    ("tournament -engine level=Club cmd=merels", "'level=Club'", "leave out level= or cmd="),
    ("tournament -engine level=Club args=-x", "leave out level= or args="),
    ("tournament -engine level=Club option.uci_elo=900", "leave out level= or option.uci_elo="),
    ("tournament -engine name=A", "cmd=", "level="),
    ("tournament ./engine", "or -openings; an engine is given as -engine cmd=./engine"),
    # perft
    ("perft x", "'x'"),
    ("perft -1", "-1"),
    ("perft 3 -variant chess", "'chess'"),
    ("perft 3 -variant ''", "'': expected a rule set"),
    ("perft 3 -set Flying", "'Flying'"),
    ("perft 3 -set Flying=high", "'high'"),
    ("perft 3 -set Repetition=1", "'Repetition=1': expected 0 (off) or at least 2 occurrences"),
    ("perft -set Flying=never 3", "'3'; put other words before -set"),
    ("perft 3 -position nonsense", "'nonsense'"),
    ("perft 3 -position 'startpos moves d6 d6'", "'d6' (token 1)"),
    ("perft", "DEPTH"),
    # analyse
    ("analyse nonsense", "'nonsense'"),
    ("analyse -depth 0", "'0'"),
    ("analyse -hash x", "'x'"),
    ("analyse -hash 100000000 -depth 1", "'100000000'"),
    ("analyse -multipv 9999999999", "from 1 to 64, found '9999999999'"),
    ("analyse -threads 1000000", "from 1 to 256, found '1000000'"),
    (f"analyse -movetime {'9' * 17}", f"found '{'9' * 17}'"),
    (f"analyse -nodes {'9' * 30}", f"found '{'9' * 30}'"),
    # eval
    ("eval startpos moves zz", "'zz'"),
    # d
    ("d -variant x", "'x'"),
    # bench
    ("bench 13", "13"),
    # play
    ("play -level 9999", "'9999'"),
    ("play -time 0", "'0'"),
    ("play -time nan", "'nan'"),
    ("play -colour red", "'red'"),
    ("play -variant chess", "'chess'"),
    ("play -position x", "'x'"),
    # check
    ("check -engine cmd=./no-such-engine", "'./no-such-engine' is not in"),
    ("check", "expected one engine to check"),
    ("check -engine cmd=x -engine cmd=y", "'-engine': expected one engine to check"),
    (f"check -engine cmd={PYTHON} 'args=-c '\"'\"''\"'\"''",
     "does not start (exit code 0)"),
    (f"check -engine cmd={PYTHON} 'args=-c '\"'\"'import no_such_module'\"'\"''",
     "No module named 'no_such_module'"),
    ("check -engine cmd=x colour=red", "expected cmd=, args="),
    ("check -engine cmd=x proto=sanmill", "expected uci, ugi"),
    ("check -engine proto=uci", "expected cmd="),
    ("check -engine cmd=x -only go-dept", "did you mean go-depth?"),
    ("check -engine cmd=x -only ''", "'': no step or group has that name; -list prints them all"),
    ("check -engine cmd=x -variant chess", "'chess': expected"),
    ("check -timeout 0", "expected seconds from 0.001 to 3600, found '0'"),
    (f"check -engine {MERELS_ENGINE} option.Hsh=2", "'option.Hsh=2': no such option; did you mean"),
    (f"check -engine {MERELS_ENGINE} option.Hash=x", "'option.Hash=x': option Hash takes a whole"),
    ("check './my engine'", "an engine is given as -engine cmd='./my engine'"),
    # stats
    ("stats -wld 35 6 5", "'35 6 5': expected whole numbers separated by commas, W,L,D, for -wld"),
    ("stats -wld 35,6,5 -sprt elo0=0", "'elo0=0': expected elo0,elo1 or elo0=N elo1=N"),
    ("stats -wld 35,6,5 -sprt elo0=0,elo1=5,elo1=6", "'elo1=6': expected each of elo0="),
    ("stats -wld 35,6,5 -sprt elo0=0,elo2=5", "'elo2=5': expected each of elo0="),
    ("stats -wld 35,6,5 -sprt 'elo0=0 elo1=5 beta=1' -beta 0.1", "'beta=1': expected"),
    ("stats", "-wld"),
    ("stats -wld 1,2", "W,L,D"),
    ("stats -wld 1,2,x", "'x'"),
    ("stats -wld -1,2,3", "'-1': expected a whole number"),
    ("stats -wld 1.5,2,3", "'1.5': expected a whole number"),
    (f"stats -wld {'9' * 5000},1,1", "from 0 to 1000000000000000"),
    ("stats -ptnml 1,2,3", "a,b,c,d,e"),
    ("stats -wld 1,2,3 -ptnml 1,2,3,4,5", "not allowed"),
    ("stats -wld 1,2,3 -sprt 0", "elo0,elo1"),
    ("stats -wld 1,2,3 -sprt 5,0", "elo0 < elo1"),
    ("stats -wld 1,2,3 -sprt 0,nan", "'nan'"),
    ("stats -wld 1,2,3 -sprt 0,5 -alpha 2", "for -alpha"),
    ("stats -wld 1,2,3 -sprt 0,5 -beta b", "beta"),
    ("stats -wld 1,2,3 -sprt 0,5 -model pentanomial", "normalized"),
    ("stats -wld 1,2,3 -model logistic", "-sprt"),
    ("stats -ptnml 1,2,3,2,1 -sprt 0,5 -model bayesian", "bayesian"),
    ("stats -wld 1,2,3 -sprtt 0,5", "-sprtt"),
    ("stats -wld", "-wld"),
    # tune
    (f"tune {TUNE_THREE} -param Alpa", "'-param Alpa': E has no such option; did you mean Alpha?"),
    (f"tune {TUNE_THREE} -param Zoom",
     "'-param Zoom': E has no such option; it has Alpha, Beta, Noise"),
    (f"tune {TUNE_THREE} -param Style",
     "'-param Style': expected an option of type spin, this one is a c"),
    (f"tune {TUNE_THREE} -param alpha", "'-param Alpha': this option is given twice"),
    (f"tune {TUNE_THREE} -param", "'-param': expected the name of a spin option"),
    (f"tune {TUNE_ONE} -param Alpha min=60 max=20",
     "'-param Alpha': expected min= below max=, found 60 and 20"),
    (f"tune {TUNE_ONE} -param Alpha min=-5",
     "'-5': expected a whole number from 0 to 100 for min= of -param Alpha"),
    (f"tune {TUNE_ONE} -param Alpha start=101",
     "'101': expected a whole number from 0 to 100 for start= of -param"),
    (f"tune {TUNE_ONE} -param Alpha c_end=0",
     "'0': expected a number from 0.5 to 50 for c_end= of -param Alpha"),
    (f"tune {TUNE_ONE} -param Alpha step=3", "'step=': unknown key for -param"),
    (f"tune {TUNE_THREE} -engine cmd=x depth=1", "'-engine': expected one engine to tune, found 2"),
    (f"tune {TUNE_THREE} -sprt elo0=9", "expected SPRT elo0 < elo1"),
    (f"tune {TUNE_THREE} -rounds 9", "'-rounds': unknown flag"),
    (f"tune {TUNE_THREE} -pairs 0", "'0': expected a whole number from 1 to 1000000 for -pairs"),
    (f"tune {TUNE_THREE} -spsa alpha=x", "'x': expected a number from 0 to 2 for -spsa alpha="),
    (f"tune {TUNE_THREE} -spsa beta=1", "'beta=': unknown key for -spsa"),
    (f"tune {TUNE_THREE} -out nowhere/x.html", "cannot write this file: there is no such folder"),
    # book
    (f"book {SMALL_BOOK} -plies 0-4", "plies from 1 to 12"),
    (f"book {SMALL_BOOK} -plies 9-4", "plies from 1 to 12"),
    (f"book {SMALL_BOOK} -plies 4-x", "a whole number"),
    (f"book {SMALL_BOOK} -srand -1", "a whole number"),
    (f"book {SMALL_BOOK} -variant chess", "a rule set"),
    (f"book {SMALL_BOOK} -out /nowhere/at/all.pos", "cannot write this file"),
    (f"book {SMALL_BOOK} -positions 100001", "from 1 to 100000"),
    # tables
    ("tables build -men 5", "expected a whole number from 6 to 18, found '5'"),
    ("tables build -men 6 -memory 0.001", "GiB of memory"),
    ("tables build -men 6 -memory nan", "expected GiB from 0.001 to 100000"),
    ("tables stats -dir .", "no usable tables here; make them with merels tables build -all"),
    ("tables probe nonsense", "expected"),
    ("tables probe startpos -tables x", "merels tables probe: unrecognized arguments: -tables x"),
    ("tables stats -dir . -set Colour=red", "expected a rule field"),
    # league
    ("league", "expected the league's folder first"),
    ("league none", "there is no league here"),
    ("league league plya", "did you mean play?"),
    ("league league create -each st=1", "this file exists"),
    ("league league add", "expected -engine"),
    ("league new create -each nodes=9 -engine level=Club", "'-engine': unknown flag"),
    ("league league add -engine level=Club", "has a player of this name"),
    ("league league add -engine level=Club name=X rules=no", "for rules= of X"),
    ("league league add -engine level=Club name=-C", "a name without a dash in front"),
    ("league league retire", "'retire': expected the name of a player"),
    ("league league return", "'return': expected the name of a player"),
    ("league league retire Clbu", "did you mean Club?"),
    ("league league play -error x", "expected Elo from 0.1 to 1000 for -error"),
    ("league league status now", "status takes no arguments"),
    ("league league merge ./league", "expected a copy of the league, found the league itself"),
    ("league new create", "nodes= or depth= to -engine or -each"),
    ("league new create -each st=1 -anchor Club", "NAME=ELO"),
    ("league new create -each st=1 -anchor A=1 -anchor A=2",
     "'A=2': -anchor already states 1 for this player"),
)  # fmt: skip
"""Command lines, and parts of their errors. The folder `league` has a league."""


def check(words: str, *parts: str) -> None:
    """Check that a command line is refused without output, and that its error has these parts.

    A line has one error; a command line with several names them all.
    """
    done = call(*shlex.split(words))
    assert (done.returncode, done.stdout) == (2, ""), done
    start = re.compile(f"merels {words.split()[0]}( build| probe)?: ")
    assert done.stderr and all(map(start.match, done.stderr.splitlines())), done.stderr
    for part in parts:
        assert part in done.stderr, (part, done.stderr)


def test_a_mistake_is_refused_with_an_error_that_names_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setenv("MERELS_TABLES", str(tmp_path / "tables"))
    output("league", "league", "create", "-each", "nodes=9")
    output("league", "league", "add", "-engine", "level=Club", "-engine", "level=Master")
    check_rows(MISTAKES, check)
    assert [path.name for path in folder.iterdir()] == ["league"]


def test_each_command_ends_its_process_with_the_status_of_a_mistake() -> None:
    def check_process(words: str, *parts: str) -> None:
        done = run_process(*shlex.split(words))
        assert (done.returncode, done.stdout) == (2, "") and parts[0] in done.stderr, done

    # Rows of `league` need a league in the working directory.
    rows = {
        words.split()[0]: (words, *parts) for words, *parts in MISTAKES
        if not words.startswith("league")
    }
    assert len(rows) >= 10
    check_rows(rows.values(), check_process)


@pytest.mark.skipif(os.name != "posix", reason="removes the working directory of a shell")
def test_a_deleted_working_directory_is_named(tmp_path: Path) -> None:
    """In a former version, the error was that standard output cannot be written."""
    script = 'mkdir gone && cd gone && rmdir ../gone && exec "$@"'
    for words in (f"tournament {MATCH}", "league ratings create -each nodes=1"):
        done = subprocess.run(
            ["sh", "-c", script, "sh", *MERELS, *shlex.split(words)], cwd=tmp_path,
            capture_output=True, text=True, timeout=300,
        )  # fmt: skip
        error = f"merels {words.split()[0]}: the working directory was deleted; change to another"
        assert (done.returncode, done.stdout) == (1, "") and done.stderr.startswith(error), done
