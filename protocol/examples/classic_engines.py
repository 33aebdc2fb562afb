"""Two classic engines in plain Python, free to copy: alpha-beta and Monte Carlo tree search.

    python -m merels.protocol.examples.classic_engines alphabeta
    python -m merels.protocol.examples.classic_engines mcts

They play `mill`, `morris` and `roman`, whose moves are the same, and leave draws to the client.
Both know only the rules, the number of men and the number of free steps.
"""

import math
import random
import sys
import threading
import time
from typing import NamedTuple

POINTS = "d5 e5 e4 e3 d3 c3 c4 c5 d6 f6 f4 f2 d2 b2 b4 b6 d7 g7 g4 g1 d1 a1 a4 a7".split()
INDEX = {name: index for index, name in enumerate(POINTS)}
LINES = [tuple(INDEX[name] for name in line.split()) for line in (
    "a7 d7 g7,b6 d6 f6,c5 d5 e5,a4 b4 c4,e4 f4 g4,c3 d3 e3,b2 d2 f2,a1 d1 g1,"
    "a7 a4 a1,b6 b4 b2,c5 c4 c3,d7 d6 d5,d3 d2 d1,e5 e4 e3,f6 f4 f2,g7 g4 g1").split(",")]
MILLS = [[sum(1 << p for p in line) for line in LINES if point in line] for point in range(24)]
STEPS = [[b for line in LINES for a, b in (line[:2], line[1::-1], line[1:], line[:0:-1])
          if a == point] for point in range(24)]
WIN = 10_000  # less the plies to the end
DEEPEST = 60  # depth in plies if `go` states none
GAMES_PER_PLY = 100  # limit of the tree search for each ply of depth
OUTPUT = threading.Lock()  # the search and the reader of commands print lines


def send(text: str) -> None:
    with OUTPUT:
        print(text)


class State(NamedTuple):
    """A position, seen by the side to move: masks of men, and men in hand."""

    own: int
    other: int
    hand: int
    other_hand: int


class Limit(NamedTuple):
    """Bounds of a search."""

    deadline: float
    nodes: float
    depth: int
    only: set[str]  # moves of `searchmoves`; empty: all
    stopped: threading.Event

    def is_over(self, nodes: int) -> bool:
        return nodes >= self.nodes or self.stopped.is_set() or time.monotonic() >= self.deadline


START = State(0, 0, 9, 9)


def points(mask: int) -> list[int]:
    return [point for point in range(24) if mask >> point & 1]


def closes(men: int, to: int) -> bool:
    return any(men & mill == mill for mill in MILLS[to])


def children(state: State) -> list[tuple[str, State]]:
    """Return each legal move with the position after it; none if the side to move has lost."""
    own, other, hand, other_hand = state
    if own.bit_count() + hand < 3:
        return []
    empty = points(~(own | other) & 0xFFFFFF)
    if hand:
        steps = [(-1, to) for to in empty]
    elif own.bit_count() == 3:
        steps = [(origin, to) for origin in points(own) for to in empty]
    else:
        steps = [(origin, to) for origin in points(own) for to in STEPS[origin] if to in empty]
    free = [point for point in points(other) if not closes(other, point)] or points(other)
    moves = []
    for origin, to in steps:
        after = (own if origin < 0 else own & ~(1 << origin)) | 1 << to
        text = POINTS[to] if origin < 0 else f"{POINTS[origin]}-{POINTS[to]}"
        hand_left = hand - (origin < 0)
        if closes(after, to) and other:
            moves += [
                (f"{text}x{POINTS[p]}", State(other & ~(1 << p), after, other_hand, hand_left))
                for p in free
            ]
        else:
            moves.append((text, State(other, after, other_hand, hand_left)))
    return moves


def evaluate(state: State) -> int:
    """Return the score for the side to move, in hundredths of a man."""
    own, other, hand, other_hand = state
    full = own | other
    free = sum(not full >> to & 1 for p in points(own) for to in STEPS[p])
    free -= sum(not full >> to & 1 for p in points(other) for to in STEPS[p])
    men = own.bit_count() + hand - other.bit_count() - other_hand
    return 100 * men + 3 * free


