# For tests: the order in which a node searches its moves.
#
# Needs search/movepick.pxi, search/state.pxi.

def ordered_moves(tuple rules not None, tuple fields not None, move_t table_move=NO_MOVE,
                  cutoffs=(), int ply=1):
    cdef RuleSet rule_set = load_rules(rules)
    cdef Board b = load_board(fields)
    cdef MoveList legal
    cdef MoveStack stack
    cdef Picker picker
    cdef int i, at, depth, count
    cdef move_t move, quiet
    cdef move_t failed[MAX_QUIETS]
    cdef History *history
    if either_below_minimum(&b):
        raise ValueError("the game is over")
    generate(&rule_set, &b, &legal, True, True)
    if not 0 < ply <= MAX_PLY or table_move != NO_MOVE and not contains(&legal, table_move):
        raise ValueError(f"impossible ply {ply}, or illegal move {table_move}")
    history = <History *>calloc(1, sizeof(History))
    stack.free = <scored_t *>malloc((MAX_MOVES + UNROLL) * sizeof(scored_t))
    picker.moves = stack.free
    ordered = []
    try:
        if history == NULL or stack.free == NULL:
            raise MemoryError
        memset(history.killers, 0xFF, sizeof(history.killers))
        for at, depth, move, quiets in cutoffs:
            count = 0
            for quiet in list(quiets)[:MAX_QUIETS]:
                failed[count] = quiet
                count += 1
            if not 0 < at <= MAX_PLY or not 0 < depth <= MAX_DEPTH:
                raise ValueError(f"impossible ply {at} or depth {depth}")
            record_cutoff(history, at, depth, move, failed, count)
        picker.threats = threats_on(&rule_set, &b)
        start_picking(&picker, &stack, &rule_set, NULL, &b, table_move, False)
        while True:
            move = pick(&rule_set, NULL, history, &b, &picker, ply, False)
            if move == NO_MOVE:
                return ordered
            ordered.append(move)
    finally:
        free(history)
        free(picker.moves)
