# The search: iterative deepening, principal variation search, quiescence over mill closures.

cdef extern from *:
    """
    #if defined(_WIN32)
      #include <windows.h>
      static int64_t merels_now(void) {
          LARGE_INTEGER count, rate;
          QueryPerformanceCounter(&count);
          QueryPerformanceFrequency(&rate);
          return (int64_t)((double)count.QuadPart * 1e9 / (double)rate.QuadPart);
      }
    #else
      #include <time.h>
      static int64_t merels_now(void) {
          struct timespec t;
          clock_gettime(CLOCK_MONOTONIC, &t);
          return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
      }
    #endif
    """
    int64_t now "merels_now"() noexcept nogil

from libc.math cimport log

cdef enum:
    WIN = 32000              # less the plies to the end of the game
    PROVEN = 31000           # scores beyond this are proven wins or losses, their end in sight
    TABLE_WIN = 30000        # less the plies to a position that a table knows as won
    FAR = 29000              # scores beyond this count plies from the root
    MOST_EVALUATION = 20000
    INFINITE = 32001
    MAX_DEPTH = 120
    MAX_PLY = 160
    MAX_HISTORY = 512        # positions of the game that may recur
    CHECK_EVERY = 512        # nodes between looks at the clock
    MOST_LINES = 64          # principal variations reported at once

cdef enum:
    FUTILE_DEPTH = 5
    FUTILE_MARGIN = 60       # hundredths of a man for each ply

cdef enum:
    ORDER_CLOSING = 1 << 24
    ORDER_KILLER = 1 << 22
    MOST_ORDER = 1 << 14

cdef struct Worker:
    RuleSet rules
    Table *table
    const Tables *tables                     # of perfect play; NULL: none are asked
    int table_men                            # they are asked for boards with fewer men than this
    uint64_t table_hits
    const int *stop                          # shared by all workers of a search
    uint64_t nodes
    uint64_t node_limit
    int64_t deadline                         # nanoseconds
    bint stopped
    int seldepth
    int noise                                # half-width of a random error in evaluations
    uint64_t noise_seed
    int greed                                # a level's own worth of a man more
    int freedom                              # and of a step more
    int base                                 # index of the root in path
    uint64_t path[MAX_HISTORY + MAX_PLY + 8]
    move_t killers[MAX_PLY + 8][2]
    int32_t order[2][25][24]                 # success of quiet moves: side, origin, to
    move_t pv[MAX_PLY + 8][MAX_PLY + 8]
    int pv_length[MAX_PLY + 8]
    int root_size
    move_t root[MAX_MOVES]
    int root_end[MAX_MOVES]                 # where the moves of the same rank end
    bint whole_root                          # the first line is chosen from all legal moves
    int reductions[64][64]

cdef struct Picker:
    int stage
    int next
    bint chosen              # the best of the rest stands at `next` already
    move_t first                             # the table's move
    MoveList list
    int32_t scores[MAX_MOVES]


cdef void load_reductions(Worker *w) noexcept nogil:
    cdef int depth, index
    for depth in range(64):
        for index in range(64):
            w.reductions[depth][index] = 0
            if depth and index:
                w.reductions[depth][index] = <int>(0.4 + log(depth) * log(index) / 2.1)


# Whether the search must end now; looks at the clock only now and then.
cdef inline bint must_stop(Worker *w) noexcept nogil:
    if w.stopped:
        return True
    if w.nodes >= w.node_limit:
        w.stopped = True
    elif (w.nodes & (CHECK_EVERY - 1)) == 0:
        if read_shared(w.stop) or now() >= w.deadline:
            w.stopped = True
    return w.stopped