class AlphaBeta:
    """Iterative deepening; a table supplies the best move found before, to be tried first."""

    name = "Classic alpha-beta"

    def __init__(self) -> None:
        self.table: dict[State, tuple[int, int, str]] = {}
        self.nodes = 0

    def search(self, state: State, limit: Limit) -> str:
        """Print a line for each depth; return the best move."""
        self.table.clear()
        self.nodes, started = 0, time.monotonic()
        moves = [move for move, _ in children(state) if not limit.only or move in limit.only]
        if not moves:
            send(f"info depth 0 score {'cp 0' if children(state) else 'mate 0'}")
            return "0000"
        best = moves[0]
        for depth in range(1, limit.depth + 1):
            try:
                score = self.negamax(state, depth, -WIN, WIN, 0, limit)
            except TimeoutError:
                break
            best = self.table[state][2] if state in self.table else best
            milliseconds = round(1000 * (time.monotonic() - started))
            send(f"info depth {depth} score cp {score} nodes {self.nodes} "
                 f"time {milliseconds} pv {best}")
            if abs(score) > WIN - 100:
                break
        return best

    def negamax(
        self, state: State, depth: int, alpha: int, beta: int, ply: int, limit: Limit
    ) -> int:
        self.nodes += 1
        if ply > 1 and limit.is_over(self.nodes):
            raise TimeoutError
        moves = children(state)
        if not moves:
            return ply - WIN
        if depth == 0:
            return evaluate(state)
        if not ply and limit.only:
            moves = [move for move in moves if move[0] in limit.only]
        _, _, table_move = self.table.get(state, (0, 0, ""))
        moves.sort(key=lambda move: (move[0] != table_move, "x" not in move[0]))
        best, choice = -WIN, moves[0][0]
        for move, child in moves:
            score = -self.negamax(child, depth - 1, -beta, -alpha, ply + 1, limit)
            if score > best:
                best, choice = score, move
            alpha = max(alpha, best)
            if alpha >= beta:
                break
        self.table[state] = depth, best, choice
        return best


class Node:
    """A position in the tree; ``points`` belong to the side whose move led to it."""

    def __init__(self, state: State) -> None:
        self.state = state
        self.moves = children(state)
        self.children: list[Node] = []
        self.visits = 0
        self.points = 0.0


class Mcts:
    """UCT search; random games of at most 40 plies evaluate positions."""

    name = "Classic MCTS"

    def __init__(self) -> None:
        self.chance = random.Random()
        self.nodes = 0

    def search(self, state: State, limit: Limit) -> str:
        """Print a line at the end; return the move with the most visits."""
        self.chance.seed(1)  # The same search plays the same move.
        root, started = Node(state), time.monotonic()
        if limit.only:
            root.moves = [move for move in root.moves if move[0] in limit.only]
        if not root.moves:
            send(f"info depth 0 score {'cp 0' if children(state) else 'mate 0'}")
            return "0000"
        self.nodes, max_games = 0, GAMES_PER_PLY * limit.depth
        while root.visits < 2 or root.visits < max_games and not limit.is_over(self.nodes):
            path = [root]
            while path[-1].moves and len(path[-1].children) == len(path[-1].moves):
                path.append(self.select(path[-1]))
            node = path[-1]
            if node.moves:
                node.children.append(Node(node.moves[len(node.children)][1]))
                path.append(node.children[-1])
            result = 1 - self.playout(path[-1].state)
            for node in reversed(path):
                node.visits += 1
                node.points += result
                result = 1 - result
        visits = [child.visits for child in root.children]
        best = visits.index(max(visits))
        chosen = root.children[best]
        score = round(200 * (chosen.points / chosen.visits - 0.5))
        send(f"info depth 1 score cp {score} nodes {self.nodes} "
             f"time {round(1000 * (time.monotonic() - started))} pv {root.moves[best][0]}")
        return root.moves[best][0]

    def select(self, node: Node) -> Node:
        """Return the child with the best upper bound (Kocsis and Szepesvári, 2006)."""
        log = math.log(node.visits)
        return max(node.children, key=lambda child: (
            child.points / child.visits + math.sqrt(log / child.visits)
        ))

    def playout(self, state: State) -> float:
        """Play a random game; return the points of the side to move, from 0 to 1."""
        for ply in range(40):
            self.nodes += 1
            moves = children(state)
            if not moves:
                return float(ply % 2)
            # A mill is always closed: the results of purely random games are poor estimates.
            mills = [move for move in moves if "x" in move[0]]
            state = self.chance.choice(mills or moves)[1]
        return 1 / (1 + math.exp(-evaluate(state) / 100))


