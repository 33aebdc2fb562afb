# Proof of the shortest win, or of the longest loss, by a search of all moves without pruning or
# reductions.
#
# Positions of the game before the root are draws if they recur as often as the rules require.
# Repetitions within the line are ignored, because a shortest win never contains one; a result is
# therefore independent of the path.
#
# Needs bitboard.pxi, board.pxi, ends.pxi, movegen.pxi, search/transposition.pxi,
# search/movepick.pxi, search/state.pxi.

cdef uint64_t NO_KEY = <uint64_t>-1          # key of no position: nothing repeats it
cdef uint64_t BOTH_BOARDS = (<uint64_t>1 << 2 * POINT_COUNT) - 1


# The key of a proof's result in the transposition table. It inverts both sides' masks, so that no
# position has this key: the men overlap. The hash of recurring positions, which change results, is
# XORed in; if there are any, a collision with a position is improbable, not impossible.
cdef inline uint64_t proof_key(const Game *game, uint64_t key) noexcept nogil:
    return key ^ BOTH_BOARDS ^ game.recurring


# Whether the side to move wins (`plies` is odd) or loses (`plies` is even) within `plies` plies.
# False if the search is stopped. The table stores a win as a value of at least `beta`, and a loss
# as a value below it.
cdef bint ends_within(Worker *w, const Board *b, uint64_t key, int plies, int ply) noexcept nogil:
    cdef bint wins = plies & 1, ends
    cdef int value, beta = WIN - plies if wins else plies - WIN + 1
    cdef move_t move
    cdef Probe entry
    cdef Picker picker
    if begin_node(w, ply):
        return False
    if terminal_reason(&w.game, b, key, ply, &value):
        return value != 0 and not wins
    if plies <= 0:
        return False
    probe(w.table, &w.game.rules, b, proof_key(&w.game, key), &entry)
    if entry.bound == LOWER and entry.score >= beta:
        return wins
    if entry.bound == UPPER and entry.score < beta:
        return not wins
    picker.threats = threats_on(&w.game.rules, b)
    start_picking(&picker, &w.stack, &w.game.rules, w.table, b, entry.move, False)
    push_key(&w.game, b, NO_KEY, ply)
    ends = not wins
    while ends != wins:
        move = pick(&w.game.rules, w.table, &w.history, b, &picker, ply, False)
        if move == NO_MOVE:
            break
        ends = ends_within(w, &picker.after, picker.key, plies - 1, ply + 1)
        if w.stopped:
            return False
    w.stack.free = picker.moves
    if ends == wins:
        store(w.table, proof_key(&w.game, key), move, beta, plies, LOWER)
    else:
        store(w.table, proof_key(&w.game, key), NO_MOVE, beta - 1, plies, UPPER)
    return ends


# The index of the first move of a list that wins within `plies` plies (`plies` is odd), or that
# avoids a loss within them (`plies` is even). The list's size if there is no such move, or if the
# search is stopped.
cdef int find_move(Worker *w, const Board *b, const MoveList *list, int plies,
                   int ply) noexcept nogil:
    cdef Board after
    cdef bint ends
    cdef int i
    push_key(&w.game, b, NO_KEY, ply)
    for i in range(list.size):
        make(b, list.moves[i], &after)
        ends = ends_within(w, &after, key_of(&w.game.rules, &after), plies - 1, ply + 1)
        if w.stopped:
            break
        if ends == plies & 1:
            return i
    return list.size


# Set the principal variation to a line of `plies` plies to the end of the game, and move its first
# move, one of the root's moves from `start` on, to index `start`. The winner plays for the shortest
# line, the loser for the longest.
cdef void set_line_to_end(Worker *w, const Board *b, MoveList *list, int plies,
                          int start) noexcept nogil:
    cdef Board current = b[0], after
    cdef int i, ply, plies_left
    for ply in range(plies):
        plies_left = plies - ply
        i = find_move(w, &current, list, plies_left if plies_left & 1 else plies_left - 2, ply)
        if i == list.size:
            return
        if ply == 0:
            move_forward(w, start + i, start)
        w.pv[0][ply] = list.moves[i]
        w.pv_length[0] = ply + 1
        make(&current, list.moves[i], &after)
        current = after
        generate_all(&w.game.rules, &current, list)


# Return the exact value of a line of the root if the search has found a win or a loss within the
# depth: the shortest win, or the longest loss. Otherwise, or if the search is stopped, return
# `value`, the result of the search.
cdef int exact_end(Worker *w, const Board *b, int value, int depth, int start) noexcept nogil:
    cdef MoveList list
    cdef int i, shorter, plies = WIN - abs(value)
    # A win that a strength level finds may be an error. Beyond NEAR_DRAW plies, keys may lack the
    # plies left to a draw by a limit.
    if w.has_errors or plies > min(depth, <int>NEAR_DRAW):
        return value
    list.size = w.root_end[start] - start
    for i in range(list.size):
        list.moves[i] = w.root[start + i]
    w.stack.free = w.stack_memory
    for shorter in range(1 if value > 0 else 2, plies, 2):
        i = find_move(w, b, &list, shorter, 0)
        if w.stopped:
            return value
        if (i < list.size) == (value > 0):
            set_line_to_end(w, b, &list, shorter, start)
            if w.stopped:
                return value
            return WIN - shorter if value > 0 else shorter - WIN
    return value
