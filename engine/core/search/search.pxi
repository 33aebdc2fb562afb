# The search of a node: principal variation search with pruning, reductions and extensions, and
# quiescence search at its leaves.
#
# The techniques are those of chess engines, with their names from www.chessprogramming.org.
#
# Needs tablebase/table_set.pxi, search/movepick.pxi, search/state.pxi, search/parameters.pxi.

cdef void load_reductions(Worker *w) noexcept nogil:
    cdef int depth, move_count
    memset(w.reductions, 0, sizeof(w.reductions))
    for depth in range(1, REDUCTIONS):
        for move_count in range(1, REDUCTIONS):
            w.reductions[depth][move_count] = <int>(
                REDUCTION_BASE / 100.0 + log(depth) * log(move_count) / (REDUCTION_DIVISOR / 100.0)
            )


# Whether the tablebase has a value that ends the search of this node. Near a draw by a limit on
# plies, it may have only a bound.
cdef inline bint settled_by_tables(Worker *w, const Board *b, int alpha, int beta, int ply,
                                   int *value) noexcept nogil:
    cdef int least, greatest
    # Positions with an odd number of men in hand are not stored, but their children are.
    if b.own_total + b.opponent_total >= w.table_men or (b.own_hand + b.opponent_hand) & 1:
        return False
    if not table_bounds(w.tables, b, &least, &greatest):
        return False
    w.table_hits += 1
    value[0] = least * (TABLE_WIN - ply) if least == greatest else 0
    return least == greatest or (least == 0 and beta <= 0) or (greatest == 0 and alpha >= 0)


# Late move reductions: the plies by which a move's first search is shallower. The reduction is a
# ply less for `favoured` moves (at the root all moves, elsewhere removals and urgent moves), and a
# ply less in PV nodes.
cdef inline int reduction_of(const Worker *w, int depth, int move_count, bint favoured,
                             bint pv_node) noexcept nogil:
    cdef int reduction
    if depth < REDUCTION_DEPTH:
        return 0
    reduction = w.reductions[min(depth, REDUCTIONS - 1)][min(move_count, REDUCTIONS - 1)]
    return max(0, min(reduction - favoured - pv_node, depth - 2))


# Whether the opponent threatens a mill on exactly one point and the side to move cannot close one.
cdef inline bint must_block(uint64_t threats) noexcept nogil:
    cdef uint32_t danger = threats >> 32
    return <uint32_t>threats == 0 and danger != 0 and (danger & (danger - 1)) == 0


# Quiescence search: only moves that remove a man.
cdef int quiesce(Worker *w, const Board *b, uint64_t key, int alpha, int beta,
                 int ply) noexcept nogil:
    cdef int value, best, i, size
    cdef uint32_t threats
    cdef scored_t *moves
    cdef Board after
    assert key == key_of(&w.game.rules, b) and alpha < beta and 0 <= ply <= MAX_PLY
    if begin_node(w, ply):
        return 0
    if terminal_reason(&w.game, b, key, ply, &value):
        return value

    # Stand pat: a side is rarely forced to remove a man.
    best = evaluate_node(w, b, key)
    if best >= beta or ply >= MAX_PLY:
        return best
    threats = own_threats(&w.game.rules, b)
    if threats == 0:
        return best
    if best > alpha:
        alpha = best
    moves = push_removals(&w.stack, &w.game.rules, b, threats, &size)
    push_key(&w.game, b, key, ply)
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