# Whether a position that stands at this ply of the path is a draw by repetition. Within the search
# the first recurrence counts: what can be repeated once can be repeated again. Positions of the
# game itself count as often as the rules say.
cdef inline bint repeats(const Worker *w, uint64_t key, int ply, int plies) noexcept nogil:
    cdef int at = w.base + ply
    cdef int distance = 4
    cdef int seen = 1
    assert 0 <= ply and 0 <= w.base <= MAX_HISTORY
    while distance <= plies and distance <= at:
        if (w.path[at - distance] ^ key) << 8 == 0:
            if distance <= ply:
                return True
            seen += 1
            if w.rules.repetition and seen >= w.rules.repetition:
                return True
        distance += 2
    return w.rules.repetition == 1


cdef enum:
    GOES_ON = 0
    BY_MEN = 1
    BY_BLOCKING = 2
    BY_THREE = 3
    BY_PLIES = 4
    BY_REPETITION = 5


# Whether and why a position ends the game, and its value then.
cdef inline int end_of(const Worker *w, const Board *b, uint64_t key, int ply,
                       int *value) noexcept nogil:
    cdef const RuleSet *rules = &w.rules
    if unlikely(count(b.own) + b.own_hand < 3):
        value[0] = -WIN + ply
        return BY_MEN
    if unlikely(not can_move(rules, b)):
        value[0] = 0 if rules.blocked_draws else -WIN + ply
        return BY_BLOCKING
    value[0] = 0
    if (b.plies == 0 and rules.repetition != 1) or (b.own_hand | b.opponent_hand):
        return GOES_ON
    if repeats(w, key, ply, b.plies):
        return BY_REPETITION
    if rules.three_three_plies and b.plies >= rules.three_three_plies:
        if count(b.own) == 3 and count(b.opponent) == 3:
            return BY_THREE
    if rules.no_removal_plies and b.plies >= rules.no_removal_plies:
        return BY_PLIES
    return GOES_ON


cdef inline int score_to_table(int score, int ply) noexcept nogil:
    return score + ply if score >= FAR else score - ply if score <= -FAR else score


cdef inline int score_from_table(int score, int ply) noexcept nogil:
    return score - ply if score >= FAR else score + ply if score <= -FAR else score


cdef inline int evaluate_node(const Worker *w, const Board *b, uint64_t key) noexcept nogil:
    cdef int value = evaluate_board(&w.rules, b)
    cdef uint64_t mixed
    cdef uint32_t empty
    if w.greed:
        value += w.greed * (count(b.own) + b.own_hand - count(b.opponent) - b.opponent_hand)
    if w.freedom:
        empty = ALL & ~(b.own | b.opponent)
        value += w.freedom * (count_steps(b.own, empty) - count_steps(b.opponent, empty))
    if w.noise:
        mixed = (key ^ w.noise_seed) * 0xD6E8FEB86659FD93ull
        mixed ^= mixed >> 32
        mixed *= 0xD6E8FEB86659FD93ull
        value += <int>((mixed >> 33) % (2 * w.noise + 1)) - w.noise
    if value > MOST_EVALUATION:
        return MOST_EVALUATION
    return value if value > -MOST_EVALUATION else -MOST_EVALUATION


# Where a move's origin stands in the ordering statistics; placements have a row of their own.
cdef inline int order_slot(move_t move) noexcept nogil:
    cdef int origin = origin_of(move)
    assert origin == NOWHERE or origin < POINT_COUNT
    return origin if origin != NOWHERE else 24


# Order moves that close a mill: first those that take a man which holds an open line.
cdef inline void score_closing(const Board *b, Picker *p) noexcept nogil:
    cdef uint32_t empty = ALL & ~(b.own | b.opponent)
    cdef uint32_t useful
    cdef int i, taken
    useful = threats_of(b.opponent, empty, True)
    for i in range(p.list.size):
        p.scores[i] = ORDER_CLOSING
        taken = removed_of(p.list.moves[i])
        if taken != NOWHERE and useful:
            p.scores[i] += 4 * (count(PARTNERS[taken][0] & useful)
                                + count(PARTNERS[taken][1] & useful))
        if second_removed_of(p.list.moves[i]) != NOWHERE:
            p.scores[i] += 16


