"""The board in a real browser: playing, opening, analysing and reviewing games."""

from __future__ import annotations

import os
import random
import re
import signal
from typing import Any


from merels.engine.game.notation import parse_position, play_moves
from merels.engine.game.position import Position
from merels.engine.game.rules import preset
from merels.protocol.formats.pgn.reader import parse_record
from tests.kit.waiting import wait
from tests.kit.webdriver import Browser
from tests.processes import needs_proc
from tests.protocol.board.server import Server
from tests.protocol.board.steps import (
    ANALYST,
    BEGINNER,
    BUSY,
    FLYERS,
    PERSON,
    ask,
    begin,
    click,
    enter,
    expect_refusal,
    is_open,
    load,
    moves,
    play,
    shot,
    tap_menu,
)


def test_a_move_can_be_played_as_soon_as_the_page_is_open(page: Browser) -> None:
    play(page, "d6")
    assert moves(page)[0] == "d6"


def test_a_game_is_played_to_its_end_by_clicking(page: Browser) -> None:
    """Both sides have few men, so that they soon place their last men, move and fly."""
    begin(page, black=BEGINNER, position="O*@*****/*O*@*O**/**@*O**@ w 2 2 0 8")
    generator = random.Random(5)
    clicks = 0
    # Prefer a target of the picked man to picking another man.
    points = """const all = (marks) => [...document.querySelectorAll(`.point${marks}`)]
                  .map((point) => point.dataset.point);
                const next = all(":has(.target, .remove)");
                return next.length ? next : all("[aria-disabled=false]");"""
    enabled = "document.querySelectorAll('.point[aria-disabled=false]').length"
    over = "/wins,|Draw/.test(document.getElementById('status').textContent)"
    while not page.run(f"return {over}"):
        page.wait(f"{enabled} || {over}")
        choices = page.run(points)
        if not choices:
            continue
        html = page.run("return document.querySelector('#board').innerHTML")
        click(page, generator.choice(choices))
        clicks += 1
        wait(lambda: page.run("return document.querySelector('#board').innerHTML") != html
             or page.run(points) != choices, 60, "the effect of a click")
        assert clicks < 400
    record = parse_record(ask(page, "export")["record"])
    assert [str(move) for move in record.moves] == moves(page)
    outcome = record.final().outcome()
    assert outcome is not None and outcome.result == record.result
    assert str(outcome) in page.text("#status")
    shot(page, "game-over")


def test_the_status_asks_for_a_removal_only_after_a_mill(page: Browser) -> None:
    begin(page)
    page.run(
        """window.texts = [];
           const status = document.getElementById("status");
           new MutationObserver(() => texts.push(status.textContent))
             .observe(status, {childList: true, subtree: true});"""
    )
    for point in ("a7", "a1", "d7", "d1"):
        play(page, point)
    prompt = "White: place a man. Last: d1."
    page.wait(f"document.getElementById('status').textContent === {prompt!r}")
    texts = page.run("return texts")
    assert len(texts) == 4 and texts[0] == "Black: place a man. Last: a7."
    play(page, "g7", "d1")
    assert page.run("return texts")[4].startswith("Mill! Remove a black man.")


def test_a_mill_is_closed_and_a_man_removed_by_clicking(page: Browser) -> None:
    begin(page)
    for point in ("a7", "a1", "d7", "d1"):
        play(page, point)
    click(page, "g7")
    page.wait_for_count(".ring.remove", 2)
    assert "Remove a black man" in page.text("#status")
    assert page.run("return document.querySelector('[data-point=a1]').ariaLabel").endswith(
        "black man, can be removed"
    )
    shot(page, "remove")
    # Other points are ignored; Esc cancels the choice, which can be made again.
    click(page, "b4")
    assert len(moves(page)) == 4
    page.key("Escape")
    page.wait_for_count(".ring.remove", 0)
    play(page, "g7", "d1")
    assert moves(page)[-1] == "g7xd1"
    assert page.run("return document.querySelectorAll('#board .gone').length") == 2
    assert page.run("return document.querySelectorAll('[data-point=d1] .man').length") == 0


