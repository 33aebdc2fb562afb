# The search of the root: aspiration windows, and the best move first in the next iteration.
#
# Needs ends.pxi, search/parameters.pxi, search/search.pxi.

cdef enum:
    WIDEST_WINDOW = 2000     # hundredths of a man from the value to a bound; beyond, no bound

# The penalty of a root move, in hundredths of a man: REPETITION_PENALTY if the board after it
# occurred in the game, because a fallible opponent may err after another move. Strength levels
# (`has_errors`) have no penalty. A board recurs after four plies without a removal at the earliest.
cdef int repetition_penalty(const Worker *w, const Board *after, uint64_t key) noexcept nogil:
    if after.plies < 4 or after.own_hand | after.opponent_hand or w.has_errors:
        return 0
    return REPETITION_PENALTY if is_in_game(&w.game, key) else 0


# Search the board after a root move; a value that is no win or loss is less by the penalty.
cdef int search_root_move(Worker *w, const Board *after, uint64_t key, int alpha, int beta,
                          int depth, int penalty) noexcept nogil:
    cdef int low = alpha + penalty if abs(alpha) < LEAST_WIN else alpha
    cdef int high = beta + penalty if abs(beta) < LEAST_WIN else beta
    cdef int value = -search(w, after, key, -high, -low, depth, 1)
    return value - penalty if abs(value) < LEAST_WIN else value


# The value of a root move without the penalty.
cdef int unpenalized(const Worker *w, const Board *b, move_t move, int value) noexcept nogil:
    cdef Board after
    make(b, move, &after)
    if abs(value) >= LEAST_WIN:
        return value
    return value + repetition_penalty(w, &after, key_of(&w.game.rules, &after))


# Search the root's moves of one rank from index `start` on. Return the best value, and move the
# best move to index `start`.
cdef int search_root(Worker *w, const Board *b, int alpha, int beta, int depth,
                     int start) noexcept nogil:
    cdef int value = 0, best = -INFINITE, i, bound = UPPER, reduction, penalty
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
        penalty = repetition_penalty(w, &after, next_key)
        if i > start:
            reduction = reduction_of(w, depth, i - start + 1, True, False)
            value = search_root_move(w, &after, next_key, alpha, alpha + 1, depth - 1 - reduction,
                                     penalty)
            if value > alpha and reduction and not w.stopped:
                value = search_root_move(w, &after, next_key, alpha, alpha + 1, depth - 1, penalty)
        if i == start or (value > alpha and value < beta and not w.stopped):
            value = search_root_move(w, &after, next_key, alpha, beta, depth - 1, penalty)
        if w.stopped:
            return 0
        if value > best:
            best = value
            if value > alpha or i == start:
                if i > start:
                    w.alpha_before_best = alpha
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
    w.alpha_before_best = -INFINITE
    while True:
        value = search_root(w, b, alpha, beta, depth, start)
        if w.stopped:
            return 0
        width = width * ASPIRATION_GROWTH // 100
        if value <= alpha:
            alpha = value - width if width < WIDEST_WINDOW else -INFINITE
        elif value >= beta:
            beta = value + width if width < WIDEST_WINDOW else INFINITE
        else:
            return value
        if alpha < -PROVEN:
            alpha = -INFINITE
        if beta > PROVEN:
            beta = INFINITE