# Order quiet moves: killers, moves that stop a mill, then by their success elsewhere.
cdef inline void score_quiet(const Worker *w, const Board *b, Picker *p, int ply) noexcept nogil:
    cdef uint32_t empty = ALL & ~(b.own | b.opponent)
    cdef uint32_t danger = threats_of(
        b.opponent, empty, b.opponent_hand or opponent_flies(&w.rules, b))
    cdef int i
    cdef move_t move
    for i in range(p.list.size):
        move = p.list.moves[i]
        if move == w.killers[ply][0]:
            p.scores[i] = ORDER_KILLER + 1
        elif move == w.killers[ply][1]:
            p.scores[i] = ORDER_KILLER
        else:
            p.scores[i] = w.order[ply & 1][order_slot(move)][to_of(move)]
        if (danger >> to_of(move)) & 1:
            p.scores[i] += ORDER_KILLER


# Move the best of the moves from `next` on to `next`.
cdef inline void choose(Picker *p) noexcept nogil:
    cdef int i, best = p.next
    cdef move_t move
    cdef int32_t score
    assert 0 <= p.next < p.list.size <= MAX_MOVES
    for i in range(p.next + 1, p.list.size):
        if p.scores[i] > p.scores[best]:
            best = i
    move = p.list.moves[best]
    score = p.scores[best]
    p.list.moves[best] = p.list.moves[p.next]
    p.scores[best] = p.scores[p.next]
    p.list.moves[p.next] = move
    p.scores[p.next] = score


# The next move in order: the table's, mill closures, quiet moves; NO_MOVE at the end. With `ahead`
# the move after it is chosen too and its table entry asked for.
cdef inline move_t pick(const Worker *w, const Board *b, Picker *p, int ply,
                        bint ahead) noexcept nogil:
    cdef move_t move
    cdef Board after
    while True:
        if p.stage == 0:
            p.stage = 1
            if p.first != NO_MOVE:
                assert is_legal(&w.rules, b, p.first)
                return p.first
        if p.stage == 1:
            generate(&w.rules, b, &p.list, True, False)
            score_closing(b, p)
            p.next = 0
            p.stage = 2
        elif p.stage == 3:
            generate(&w.rules, b, &p.list, False, True)
            score_quiet(w, b, p, ply)
            p.next = 0
            p.stage = 4
            p.chosen = False
        while p.next < p.list.size:
            if not p.chosen:
                choose(p)
            p.chosen = False
            move = p.list.moves[p.next]
            p.next += 1
            if move == p.first:
                continue
            if ahead and p.next < p.list.size:
                choose(p)
                p.chosen = True
                make(b, p.list.moves[p.next], &after)
                fetch(w.table, key_of(&w.rules, &after))
            return move
        if p.stage == 4:
            return NO_MOVE
        p.stage = 3


# Search mill closures only, until none is worth playing.
cdef int quiesce(Worker *w, const Board *b, uint64_t key, int alpha, int beta,
                 int ply) noexcept nogil:
    cdef int value, best, i
    cdef MoveList list
    cdef Board after
    assert key == key_of(&w.rules, b) and alpha < beta and 0 <= ply <= MAX_PLY
    w.nodes += 1
    w.pv_length[ply] = 0
    if must_stop(w):
        return 0
    if ply > w.seldepth:
        w.seldepth = ply
    if end_of(w, b, key, ply, &value):
        return value
    best = evaluate_node(w, b, key)
    if best >= beta or ply >= MAX_PLY:
        return best
    if best > alpha:
        alpha = best
    generate(&w.rules, b, &list, True, False)
    w.path[w.base + ply] = key
    for i in range(list.size):
        if not is_removal(list.moves[i]):
            continue
        make(b, list.moves[i], &after)
        value = -quiesce(w, &after, key_of(&w.rules, &after), -beta, -alpha, ply + 1)
        if w.stopped:
            return 0
        if value > best:
            best = value
            if value > alpha:
                alpha = value
                if value >= beta:
                    break
    assert -WIN <= best <= WIN
    return best


