"""A minimal Nine Men's Morris engine to copy from: rule set `mill`, search of one ply.

It passes `merels check`, and leaves draws to the client, which is the referee.
"""

import sys

# Points in the order of a position's first field; mills, in which adjacent points are neighbours.
POINTS = "d5 e5 e4 e3 d3 c3 c4 c5 d6 f6 f4 f2 d2 b2 b4 b6 d7 g7 g4 g1 d1 a1 a4 a7".split()
MILLS = [line.split() for line in (
    "a7 d7 g7,b6 d6 f6,c5 d5 e5,a4 b4 c4,e4 f4 g4,c3 d3 e3,b2 d2 f2,a1 d1 g1,"
    "a7 a4 a1,b6 b4 b2,c5 c4 c3,d7 d6 d5,d3 d2 d1,e5 e4 e3,f6 f4 f2,g7 g4 g1").split(",")]
STEPS = {step for a, b, c in MILLS for step in ((a, b), (b, a), (b, c), (c, b))}
OTHER = {"O": "@", "@": "O"}

Board = dict[str, str]  # the man on each point: O White, @ Black, * none
Position = tuple[Board, str, dict[str, int]]  # the board, the side to move, the men in hand


def in_mill(board: Board, point: str) -> bool:
    return any(point in mill and len({board[p] for p in mill}) == 1 for mill in MILLS)


def legal_moves(position: Position) -> dict[str, Position]:
    """Return every legal move with the position after it; none if the side to move has lost."""
    board, side, hands = position
    moves: dict[str, Position] = {}
    men = [point for point in POINTS if board[point] == side]
    if min([*board.values()].count(man) + hands[man] for man in OTHER) < 3:
        return moves
    for origin in [None] if hands[side] else men:
        for to in POINTS:
            if board[to] != "*" or origin and len(men) > 3 and (origin, to) not in STEPS:
                continue
            text = f"{origin}-{to}" if origin else to
            after = board | ({origin: "*"} if origin else {}) | {to: side}
            in_hand = hands if origin else hands | {side: hands[side] - 1}
            targets = [p for p in POINTS if after[p] == OTHER[side]] if in_mill(after, to) else []
            for p in [p for p in targets if not in_mill(after, p)] or targets:
                moves[f"{text}x{p}"] = after | {p: "*"}, OTHER[side], in_hand
            if not targets:
                moves[text] = after, OTHER[side], in_hand
    return moves


def read_position(words: list[str]) -> Position:
    """Parse the words after `position`; raise IndexError, KeyError or ValueError for mistakes."""
    end = words.index("moves") if "moves" in words else len(words)
    fen = "********/********/******** w 9 9 0 1".split() if words[0] == "startpos" else words[1:end]
    rings, side, white, black, _, _ = fen
    board, hands = rings.replace("/", ""), {"O": int(white), "@": int(black)}
    if set(board) - set("O@*") or any(not 0 <= hands[m] <= 9 - board.count(m) for m in OTHER):
        raise ValueError("expected O, @ and *, and at most nine men a side")
    position: Position = (
        dict(zip(POINTS, board, strict=True)), {"w": "O", "b": "@"}[side], hands
    )
    for move in words[end + 1 :]:
        position = legal_moves(position)[move]
    return position


def search(position: Position, words: list[str]) -> str:
    """Return the answer to `go`: the move that wins most men; among such moves, the move that
    leaves the opponent the fewest steps."""
    def value(move: str) -> int:
        board, opponent, _ = moves[move]
        men = [*board.values()]
        free = sum(board[a] == opponent and board[b] == "*" for a, b in STEPS)
        return 100 * (men.count(position[1]) - men.count(opponent)) - free

    moves = legal_moves(position)
    # Any legal move among the words after `go` follows `searchmoves`, so that word is not parsed.
    if not moves:
        return "info depth 0 score mate 0\nbestmove 0000"
    best = max([word for word in words if word in moves] or moves, key=value)
    return (f"info depth 1 score cp {value(best)} nodes {len(moves)} time 0 pv {best}\n"
            f"bestmove {best}")


def main() -> None:
    position, held = read_position(["startpos"]), ""
    sys.stdin.reconfigure(errors="replace")  # type: ignore[union-attr]
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    for line in sys.stdin:
        name, *words = line.split() or [""]
        if held and name in ("stop", "ponderhit", "go"):
            print(held)
            held = ""
        if name == "uci":
            print("id name Minimal\nid author merels\nuciok")
        elif name == "isready":
            print("readyok")
        elif name == "position":
            try:
                position = read_position(words)
            except (IndexError, KeyError, ValueError) as error:
                print(f"info string error {error!r}; the position stays")
        elif name == "go" and (not words or {"infinite", "ponder"} & set(words)):
            held = search(position, words)
        elif name == "go":
            print(search(position, words))
        elif name == "quit":
            break


if __name__ == "__main__":
    main()
