# Proof of the shortest win by a search of all moves, without pruning or reductions.
#
# Repetitions of the game's history are draws. Repetitions within the line are ignored, because a
# shortest win never contains one; a result is therefore independent of the path.
#
# Needs bitboard.pxi, board.pxi, ends.pxi, movegen.pxi, search/transposition.pxi,
# search/movepick.pxi, search/state.pxi.

cdef uint64_t NO_KEY = <uint64_t>-1
cdef uint64_t BOTH_BOARDS = (<uint64_t>1 << 2 * POINT_COUNT) - 1


# The key of a proof's result in the transposition table. It is the key of no position, because the
# men of inverted boards overlap.
cdef inline uint64_t proof_key(const Game *game, uint64_t key) noexcept nogil:
    return key ^ BOTH_BOARDS ^ game.recurring


# Whether the side to move wins (`left` is odd) or loses (`left` is even) within `left` plies. False
# if the search is stopped.
cdef bint ends_within(Worker *w, const Board *b, uint64_t key, int left, int ply) noexcept nogil:
    cdef bint wins = left & 1, ends
    cdef int value, target = WIN - left if wins else left - WIN
    cdef move_t move
    cdef Probe known
    cdef Picker picker
    if begin_node(w, ply):
        return False
    if terminal_reason(&w.game, b, key, ply, &value):
        return value != 0 and not wins
    if left <= 0:
        return False
    probe(w.table, &w.game.rules, b, proof_key(&w.game, key), &known)
    if known.bound == LOWER and known.score >= target + (not wins):
        return wins
    if known.bound == UPPER and known.score <= target - wins:
        return not wins
    picker.threats = threats_on(&w.game.rules, b)
    start_picking(&picker, &w.stack, &w.game.rules, w.table, b, known.move, False)
    push_key(&w.game, b, NO_KEY, ply)
    ends = not wins
    while ends != wins:
        move = pick(&w.game.rules, w.table, &w.history, b, &picker, ply, False)
        if move == NO_MOVE:
            break
        ends = ends_within(w, &picker.after, picker.key, left - 1, ply + 1)
        if w.stopped:
            return False
    w.stack.free = picker.moves
    if ends == wins:
        store(w.table, proof_key(&w.game, key), move, target + (not wins), left, LOWER)
    else:
        store(w.table, proof_key(&w.game, key), NO_MOVE, target - wins, left, UPPER)
    return ends


# The index of the first move of a list that wins within `left` plies (`left` is odd), or avoids a
# loss within them (`left` is even). The list's size if no move does, or if the search is stopped.
cdef int find_move(Worker *w, const Board *b, const MoveList *list, int left,
                   int ply) noexcept nogil:
    cdef Board after
    cdef bint ends
    cdef int i
    push_key(&w.game, b, NO_KEY, ply)
    for i in range(list.size):
        make(b, list.moves[i], &after)
        ends = ends_within(w, &after, key_of(&w.game.rules, &after), left - 1, ply + 1)
        if w.stopped:
            break
        if ends == left & 1:
            return i
    return list.size


# Set the principal variation of the root's moves from `start` on: a line of `left` plies to the end
# of the game, the shortest win against the longest resistance.
cdef void show_end(Worker *w, const Board *b, MoveList *list, int left, int start) noexcept nogil:
    cdef Board now = b[0], after
    cdef int i, j, ply, plies_left
    for ply in range(left):
        plies_left = left - ply
        i = find_move(w, &now, list, plies_left if plies_left & 1 else plies_left - 2, ply)
        if i == list.size:
            return
        if ply == 0:
            for j in range(start + i, start, -1):
                w.root[j] = w.root[j - 1]
            w.root[start] = list.moves[i]
        w.pv[0][ply] = list.moves[i]
        w.pv_length[0] = ply + 1
        make(&now, list.moves[i], &after)
        now = after
        generate(&w.game.rules, &now, list, True, True)


# Return the exact value of a line of the root, if the search has found a win or a loss within the
# depth: the shortest win, or the longest loss. For any other line, and if the search is stopped,
# return `value`, which is the search's result.
cdef int nearest_end(Worker *w, const Board *b, int value, int depth, int start) noexcept nogil:
    cdef MoveList list
    cdef int i, left, plies = WIN - abs(value)
    # A level's wins may be errors. Beyond NEAR_DRAW plies, keys may lack the plies left to a draw
    # by counting.
    if w.has_errors or plies > min(depth, <int>NEAR_DRAW):
        return value
    list.size = w.root_end[start] - start
    for i in range(list.size):
        list.moves[i] = w.root[start + i]
    w.stack.free = w.stack_memory
    for left in range(1 if value > 0 else 2, plies, 2):
        i = find_move(w, b, &list, left, 0)
        if w.stopped:
            return value
        if (i < list.size) == (value > 0):
            show_end(w, b, &list, left, start)
            if w.stopped:
                return value
            return WIN - left if value > 0 else left - WIN
    return value