cdef inline void reward(int32_t *entry, int bonus) noexcept nogil:
    cdef int size = bonus if bonus > 0 else -bonus
    entry[0] += bonus - entry[0] * size // MOST_ORDER
    assert -MOST_ORDER <= entry[0] <= MOST_ORDER


# Remember which quiet move cut off, and that those tried before it did not.
cdef inline void learn(Worker *w, int ply, int depth, move_t good, const move_t *tried,
                       int tried_count) noexcept nogil:
    cdef int bonus = depth * depth * 8
    cdef int i
    assert depth > 0 and 0 <= tried_count <= 64
    if bonus > 2048:
        bonus = 2048
    if w.killers[ply][0] != good:
        w.killers[ply][1] = w.killers[ply][0]
        w.killers[ply][0] = good
    reward(&w.order[ply & 1][order_slot(good)][to_of(good)], bonus)
    for i in range(tried_count):
        reward(&w.order[ply & 1][order_slot(tried[i])][to_of(tried[i])], -bonus)


cdef inline void extend_pv(Worker *w, int ply, move_t move) noexcept nogil:
    cdef int i, length = w.pv_length[ply + 1]
    assert 0 <= length and ply + 1 + length <= MAX_PLY + 1
    w.pv[ply][0] = move
    for i in range(length):
        w.pv[ply][i + 1] = w.pv[ply + 1][i]
    w.pv_length[ply] = length + 1


# The value of a board to a depth, within a window; the pv is collected where the window is open.
cdef int search(Worker *w, const Board *b, uint64_t key, int alpha, int beta, int depth,
                int ply) noexcept nogil:
    cdef uint64_t next_key
    cdef int value, best = -INFINITE, tried = 0, moved = 0, reduction, bound = UPPER
    cdef int least, greatest
    cdef bint open_window = beta - alpha > 1
    cdef move_t move, best_move = NO_MOVE
    cdef move_t quiet[64]
    cdef Probe known
    cdef Picker picker
    cdef Board after

    # 1. Leaves.
    if depth <= 0:
        return quiesce(w, b, key, alpha, beta, ply)
    assert key == key_of(&w.rules, b) and 0 < ply <= MAX_PLY and depth <= MAX_DEPTH
    assert -INFINITE <= alpha < beta <= INFINITE
    w.nodes += 1
    w.pv_length[ply] = 0
    if must_stop(w):
        return 0
    if ply > w.seldepth:
        w.seldepth = ply

    # 2. The game's own ends.
    if end_of(w, b, key, ply, &value):
        return value
    if ply >= MAX_PLY:
        return evaluate_node(w, b, key)

    # 3. No win from here is nearer than the one already found, no loss further.
    if alpha < -WIN + ply:
        alpha = -WIN + ply
    if beta > WIN - ply - 1:
        beta = WIN - ply - 1
    if alpha >= beta:
        return alpha

    # 4. The tables of perfect play. Near a draw by counting they may leave a win or loss open.
    if w.tables != NULL and not (b.own_hand | b.opponent_hand) and (
            count(b.own | b.opponent) < w.table_men):
        if table_bounds(w.tables, &w.rules, b, &least, &greatest):
            w.table_hits += 1
            if least == greatest:
                return least * (TABLE_WIN - ply)
            if (least == 0 and beta <= 0) or (greatest == 0 and alpha >= 0):
                return 0

    # 5. The transposition table.
    probe(w.table, key, &known)
    if known.bound:
        value = score_from_table(known.score, ply)
        if not open_window and known.depth >= depth:
            if known.bound == EXACT or (known.bound == LOWER and value >= beta) or (
                    known.bound == UPPER and value <= alpha):
                return value
    elif depth >= 5:
        # 6. Without a move from the table, look for one more cheaply first.
        depth -= 1

    # 7. So far above the window, near the leaves, that no reply will bring it back.
    if depth <= FUTILE_DEPTH and not open_window and abs(beta) < MOST_EVALUATION:
        value = evaluate_node(w, b, key)
        if value - FUTILE_MARGIN * depth >= beta:
            return value

    # 8. All moves in order, the first with the whole window, the others to show they are no better.
    w.path[w.base + ply] = key
    picker.stage = 0
    picker.next = 0
    picker.chosen = False
    picker.first = known.move if known.bound else NO_MOVE
    if picker.first == 0xFFFFF:
        picker.first = NO_MOVE
    while True:
        move = pick(w, b, &picker, ply, depth > 1)
        if move == NO_MOVE:
            assert moved == listed(&w.rules, b)     # none was left out, none came twice
            break
        make(b, move, &after)
        next_key = key_of(&w.rules, &after)
        if depth > 1:
            fetch(w.table, next_key)
        moved += 1
        if moved == 1:
            value = -search(w, &after, next_key, -beta, -alpha, depth - 1, ply + 1)
        else:
            # 9. Late quiet moves are searched less deeply unless they surprise.
            reduction = 0
            if depth >= 3 and moved > 1 and not is_removal(move):
                reduction = w.reductions[depth if depth < 63 else 63][moved if moved < 63 else 63]
                if open_window and reduction:
                    reduction -= 1
                if reduction > depth - 2:
                    reduction = depth - 2
            value = -search(w, &after, next_key, -alpha - 1, -alpha, depth - 1 - reduction, ply + 1)
            if value > alpha and reduction and not w.stopped:
                value = -search(w, &after, next_key, -alpha - 1, -alpha, depth - 1, ply + 1)
            if value > alpha and value < beta and not w.stopped:
                value = -search(w, &after, next_key, -beta, -alpha, depth - 1, ply + 1)
        if w.stopped:
            return 0
        if value > best:
            best = value
            if value > alpha:
                alpha = value
                best_move = move
                bound = EXACT
                if open_window:
                    extend_pv(w, ply, move)
                if value >= beta:
                    bound = LOWER
                    if not is_removal(move):
                        learn(w, ply, depth, move, quiet, tried)
                    break
        if not is_removal(move) and tried < 64:
            quiet[tried] = move
            tried += 1
    assert -WIN <= best <= WIN
    store(w.table, key, best_move, score_to_table(best, ply), depth, bound)
    return best


