# Samples from random places of tables and from the hash tables of searches, and their labels from
# the tables.
#
# Needs board.pxi, movegen.pxi, borrowed.pxi, tablebase/probe.pxi, training/samples.pxi.


# A table's value in the points of samples; NO_POINTS if the value is UNKNOWN.
cdef inline int points_of(int value) noexcept nogil:
    return (WHOLE // 2 if value == DRAWN else WHOLE if value == WON else 0 if value == LOST
            else NO_POINTS)


# Whether the game goes on; draws by repetition or by a limit on plies are ignored.
cdef inline bint goes_on(const RuleSet *rules, const Board *b) noexcept nogil:
    return not either_below_minimum(b) and can_move(rules, b)


def draw_samples(tables, int own, int opponent, int hand, int number, seed):
    cdef Tables *open_tables = borrow_tables(tables)
    cdef uint64_t state = seed, classes, size
    cdef int64_t written = 0, tries = 0
    cdef int points
    cdef bytearray data = bytearray(SAMPLE_BYTES * <Py_ssize_t>number)
    cdef uint8_t *out = data
    cdef Sample sample
    check_counts(own, opponent, hand)
    classes = classes_of(own, opponent, hand)
    size = block_size(own, opponent, hand)
    memset(&sample, 0, sizeof(sample))
    sample.flying = open_tables.rules.flying
    sample.score = NO_POINTS
    # Placements alternate: the side to move has as many men in hand as the opponent, or one more.
    sample.board.own_hand = (hand + 1) // 2
    sample.board.opponent_hand = hand // 2
    share(&open_tables.users, "the set of tables")
    with nogil:
        # A table may have few positions in which the game goes on.
        while written < number and tries < 2 * <int64_t>number:
            tries += 1
            men_at(own, opponent, hand, random_below(&state, classes), random_below(&state, size),
                   &sample.board.own, &sample.board.opponent)
            count_men(&sample.board)
            if not goes_on(&open_tables.rules, &sample.board):
                continue
            points = points_of(table_probe(open_tables, &sample.board))
            if points != NO_POINTS:
                sample.result = points
                write_sample(out + SAMPLE_BYTES * written, &sample)
                written += 1
    end_sharing(&open_tables.users)
    del data[SAMPLE_BYTES * written:]
    return data


# The board of a key, with no plies.
cdef inline void unpack_key(uint64_t key, Board *b) noexcept nogil:
    b.own = key & ALL
    b.opponent = (key >> 24) & ALL
    b.own_hand = (key >> 48) & 15
    b.opponent_hand = (key >> 52) & 15
    b.plies = 0
    count_men(b)


# Replace a sample's board by the board after a random move, unless that move ends the game.
cdef inline void play_random_move(const RuleSet *rules, Sample *sample,
                                  uint64_t *state) noexcept nogil:
    cdef MoveList moves
    cdef Board after
    generate_all(rules, &sample.board, &moves)
    make(&sample.board, moves.moves[random_below(state, moves.size)], &after)
    if goes_on(rules, &after):
        after.plies = 0
        sample.board = after


def hash_samples(table, tuple rules not None, int number, seed):
    cdef RuleSet rule_set = load_rules(rules)
    cdef Table *hash = <Table *>borrow(table, core.TranspositionTable, "merels.Table")
    cdef uint64_t state = seed, data, key, i, place, entries = BUCKET * hash.buckets
    cdef uint64_t first = random_below(&state, entries)
    cdef int written = 0
    cdef bytearray samples = bytearray(SAMPLE_BYTES * <Py_ssize_t>number)
    cdef uint8_t *out = samples
    cdef const Entry *entry
    cdef Sample sample
    memset(&sample, 0, sizeof(sample))
    sample.flying = rule_set.flying
    sample.score = sample.result = NO_POINTS
    with nogil:
        # Buckets are chosen by mixed keys, so consecutive entries are as random as any.
        for i in range(entries):
            if written == number:
                break
            place = (first + i) % entries
            entry = &hash.entries[place]
            data = entry.data
            key = entry.check ^ data
            # An entry may be torn by a searching thread.
            if data == 0 or bucket_number(key, hash.buckets) != place // BUCKET:
                continue
            unpack_key(key, &sample.board)
            if is_sound(&sample.board) and goes_on(&rule_set, &sample.board):
                # Searches also evaluate children of stored positions, so half of the samples are
                # children.
                if random_below(&state, 2):
                    play_random_move(&rule_set, &sample, &state)
                write_sample(out + SAMPLE_BYTES * <Py_ssize_t>written, &sample)
                written += 1
    del samples[SAMPLE_BYTES * written:]
    return samples


def label_samples(tables, data):
    cdef Tables *open_tables = borrow_tables(tables)
    cdef bytearray labelled = copy_bytes(data)
    cdef Py_ssize_t i, number = check_samples(span_of(labelled))
    cdef const RuleSet *rules = &open_tables.rules
    cdef uint8_t *out = labelled
    cdef Sample sample
    cdef int points
    share(&open_tables.users, "the set of tables")
    with nogil:
        for i in range(number):
            read_sample(out + SAMPLE_BYTES * i, &sample)
            if sample.flying != rules.flying or not goes_on(rules, &sample.board):
                continue
            points = points_of(table_probe(open_tables, &sample.board))
            if points != NO_POINTS:
                sample.result = points
                write_sample(out + SAMPLE_BYTES * i, &sample)
    end_sharing(&open_tables.users)
    return labelled


def labelled_samples(data):
    cdef bytearray labelled = copy_bytes(data)
    cdef Py_ssize_t i, number = check_samples(span_of(labelled)), kept = 0
    cdef uint8_t *out = labelled
    cdef Sample sample
    for i in range(number):
        read_sample(out + SAMPLE_BYTES * i, &sample)
        if sample.result != NO_POINTS:
            memmove(out + SAMPLE_BYTES * kept, out + SAMPLE_BYTES * i, SAMPLE_BYTES)
            kept += 1
    del labelled[SAMPLE_BYTES * kept:]
    return labelled