def test_a_point_shows_the_value_of_its_best_move(page: Browser) -> None:
    # The four removals after f6-f4 are a win, a draw, a loss, and one of unknown value.
    drawn = page.run(
        """return (async () => {
             const [{ Board }, { Choice }, { svg }] =
               await Promise.all(["board/board", "board/choice", "dom"]
                 .map((name) => import(`./${name}.js`)));
             const points = ["f6", "f4", "d6", "a4", "c5", "e3", "e5"];
             const board = new Board(svg("svg"), [...points, "d7"], {});
             const values = { "f6-f4xa4": "loss", "f6-f4xc5": "win", "f6-f4xe3": "draw" };
             const others = { "f6-d6xa4": "loss", "f6-d6xe3": "draw" };
             const legal = [...Object.keys(values), "f6-f4xe5", ...Object.keys(others)];
             const choice = new Choice(legal);
             const seen = [];
             for (const point of ["f6", "f4"]) {
               choice.pick(point);
               board.draw({ white: ["f6"], black: ["a4", "c5", "e3", "e5"], side: 0, last: null,
                            choice, values: { ...values, ...others } });
               for (const [name, group] of board.groups) {
                 if (!group.querySelector(".target, .remove")) continue;
                 const mark = group.querySelector(".value");
                 seen.push([group.ariaLabel, mark ? mark.getAttribute("class") : ""]);
               }
             }
             return seen;
           })()"""
    )
    assert sorted(drawn) == [
        ["a4, black man, can be removed: proven loss", "value loss"],
        ["c5, black man, can be removed: proven win", "value win"],
        ["d6, empty, move here: proven draw", "value draw"],
        ["e3, black man, can be removed: proven draw", "value draw"],
        ["e5, black man, can be removed", ""],
        ["f4, empty, move here: proven win", "value win"],
    ]


def test_two_men_are_removed_one_after_the_other(page: Browser) -> None:
    begin(page)
    text = "O*******/O**@@@**/*O**@@@O w 4 3 0 5"
    load(page, f'[Variant "multi"]\n[FEN "{text}"]\n[SetUp "1"]\n\n*')
    page.wait_for_count(".man", 10)
    click(page, "d7")
    page.wait("document.querySelectorAll('.ring.remove').length > 0")
    moves_on_d7 = [move for move in map(str, parse_position(text, preset("multi")).legal_moves())
                   if move.startswith("d7x")]
    _, first, second = moves_on_d7[0].split("x")
    click(page, first)
    page.wait(f"!document.querySelector('[data-point={first}] .man')")
    play(page, second)
    assert moves(page) == [moves_on_d7[0]]


def test_men_are_dragged(page: Browser) -> None:
    begin(page)
    page.drag(".hand.live", "[data-point=d6] .hit")
    page.wait_for_count("#moves button", 1)
    load(page, FLYERS)
    page.wait_for_count(".man", 6)
    page.wait_for_count(".flying", 2)
    # The man may fly to any empty point; a drag to an occupied point is cancelled.
    page.drag("[data-point=d6] .hit", "[data-point=d1] .hit")
    page.wait_for_count(".picked", 0)
    page.drag("[data-point=d6] .hit", "[data-point=b2] .hit")
    page.wait_for_count("#moves button", 1)
    assert moves(page) == ["d6-b2"]


def test_another_movable_man_is_labelled_while_a_man_is_picked(page: Browser) -> None:
    begin(page)
    load(page, FLYERS)
    page.wait_for_count(".man", 6)
    click(page, "d6")
    page.wait_for_count(".picked", 1)
    other = page.run(
        "const point = document.querySelector('[data-point=d7]');"
        "return [point.ariaDisabled, point.ariaLabel]"
    )
    assert other == ["false", "d7, white man, can move"]


def test_the_result_that_a_record_states_is_shown(page: Browser) -> None:
    load(page, "1. d6 f4 1-0")
    status = "Recorded result: 1-0. Last: f4."
    page.wait(f"document.getElementById('status').textContent === {status!r}")


def test_titles_of_moves_are_the_comments_of_the_current_game(page: Browser) -> None:
    begin(page)
    title = "document.querySelector('#moves button')?.title"
    for comment in ("bold", "timid"):
        load(page, f"1. d6 {{{comment}}} f4 *")
        page.wait(f"{title} === {comment!r}")


def test_the_board_can_be_played_with_the_keyboard_only(page: Browser) -> None:
    begin(page)
    page.run("document.querySelector('[data-point=d7]').focus()")
    for key in ("ArrowDown", "ArrowRight", "Enter"):
        page.key(key)
    page.wait_for_count("#moves button", 1)
    assert moves(page) == ["f6"]
    page.run("document.activeElement.blur()")
    page.key("u")
    page.wait_for_count("#moves .variations button", 1)
    page.key("t")
    page.wait("document.getElementById('player-top').dataset.side === '0'")
    page.key("t")
    labels = page.run(
        "return [...document.querySelectorAll('#board .point')].map((p) => p.ariaLabel)"
    )
    assert len(labels) == 24 and all("empty, place here" in label for label in labels)