# The value of the root over its moves of one rank from `start` on; the best is moved to `start`.
cdef int search_root(Worker *w, const Board *b, int alpha, int beta, int depth,
                     int start) noexcept nogil:
    cdef int value = 0, best = -INFINITE, i, j, bound = UPPER
    cdef move_t move
    cdef Board after
    cdef uint64_t next_key, key = key_of(&w.rules, b)
    w.path[w.base] = key
    w.pv_length[0] = 0
    for i in range(start, w.root_end[start]):
        move = w.root[i]
        make(b, move, &after)
        next_key = key_of(&w.rules, &after)
        if i > start:
            value = -search(w, &after, next_key, -alpha - 1, -alpha, depth - 1, 1)
        if i == start or (value > alpha and value < beta and not w.stopped):
            value = -search(w, &after, next_key, -beta, -alpha, depth - 1, 1)
        if w.stopped:
            return 0
        if value > best:
            best = value
            if value > alpha or i == start:
                extend_pv(w, 0, move)
                for j in range(i, start, -1):
                    w.root[j] = w.root[j - 1]
                w.root[start] = move
            if value > alpha:
                alpha = value
                bound = EXACT
                if value >= beta:
                    bound = LOWER
                    break
    if start == 0 and w.whole_root:
        store(w.table, key, w.root[0] if bound != UPPER else NO_MOVE, best, depth, bound)
    return best


# The value of one line of the root at a depth, by a window around the last value that widens.
cdef int search_line(Worker *w, const Board *b, int last, int depth, int start) noexcept nogil:
    cdef int width = 24, alpha = -INFINITE, beta = INFINITE, value
    if depth >= 4 and last > -PROVEN and last < PROVEN:
        alpha = last - width
        beta = last + width
    while True:
        value = search_root(w, b, alpha, beta, depth, start)
        if w.stopped:
            return 0
        width *= 4
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