def read_position(words: list[str]) -> tuple[State, bool]:
    """Return the position of the words after `position`, and whether White is to move."""
    end = words.index("moves") if "moves" in words else len(words)
    state, is_white = START, True
    if words[0] != "startpos":
        board, side, white_hand, black_hand, _, _ = words[1:end]
        board = board.replace("/", "")
        white, black = (sum(1 << p for p in range(24) if board[p] == man) for man in "O@")
        is_white = {"w": True, "b": False}[side]
        state = State(white, black, int(white_hand), int(black_hand))
        if len(board) != 24 or set(board) - set("O@*") or any(
            not 0 <= hand <= 9 - men.bit_count()
            for men, hand in ((white, state.hand), (black, state.other_hand))
        ):
            raise ValueError("expected O, @ and *, and at most nine men a side")
        if not is_white:
            state = State(black, white, state.other_hand, state.hand)
    for move in words[end + 1 :]:
        state = dict(children(state))[move]
        is_white = not is_white
    return state, is_white


def limit_of(
    words: list[str], state: State, is_white: bool, stopped: threading.Event
) -> Limit:
    """Return the limit of the words after `go`; of a clock, use 1/20 plus half the increment."""
    values = {word: float(value) for word, value in zip(words, words[1:])
              if value.lstrip("-").isdigit()}
    seconds = math.inf
    if "movetime" in values:
        seconds = max(0.5 * values["movetime"], values["movetime"] - 20) / 1000
    clock, increment = ("wtime", "winc") if is_white else ("btime", "binc")
    if clock in values:
        seconds = min(seconds, values[clock] / 20_000 + values.get(increment, 0) / 2000)
    depth = int(values.get("depth", DEEPEST))
    only = set(words) & {move for move, _ in children(state)} if "searchmoves" in words else set()
    nodes = values.get("nodes", math.inf)
    return Limit(time.monotonic() + seconds, nodes, depth, only, stopped)


class Session:
    """The protocol: a search runs in a thread, so that `stop` and `quit` are read meanwhile."""

    def __init__(self, engine: AlphaBeta | Mcts) -> None:
        self.engine = engine
        self.position = START, True
        self.stopped = threading.Event()
        self.released = threading.Event()  # the bestmove may be sent
        self.thread: threading.Thread | None = None

    def go(self, words: list[str]) -> None:
        self.end()
        self.stopped.clear()
        self.released.clear()
        if words and "infinite" not in words and "ponder" not in words:
            self.released.set()
        limit = limit_of(words, *self.position, self.stopped)
        if "ponder" in words:
            limit = limit._replace(deadline=math.inf)
        self.thread = threading.Thread(target=self.search, args=(self.position[0], limit))
        self.thread.start()

    def search(self, state: State, limit: Limit) -> None:
        move = self.engine.search(state, limit)
        self.released.wait()
        send(f"bestmove {move}")

    def end(self) -> None:
        self.stopped.set()
        self.released.set()
        if self.thread is not None:
            self.thread.join()
            self.thread = None

    def take(self, line: str) -> bool:
        """Act on a line; return whether the program goes on."""
        name, *words = line.split() or [""]
        if name == "uci":
            send(f"id name {self.engine.name}\nid author merels\n"
                 "option name UCI_Variant type combo default mill var mill var morris var roman\n"
                 "uciok")
        elif name == "isready":
            send("readyok")
        elif name == "position":
            try:
                self.position = read_position(words)
            except (IndexError, KeyError, ValueError) as error:
                send(f"info string error {error!r}; the position stays")
        elif name == "go":
            self.go(words)
        elif name in ("stop", "ponderhit"):
            self.end()
        return name != "quit"


def main() -> None:
    engines: dict[str, type[AlphaBeta | Mcts]] = {"alphabeta": AlphaBeta, "mcts": Mcts}
    if len(sys.argv) != 2 or sys.argv[1] not in engines:
        sys.exit(f"expected one word after the command: {' or '.join(engines)}")
    sys.stdin.reconfigure(errors="replace")  # type: ignore[union-attr]
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    session = Session(engines[sys.argv[1]]())
    for line in sys.stdin:
        if not session.take(line):
            break
    session.end()


if __name__ == "__main__":
    main()
