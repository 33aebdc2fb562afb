# Quiescence: where the search ends, mills are closed until it is quiet.
#
# Needs search/state.pxi.

# Quiescence: only moves that remove a man, until none is worth playing.
cdef int quiesce(Worker *w, const Board *b, uint64_t key, int alpha, int beta,
                 int ply) noexcept nogil:
    cdef int value, best, i, size
    cdef uint32_t threats
    cdef scored_t *moves
    cdef Board after
    assert key == key_of(&w.game.rules, b) and alpha < beta and 0 <= ply <= MAX_PLY
    if begin_node(w, ply):
        return 0
    if end_of(&w.game, b, key, ply, &value):
        return value

    # Stand pat: no side is forced to close a mill.
    best = evaluate_node(w, b, key)
    if best >= beta or ply >= MAX_PLY:
        return best
    threats = own_threats(&w.game.rules, b)
    if threats == 0:
        return best
    if best > alpha:
        alpha = best
    moves = push_removals(&w.stack, &w.game.rules, b, threats, &size)
    enter(&w.game, b, key, ply)
    for i in range(size):
        if is_overlooked(w, <move_t>moves[i].bits, ply):
            continue
        make(b, <move_t>moves[i].bits, &after)
        value = -quiesce(w, &after, key_of(&w.game.rules, &after), -beta, -alpha, ply + 1)
        if w.stopped:
            return 0
        if value > best:
            best = value
            if value > alpha:
                alpha = value
                if value >= beta:
                    break
                extend_pv(w, ply, <move_t>moves[i].bits)
    w.stack.free = moves
    assert -WIN <= best <= WIN
    return best