def test_every_point_can_be_reached_with_arrow_keys(page: Browser) -> None:
    reached = {"d7"}
    pending = ["d7"]
    page.run("document.querySelector('[data-point=d7]').focus()")
    focus = "const p = document.querySelector(`[data-point=${arguments[0]}]`); p.focus();"
    press = (
        "p.dispatchEvent(new KeyboardEvent('keydown', {key: arguments[1], bubbles: true}));"
        "return document.activeElement.dataset.point"
    )
    while pending:
        point = pending.pop()
        for key in ("ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown"):
            focused = page.run(focus + press, point, key)
            if focused not in reached:
                reached.add(focused)
                pending.append(focused)
    assert len(reached) == 24


def test_a_game_is_opened_and_shared(page: Browser) -> None:
    load(page, "1. 5 14\n2. 2 11 3. 1 77 *")
    page.wait("document.getElementById('import-fault').textContent")
    fault = "'77': expected points from 1 to 24, found 77 (move 3, Black, line 2)"
    assert page.text("#import-fault") == fault
    expect_refusal(page)
    shot(page, "import-fault")
    enter(page, "#import-text", "1. 5 14\n2. 2 11 3. 8x14 *")
    page.click("#import-go")
    page.wait(f"!{is_open('import')}")
    page.wait_for_count("#moves button", 5)
    assert moves(page) == ["d6", "f4", "d7", "b4", "d5xf4"]
    tap_menu(page, "share")
    page.wait("document.getElementById('share-text').value")
    assert "1. d6 f4 2. d7 b4 3. d5xf4 *" in page.run(
        "return document.getElementById('share-text').value"
    )
    shot(page, "share-game")
    enter(page, "#share-form", "playok")
    text = page.run("return document.getElementById('share-text').value")
    assert "1. 5 14 2. 2 11 3. 8x14 *" in text
    page.key("Escape")
    page.click("#first")
    page.wait_for_count(".man", 0)
    page.click("#forward")
    page.wait_for_count(".man", 1)
    page.click("#last")
    page.wait_for_count(".man", 4)


def test_the_analysis_is_updated_while_the_engine_thinks(page: Browser) -> None:
    begin(page)
    tap_menu(page, "analyse")
    page.wait_for_count("#lines li", 3)
    page.wait_for_count(".arrow", 3)
    facts = page.text("#facts-more")
    page.wait(f"document.getElementById('facts-more').textContent !== {facts!r}")
    assert re.fullmatch(r"[-+]\d\.\d\d", page.text("#lines b"))
    shot(page, "analysis")
    lines = page.text("#lines")
    play(page, "d6")
    page.wait_for_count(".arrow", 3)
    page.wait(f"document.getElementById('lines').textContent !== {lines!r}")
    tap_menu(page, "play")
    page.wait_for_count(".arrow", 0)


def test_the_switch_hides_and_shows_the_evaluation(page: Browser) -> None:
    begin(page)
    play(page, "d6")
    tap_menu(page, "analyse")
    page.wait_for_count("#lines li", 3)
    page.click("#evaluation")
    page.wait_for_count("#lines li, .arrow", 0)
    play(page, "f4")
    assert page.run("return document.querySelectorAll('#lines li, .arrow').length") == 0
    page.click("#evaluation")
    page.wait_for_count("#lines li", 3)


def test_leaving_the_page_sends_one_beacon_only(server: Server, page: Browser) -> None:
    page.run(
        """sessionStorage.texts = "";
           const note = (way, body) => { sessionStorage.texts += `${way} ${body} `; };
           window.fetch = (path) => { note("fetch", path); return Promise.reject(); };
           const send = navigator.sendBeacon.bind(navigator);
           navigator.sendBeacon = (path, body) => {
             note("beacon", `${path} ${body.type} ${send(path, body)}`);
           };"""
    )
    page.open(server.address + "theme.css")
    assert page.run("return sessionStorage.texts") == "beacon api/hidden application/json true "
    page.open(server.address)
    page.wait_for_count(".target", 24)
    # A page restored from the browser's cache reopens its stream.
    page.run(
        """window.dispatchEvent(new PageTransitionEvent("pagehide", {persisted: true}));
           window.dispatchEvent(new PageTransitionEvent("pageshow", {persisted: true}));"""
    )
    play(page, "d6")


