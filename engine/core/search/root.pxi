# The search of the root: aspiration windows, and the best move first in the next iteration.
#
# Needs search/parameters.pxi, search/search.pxi.

# Search the root's moves of one rank from index `start` on. Return the best value, and move the
# best move to index `start`.
cdef int search_root(Worker *w, const Board *b, int alpha, int beta, int depth,
                     int start) noexcept nogil:
    cdef int value = 0, best = -INFINITE, i, bound = UPPER, reduction
    cdef move_t move
    cdef Board after
    cdef uint64_t next_key, key = key_of(&w.game.rules, b)
    push_key(&w.game, b, key, 0)
    w.stack.free = w.stack_memory
    w.root_depth = depth
    for i in range(start, w.root_end[start]):
        move = w.root[i]
        make(b, move, &after)
        next_key = key_of(&w.game.rules, &after)
        if i > start:
            reduction = reduction_of(w, depth, i - start + 1, True, False)
            value = -search(w, &after, next_key, -alpha - 1, -alpha, depth - 1 - reduction, 1)
            if value > alpha and reduction and not w.stopped:
                value = -search(w, &after, next_key, -alpha - 1, -alpha, depth - 1, 1)
        if i == start or (value > alpha and value < beta and not w.stopped):
            value = -search(w, &after, next_key, -beta, -alpha, depth - 1, 1)
        if w.stopped:
            return 0
        if value > best:
            best = value
            if value > alpha or i == start:
                if i > start:
                    w.beaten_alpha = alpha
                w.root_value = value
                extend_pv(w, 0, move)
                move_forward(w, i, start)
            if value > alpha:
                alpha = value
                bound = EXACT
                if value >= beta:
                    bound = LOWER
                    break
    if start == 0 and w.whole_root:
        store(w.table, key, w.root[0] if bound != UPPER else NO_MOVE, best, depth, bound)
    return best


# Search one line of the root to a depth; return its value. The aspiration window is centred on
# `last_value`, that of the last iteration, and widened whenever the new value is outside.
cdef int search_line(Worker *w, const Board *b, int last_value, int depth,
                     int start) noexcept nogil:
    cdef int width = ASPIRATION_WINDOW, alpha = -INFINITE, beta = INFINITE, value
    if depth >= ASPIRATION_DEPTH and abs(last_value) < PROVEN:
        alpha = last_value - width
        beta = last_value + width
    w.beaten_alpha = -INFINITE
    while True:
        value = search_root(w, b, alpha, beta, depth, start)
        if w.stopped:
            return 0
        width = width * ASPIRATION_GROWTH // 100
        if value <= alpha:
            alpha = value - width if width < 2000 else -INFINITE
        elif value >= beta:
            beta = value + width if width < 2000 else INFINITE
        else:
            return value
        if alpha < -PROVEN:
            alpha = -INFINITE
        if beta > PROVEN:
            beta = INFINITE
