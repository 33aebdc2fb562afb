# The search worker for Python: iterative deepening on one thread, with a deadline.
#
# Needs deadline.pxi, board.pxi, ends.pxi, movegen.pxi, shared.pxi, tablebase/table_set.pxi,
# search/root.pxi, search/proof.pxi.

cdef enum:
    OVERLOOKING_PLIES = 16   # at later plies, no further points are overlooked

cdef int64_t NO_DEADLINE = NEVER


# Draw the overlooked points and the width of the evaluation's noise for one search at random. A
# point that is overlooked at one ply is overlooked at all later plies, after any moves.
cdef int load_errors(Errors *e, tuple fields) except -1:
    cdef int oversight, ply, point
    cdef uint64_t state, permille, noise
    e.insight, e.greed, e.freedom, noise, oversight, state = fields
    if noise > MAX_EVALUATION or not (0 <= e.insight <= 100 and 0 <= oversight <= 100
            and -MAX_EVALUATION <= e.greed <= MAX_EVALUATION
            and -MAX_EVALUATION <= e.freedom <= MAX_EVALUATION):
        raise ValueError(f"impossible errors: {fields}")
    e.seed = state = mix(state)
    # The half-width varies from search to search around the mean 1 + `noise`, as the square of a
    # random share has the mean 1/3. It is at least 1, so that equal moves are chosen at random.
    permille = below(state, 1000)
    e.noise = 1 + <int>(3 * noise * permille * permille // 1000000)
    e.overlooked[0] = 0
    for ply in range(1, MAX_PLY + 8):
        e.overlooked[ply] = e.overlooked[ply - 1]
        if ply > OVERLOOKING_PLIES:
            continue
        for point in range(POINT_COUNT):
            state = mix(state + 1)
            if below(state, 100) < <uint64_t>oversight:
                e.overlooked[ply] |= 1u << point
    return 0


# Set the limits of a search, to be checked at the next node.
cdef inline void set_limits(Worker *w, uint64_t node_limit,
                            const int64_t *deadline) noexcept nogil:
    w.node_limit = node_limit
    w.deadline = deadline
    w.next_check = 0


# Start a search: clear the killers and remove all limits.
cdef inline void begin_search(Worker *w) noexcept nogil:
    w.stopped = False
    w.check_interval = MAX_CHECK_NODES
    w.last_check = 0
    set_limits(w, <uint64_t>-1, &NO_DEADLINE)
    memset(w.history.killers, 0xFF, sizeof(w.history.killers))


# Move a move of the root's first rank to the front; return False if the rank lacks it.
cdef bint put_first(Worker *w, move_t move) noexcept nogil:
    cdef int i
    for i in range(w.root_end[0]):
        if w.root[i] == move:
            move_forward(w, i, 0)
            return True
    return False


# Return the value of a win within `plies` plies that an earlier search has stored, and put its move
# first. 0 if no such win is stored, or if its move is not of the first rank.
cdef int stored_win(Worker *w, const Board *b, int plies) noexcept nogil:
    cdef Probe entry
    cdef uint64_t key = key_of(&w.game.rules, b)
    probe(w.table, &w.game.rules, b, key, &entry)
    if entry.bound in (0, UPPER) or entry.score < WIN - plies or entry.move == NO_MOVE:
        probe(w.table, &w.game.rules, b, proof_key(&w.game, key), &entry)
        if entry.bound != LOWER or entry.score < WIN - plies or entry.move == NO_MOVE:
            return 0
    return entry.score if put_first(w, entry.move) else 0


# The two functions of a BoardSearch.
cdef void begin_boards(void *worker, const RuleSet *rules) noexcept nogil:
    cdef Worker *w = <Worker *>worker
    w.game.rules = rules[0]
    w.game.base = 0
    w.has_errors = False
    begin_search(w)


cdef int search_board(void *worker, const Board *b, uint64_t nodes, Board *leaf) noexcept nogil:
    cdef Worker *w = <Worker *>worker
    cdef uint64_t key = key_of(&w.game.rules, b)
    cdef Board before
    cdef int value = 0, i
    w.nodes = w.root_depth = 0
    while w.nodes < nodes and abs(value) < PROVEN and w.root_depth < MAX_DEPTH:
        w.stack.free = w.stack_memory
        w.root_depth += 1
        # The board is at ply 1, after a root with an impossible key, so that it repeats nothing.
        push_key(&w.game, b, 0, 0)
        value = search(w, b, key, -INFINITE, INFINITE, w.root_depth, 1)
    if leaf != NULL:
        leaf[0] = b[0]
        for i in range(w.pv_length[1]):
            before = leaf[0]
            make(&before, w.pv[1][i], leaf)
    return value


cdef class SearchWorker:
    cdef Worker w
    cdef BoardSearch board_search    # for the trainer
    cdef TranspositionTable table
    cdef int running         # see platform.pxi
    cdef readonly tuple better

    def __cinit__(self, TranspositionTable table not None):
        self.table = table
        self.w.table = &table.table
        self.board_search.worker = &self.w
        self.board_search.users = &self.running
        self.board_search.begin = begin_boards
        self.board_search.search = search_board
        load_reductions(&self.w)
        self.w.stack_memory = <scored_t *>malloc(STACK_SIZE * sizeof(scored_t))
        if self.w.stack_memory == NULL:
            raise MemoryError("no memory for the moves of a search")

    def __dealloc__(self):
        free(self.w.stack_memory)

    @property
    def shared(self):
        return PyCapsule_New(&self.board_search, "merels.BoardSearch", NULL)

    @property
    def nodes(self):
        return self.w.nodes

    @property
    def table_hits(self):
        return self.w.table_hits

    def reset_counts(self):
        claim(&self.running, "this worker")
        self.w.nodes = self.w.table_hits = 0
        end_claim(&self.running)

    def clear(self):
        claim(&self.running, "this worker")
        memset(self.w.history.butterfly, 0, sizeof(self.w.history.butterfly))
        end_claim(&self.running)

    def run(self, tuple rules not None, tuple fields not None, history, root_moves, report,
            *, int side=0, ranks=(), TableSet tables=None, int table_men=POINT_COUNT,
            int first_depth=1, int max_depth=MAX_DEPTH, uint64_t node_limit=0,
            Deadline deadline=None, int lines=1, tuple errors=None,
            int reported_win=0):
        cdef const int64_t *deadline_ns = &NO_DEADLINE if deadline is None else &deadline.at
        cdef const int64_t *proof_ns = &NO_DEADLINE if deadline is None else &deadline.for_proofs
        if side & 1 != side:
            raise ValueError(f"expected side 0 or 1, found {side}")
        if first_depth < 1 or lines < 1:
            raise ValueError(
                f"expected a depth and lines of at least 1, found {first_depth} and {lines}")
        claim(&self.running, "this worker")
        try:
            if tables is not None:
                share(&tables.tables.users, "the set of tables")
                self.w.tables = &tables.tables
                self.w.table_men = min(table_men, most_men(&tables.tables) + 1)
            self.w.has_errors = errors is not None
            if errors is not None:
                load_errors(&self.w.errors, errors)
            load_game(&self.w.game, rules, history)
            self.w.history.side = side
            if report is None:
                return self.deepen_helper(load_board(fields), list(root_moves), list(ranks),
                                          first_depth, max_depth, node_limit, deadline_ns)
            return self.deepen(load_board(fields), list(root_moves), list(ranks), report,
                               first_depth, max_depth, node_limit, deadline_ns, proof_ns, lines,
                               reported_win)
        finally:
            if self.w.tables != NULL:
                end_sharing(&tables.tables.users)
            self.w.tables = NULL
            end_claim(&self.running)

    # Prepare a worker for its iterations.
    cdef int begin(self, const Board *b, list root_moves, list ranks) except -1:
        self.w.table_hits = self.w.nodes = 0
        if TUNING:
            load_reductions(&self.w)
        begin_search(&self.w)
        return self.load_root(b, root_moves, ranks)

    # Apply the limits from the second iteration on. The first iteration is always completed, so
    # that there is a move to play.
    cdef void apply_limits(self, uint64_t node_limit, const int64_t *deadline_ns) noexcept nogil:
        set_limits(&self.w, node_limit if node_limit else <uint64_t>-1, deadline_ns)

    # Iterative deepening of a helper, which only fills the transposition table. It never takes the
    # GIL, which would delay the worker that reports.
    cdef bint deepen_helper(self, Board b, list root_moves, list ranks, int first_depth,
                            int max_depth, uint64_t node_limit,
                            const int64_t *deadline_ns) except -1:
        cdef int depth, value = 0
        self.begin(&b, root_moves, ranks)
        with nogil:
            for depth in range(first_depth, min(max_depth, MAX_DEPTH) + 1):
                if depth > first_depth:
                    self.apply_limits(node_limit, deadline_ns)
                value = search_line(&self.w, &b, value, depth, 0)
                if self.w.stopped:
                    break
        return self.w.stopped

    # Iterative deepening of the worker that reports, until a limit or the report ends it.
    cdef bint deepen(self, Board b, list root_moves, list ranks, report, int first_depth,
                     int max_depth, uint64_t node_limit, const int64_t *deadline_ns,
                     const int64_t *proof_ns, int lines, int reported_win) except -1:
        cdef Worker *w = &self.w
        cdef int depth, line, line_count, last_value
        cdef int values[MAX_LINES]
        cdef list results, order
        cdef move_t best = NO_MOVE
        cdef int win = 0         # value of the best win found so far in a search of one line; or 0
        cdef move_t win_line[MAX_PLY + 8]
        cdef int win_length = 1
        self.begin(&b, root_moves, ranks)
        self.better = None
        if reported_win and not w.has_errors:
            win = stored_win(w, &b, reported_win)
            win_line[0] = w.root[0]
        line_count = min(lines, w.root_size, MAX_LINES)
        memset(values, 0, sizeof(values))
        for depth in range(first_depth, min(max_depth, MAX_DEPTH) + 1):
            if depth > first_depth:
                self.apply_limits(node_limit, deadline_ns)
            results = []
            last_value = values[0]
            for line in range(line_count):
                w.seldepth = 0
                with nogil:
                    values[line] = search_line(w, &b, values[line], depth, line)
                    if not w.stopped:
                        if line_count == 1 and win and win > values[0]:
                            # An iteration may miss a win that an earlier one has found.
                            values[0] = win
                            put_first(w, win_line[0])
                            w.pv_length[0] = win_length
                            memcpy(w.pv[0], win_line, win_length * sizeof(move_t))
                        if depth > first_depth:  # The proof asks the clock at its first node.
                            set_limits(w, w.node_limit, proof_ns)
                        values[line] = exact_end(w, &b, values[line], depth, line)
                        if depth > first_depth:
                            set_limits(w, w.node_limit, deadline_ns)
                if w.stopped:
                    if values[line] > 0:  # Only the proof of the shortest win was interrupted.
                        results.append(self.result(&b, values[line]))
                    elif line_count == 1 and w.pv[0][0] != best and (
                            w.root_value > w.alpha_before_best):
                        results.append(self.result(&b, w.root_value))
                    # A better move counts although the moves after it have not been searched.
                    if results and (line_count == 1 or results[0][0] >= PROVEN) and (
                            last_value < PROVEN or results[0][0] > last_value):
                        self.better = results[0]
                    return True
                results.append(self.result(&b, values[line]))
            if line_count == 1 and values[0] >= LEAST_WIN and not w.has_errors:
                win = values[0]
                win_length = w.pv_length[0]
                memcpy(win_line, w.pv[0], win_length * sizeof(move_t))
            # Sort, because a later line may be better than an earlier line of the same rank.
            order = sorted([(w.root_end[line], -values[line], line) for line in range(line_count)])
            results = [results[line] for _, _, line in order]
            for line in range(line_count):
                values[line] = -order[line][1]
                w.root[line] = results[line][2][0]
            best = w.root[0]
            if report(depth, results):
                return False
        return False

    # The value, selective depth and moves of the line just searched, for the report.
    cdef tuple result(self, const Board *b, int value):
        cdef list moves = [self.w.pv[0][i] for i in range(self.w.pv_length[0])]
        return unpenalized(&self.w, b, moves[0], value), self.w.seldepth, moves

    # Set the moves to choose from. A move of lower rank always stays before one of higher rank.
    cdef int load_root(self, const Board *b, list moves, list ranks) except -1:
        cdef Worker *w = &self.w
        cdef MoveList legal
        cdef int i, end
        if not 0 < len(moves) <= MAX_MOVES or ranks and len(ranks) != len(moves):
            raise ValueError(
                f"impossible numbers of root moves and ranks: {len(moves)} and {len(ranks)}")
        w.root_size = end = len(moves)
        generate_all(&w.game.rules, b, &legal)
        for i in range(w.root_size - 1, -1, -1):
            w.root[i] = moves[i]
            if not contains(&legal, w.root[i]):
                raise ValueError(f"illegal root move: {moves[i]}")
            if ranks and i + 1 < w.root_size and ranks[i] != ranks[i + 1]:
                end = i + 1
            w.root_end[i] = end
        w.whole_root = end == legal.size
        return 0