def test_sixty_scores_per_second_do_not_slow_the_page(page: Browser) -> None:
    begin(page)
    ask(page, "players", players=[PERSON, PERSON, BUSY])
    tap_menu(page, "analyse")
    page.wait_for_count(".arrow", 3)
    # However many events arrive, the page is drawn at most once per frame.
    counted = page.run(
        """return new Promise((done) => {
             let changes = 0, frames = 0;
             const watch = new MutationObserver(() => { changes += 1; });
             watch.observe(document.getElementById("facts-more"), {childList: true, subtree: true});
             requestAnimationFrame(function frame() {
               frames += 1;
               if (changes < 20) requestAnimationFrame(frame);
               else { watch.disconnect(); done({changes, frames}); }
             });
           })"""
    )
    assert counted["changes"] <= counted["frames"] + 1
    # The page still responds, and the engine can be stopped.
    play(page, "d6")
    tap_menu(page, "play")
    page.wait_for_count(".arrow", 0)
    assert page.run("return document.getElementById('trouble').hidden")


def test_two_tabs_play_two_games_at_once(server: Server, page: Browser) -> None:
    first = page.tab()
    begin(page)
    play(page, "d6")
    second = page.new_tab()
    page.set_view(1280, 860)
    page.open(server.address)
    page.wait_for_count(".target", 24)
    begin(page)
    for point in ("a1", "a4", "g7"):
        play(page, point)
    page.move_to(first)
    play(page, "f4")
    assert moves(page) == ["d6", "f4"]
    page.move_to(second)
    play(page, "g1")
    assert moves(page) == ["a1", "a4", "g7", "g1"]
    # A reloaded page shows the same game.
    page.open(server.address)
    page.wait_for_count("#moves button", 4)
    page.keep_tab(first)


@needs_proc
def test_a_killed_engine_is_reported_and_can_be_restarted(server: Server, page: Browser) -> None:
    begin(page, black={"engine": 0, "level": "full"})
    ask(page, "evaluation", on=True)
    players = [PERSON, {"engine": 0, "level": "full"}, ANALYST]
    ask(page, "players", players=players, time={"kind": "move", "seconds": 60})
    play(page, "d6")
    session = page.run("return sessionStorage.getItem('board')")

    def searches(info: dict[str, Any]) -> bool:
        return info["role"] == "Black"

    with server.stream(session) as stream:
        stream.until("info", searches)
        os.kill(server.engines()[-1], signal.SIGKILL)
        page.wait("!document.getElementById('trouble').hidden")
        assert page.text("#trouble-text") == "Black: the engine has gone: killed by SIGKILL"
        shot(page, "killed")
        page.click("#restart")
        page.wait("document.getElementById('trouble').hidden")
        stream.until("info", searches)
    ask(page, "evaluation", on=False)
    ask(page, "players", players=[PERSON, BEGINNER, ANALYST])
    page.wait_for_count("#moves button", 2)


def test_a_game_is_reviewed(page: Browser) -> None:
    # White misses a winning mill, and Black closes one and wins.
    load(
        page,
        '[Variant "morris"]\n[FEN "OO******/*****@**/@@***O** w 0 0 0 20"]\n[SetUp "1"]\n\n'
        "20. a1-g1 b2-a7xd5 0-1",
    )
    page.wait_for_count("#moves button", 2)
    page.click("#review")
    page.wait_for_count("#graph polygon", 1)
    page.wait("!/Judging/.test(document.getElementById('verdict').textContent)")
    page.wait("document.querySelector('#moves button.blunder')?.dataset.node === '1'")
    page.click("#moves button[data-node='1']")
    page.wait("/a1-g1: Blunder, proven: a1-c5x.. was better/.test("
              "document.getElementById('verdict').textContent)")
    # The bar shows the review's result while no engine thinks.
    page.click("#evaluation")
    page.wait("document.getElementById('bar').getAttribute('aria-valuenow') === '0'")
    shot(page, "review")


def test_engines_play_a_game(page: Browser) -> None:
    tap_menu(page, "new")
    page.wait(is_open("new"))
    page.run("document.querySelector('#new-dialog details').open = true")
    shot(page, "new-game")
    for field, value in (
        ("player-0", "1"), ("player-1", "0"), ("variant", "multi"), ("time", "0"),
        ("level-1", "Beginner"),
    ):
        enter(page, f"#{field}", value)
    page.click("#begin")
    page.wait("document.querySelectorAll('#moves button').length > 20")
    page.wait("/(wins|Draw)/.test(document.getElementById('status').textContent)")
    record = parse_record(ask(page, "export")["record"])
    assert str(record.start.rules) == "multi" and record.tags["White"] == "Fake"
    assert record.tags["Black"] == "merels (Beginner)"
    position = Position(rules=record.start.rules)
    assert play_moves(position, moves(page)).outcome() is not None
