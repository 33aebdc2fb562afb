# The worker that Python drives: one thread's search from iteration to iteration.

cdef enum:
    NEVER = 0x7FFFFFFFFFFFFFFF

cdef int GO_ON = 0           # a stop flag that is never raised


cdef class SearchWorker:
    """One thread's search state over a shared table.

    `run` releases the lock of the interpreter while it searches; `stop` may be called from any
    thread at any time. A worker remembers nothing between searches but its ordering statistics.
    """

    cdef Worker w
    cdef TranspositionTable table
    cdef int stop_flag
    cdef int64_t deadline
    cdef int depth           # of the last completed iteration

    def __cinit__(self, TranspositionTable table):
        self.table = table
        self.w.table = &table.table
        self.w.stop = &GO_ON
        load_reductions(&self.w)

    @property
    def nodes(self):
        """Nodes visited by the running or last search."""
        return self.w.nodes

    @property
    def table_hits(self):
        """How often the running or last search found a position in the tables."""
        return self.w.table_hits

    def stop(self):
        """End the running search as soon as may be."""
        write_shared(&self.stop_flag, 1)

    def arm(self):
        """Forget an earlier `stop`."""
        write_shared(&self.stop_flag, 0)

    def set_deadline(self, deadline):
        """Set when a search must end, running or not, in nanoseconds of the monotonic clock.

        None: never.
        """
        self.deadline = deadline if deadline is not None else NEVER
        if self.depth:
            self.w.deadline = self.deadline

    def clear(self):
        """Forget the ordering statistics."""
        memset(self.w.order, 0, sizeof(self.w.order))
        memset(self.w.killers, 0xFF, sizeof(self.w.killers))

    def run(self, tuple rules, tuple fields, history, root_moves, report,
            *, ranks=(), TableSet tables=None, int table_men=POINT_COUNT, int first_depth=1,
            int max_depth=MAX_DEPTH, node_limit=0, lines=1, int noise=0, noise_seed=0,
            int greed=0, int freedom=0):
        """Search until a limit or `stop` ends it.

        ``tables`` of perfect play are asked wherever both hands are empty and fewer men than
        ``table_men`` are on the board.
        ``fields`` as for `perft`; ``history`` the keys of the game's earlier positions that may
        recur, oldest first; ``root_moves`` the moves to choose from; ``ranks`` a number for each
        of them, rising: no move comes before one of lower rank, whatever the search thinks.
        ``report(depth, lines)`` is called after each iteration with a list of (score, seldepth,
        pv), the best first, and ends the search by a true answer. Returns whether an iteration was
        cut short.
        """
        cdef Worker *w = &self.w
        cdef Board b = load_board(fields)
        cdef int depth, line, i, number, end
        cdef int values[MOST_LINES]
        cdef MoveList legal
        cdef list found
        w.rules = load_rules(rules)
        w.tables = &tables.tables if tables is not None else NULL
        w.table_men = table_men
        w.table_hits = 0
        w.nodes = 0
        w.stopped = False
        w.noise = noise
        w.noise_seed = noise_seed
        w.greed = greed
        w.freedom = freedom
        history = history[-MAX_HISTORY:]
        w.base = len(history)
        for i, key in enumerate(history):
            w.path[i] = key
        w.root_size = len(root_moves)
        assert w.root_size <= MAX_MOVES
        for i, move in enumerate(root_moves):
            w.root[i] = move
            assert is_legal(&w.rules, &b, w.root[i])
        end = w.root_size
        for i in range(w.root_size - 1, -1, -1):
            if ranks and i + 1 < w.root_size and ranks[i] != ranks[i + 1]:
                end = i + 1
            w.root_end[i] = end
        generate(&w.rules, &b, &legal, True, True)
        w.whole_root = end == legal.size
        memset(w.killers, 0xFF, sizeof(w.killers))
        number = min(lines, w.root_size, MOST_LINES)
        for line in range(number):
            values[line] = 0
        # The first iteration is always finished, so that there is a move to play.
        w.node_limit = <uint64_t>-1
        w.deadline = NEVER
        w.stop = &GO_ON
        w.seldepth = 0
        self.depth = 0
        for depth in range(first_depth, min(max_depth, MAX_DEPTH) + 1):
            if depth > first_depth:
                w.node_limit = node_limit or <uint64_t>-1
                w.deadline = self.deadline
                w.stop = &self.stop_flag
            found = []
            for line in range(number):
                w.seldepth = 0
                with nogil:
                    values[line] = search_line(w, &b, values[line], depth, line)
                if w.stopped:
                    return True
                found.append((values[line], w.seldepth,
                              [w.pv[0][i] for i in range(w.pv_length[0])]))
            # What a later line found may lift it above an earlier one of its rank.
            order = [(w.root_end[line], -found[line][0], line) for line in range(number)]
            found = [found[line] for _, _, line in sorted(order)]
            for line in range(number):
                values[line] = found[line][0]
                w.root[line] = found[line][2][0]
            self.depth = depth
            if report(depth, found):
                return False
        return False
