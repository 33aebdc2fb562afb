# What short searches think of samples.
#
# Needs board.pxi, movegen.pxi, search/search.pxi, search/worker.pxi, training/samples.pxi,
# training/draw.pxi, training/fit.pxi.


# The value of a board by iterations until so many nodes are searched.
cdef int short_search(Worker *w, const Board *b, uint64_t nodes) noexcept nogil:
    cdef uint64_t key = key_of(&w.game.rules, b)
    cdef int value = 0
    w.nodes = w.root_depth = 0
    while w.nodes < nodes and abs(value) < PROVEN and w.root_depth < MAX_DEPTH:
        w.stack.free = w.room
        w.root_depth += 1
        # One ply ahead of a root that is no board's, so that nothing is a repetition.
        enter(&w.game, b, 0, 0)
        value = search(w, b, key, -INFINITE, INFINITE, w.root_depth, 1)
    return value


def score_samples(SearchWorker worker not None, tuple rules not None, data, uint64_t nodes,
                  double per_logit):
    cdef Py_ssize_t i, number = check_samples(span_of(data))
    cdef bytearray scored = bytearray(data)
    cdef uint8_t *out = scored
    cdef Worker *w = &worker.w
    cdef Sample sample
    cdef int value
    if not per_logit >= 1:
        raise ValueError("a logit is worth at least a hundredth of a man")
    claim(&worker.running, "this worker")
    try:
        load_game(&w.game, rules, ())
        w.errs = False
        begin_search(w)
        with nogil:
            for i in range(number):
                read_sample(out + SAMPLE_BYTES * i, &sample)
                if sample.score != NO_POINTS or sample.flying != w.game.rules.flying or (
                        not goes_on(&w.game.rules, &sample.board)):
                    continue
                value = short_search(w, &sample.board, nodes)
                sample.score = (WHOLE if value >= PROVEN else 0 if value <= -PROVEN
                                else <int>(WHOLE * logistic(<float>(value / per_logit))))
                write_sample(out + SAMPLE_BYTES * i, &sample)
    finally:
        end_claim(&worker.running)
    return scored