# Search a board to a depth; return its value, exact inside the window and a bound outside.
cdef int search(Worker *w, const Board *b, uint64_t key, int alpha, int beta, int depth,
                int ply) noexcept nogil:
    cdef uint64_t next_key
    cdef int margin, next_depth, reduction, bound = UPPER, enough_quiets = MAX_QUIETS + 1
    cdef int value, best = -INFINITE, move_count = 0, quiet_count = 0
    cdef bint quiet, pv_node = beta - alpha > 1
    cdef move_t move, best_move = NO_MOVE
    cdef move_t quiets_searched[MAX_QUIETS]
    cdef Probe entry
    cdef Picker picker
    cdef const Board *after = &picker.after

    # 1. Quiescence search at leaves.
    if depth <= 0:
        return quiesce(w, b, key, alpha, beta, ply)
    assert key == key_of(&w.game.rules, b) and 0 < ply <= MAX_PLY and depth <= MAX_DEPTH
    assert -INFINITE <= alpha < beta <= INFINITE
    if begin_node(w, ply):
        return 0

    # 2. The end of the game.
    if terminal_reason(&w.game, b, key, ply, &value):
        return value
    if ply >= MAX_PLY:
        return evaluate_node(w, b, key)

    # 3. Mate-distance pruning: cut if no win from here can be shorter than a win already found.
    if alpha < -WIN + ply:
        alpha = -WIN + ply
    if beta > WIN - ply - 1:
        beta = WIN - ply - 1
    if alpha >= beta:
        return alpha

    # 4. The tablebase.
    if w.tables != NULL and settled_by_tables(w, b, alpha, beta, ply, &value):
        return value

    # 5. Reverse futility pruning: near the leaves, cut if the evaluation is far above beta. The
    # evaluation is uncertain, so the result is halfway to beta. It is less certain in the placing
    # phase, so the margin is larger there. This step precedes the transposition table, because most
    # of these nodes have no entry: a probe would only wait for memory.
    if depth <= FUTILITY_DEPTH and not pv_node and abs(beta) < MAX_EVALUATION:
        value = evaluate_node(w, b, key)
        margin = FUTILITY_MARGIN * depth
        if b.own_hand + b.opponent_hand:
            margin += PLACING_MARGIN
        if value - margin >= beta:
            return (value + beta) // 2

    # 6. The transposition table: outside PV nodes, an entry of sufficient depth and suitable bound
    # ends the search.
    probe(w.table, &w.game.rules, b, key, &entry)
    if entry.bound:
        value = score_from_table(entry.score, ply)
        if not pv_node and entry.depth >= depth:
            if entry.bound == EXACT or (entry.bound == LOWER and value >= beta) or (
                    entry.bound == UPPER and value <= alpha):
                return value

    # 7. Internal iterative reduction: without a table entry move ordering is poor, and a shallower
    # search stores a move for the next iteration.
    elif depth >= IIR_DEPTH:
        depth -= 1

    # 8. ProbCut: in the placing phase, cut if a shallower search is far above beta (Buro, ICCA
    # Journal 18, 1995). In the moving phase it gains nothing.
    if not pv_node and depth >= PROBCUT_DEPTH and b.own_hand + b.opponent_hand and (
            abs(beta) < MAX_EVALUATION - PROBCUT_MARGIN) and (
            evaluate_node(w, b, key) >= beta):
        margin = PROBCUT_MARGIN
        value = search(w, b, key, beta + margin - 1, beta + margin, depth - PROBCUT_REDUCTION, ply)
        if w.stopped:
            return 0
        if value >= beta + margin:
            return value if value >= LEAST_WIN else value - margin

    picker.threats = threats_on(&w.game.rules, b)
    start_picking(&picker, &w.stack, &w.game.rules, w.table, b, entry.move, depth > 1)

    # 9. Extension: one ply if the side to move must block a mill. Extensions end at a multiple of
    # the iteration's depth.
    next_depth = depth - 1
    if ply < EXTENSION_PLIES * w.root_depth and must_block(picker.threats):
        next_depth += 1

    # 10. Late move pruning: near the leaves, skip the remaining quiet moves after a number of quiet
    # moves have failed. Not if own men fly: they have too many moves for a fixed number.
    if depth <= PRUNING_DEPTH and not pv_node and not own_flies(&w.game.rules, b):
        enough_quiets = PRUNING_COUNT + depth * depth

    # 11. Loop over the moves in order.
    push_key(&w.game, b, key, ply)
    while True:
        move = pick(&w.game.rules, w.table, &w.history, b, &picker, ply, next_depth > 0)
        if move == NO_MOVE:
            assert w.has_errors or move_count == count_generated(&w.game.rules, b)
            break
        if is_overlooked(w, move, ply):
            continue
        quiet = not is_removal(move)
        if quiet_count >= enough_quiets and quiet and not picker.urgent and best > -LEAST_WIN:
            break
        next_key = picker.key
        move_count += 1
        if move_count == 1:
            value = -search(w, after, next_key, -beta, -alpha, next_depth, ply + 1)
        else:
            # 12. Principal variation search: a later move gets a reduced search with a null window.
            # If this search fails high, the next one has full depth, then also the full window.
            reduction = reduction_of(w, depth, move_count, picker.urgent or not quiet, pv_node)
            value = -search(w, after, next_key, -alpha - 1, -alpha, next_depth - reduction,
                            ply + 1)
            if value > alpha and reduction and not w.stopped:
                value = -search(w, after, next_key, -alpha - 1, -alpha, next_depth, ply + 1)
            if value > alpha and value < beta and not w.stopped:
                value = -search(w, after, next_key, -beta, -alpha, next_depth, ply + 1)
        if w.stopped:
            return 0
        if value > best:
            best = value
            if value > alpha:
                alpha = value
                best_move = move
                bound = EXACT
                if pv_node:
                    extend_pv(w, ply, move)
                if value >= beta:
                    bound = LOWER
                    if quiet:
                        record_cutoff(&w.history, ply, depth, move, quiets_searched, quiet_count)
                    break
        if quiet and quiet_count < MAX_QUIETS:
            quiets_searched[quiet_count] = move
            quiet_count += 1

    # 13. Store the result. If a strength level overlooks all moves, return the evaluation.
    w.stack.free = picker.moves
    if unlikely(move_count == 0):
        return evaluate_node(w, b, key)
    assert -WIN <= best <= WIN
    store(w.table, key, best_move, score_to_table(best, ply), depth, bound)
    return best
