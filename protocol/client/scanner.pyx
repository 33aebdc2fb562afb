"""Reading of engines' output: the answer among the lines, and the numbers in an ``info`` line.

The output is untrusted: no function may read beyond its end. scanner.pyi documents the functions
that Python calls.
"""

from cpython.bytes cimport PyBytes_FromStringAndSize
from libc.string cimport memchr, memcmp

cdef enum:
    WHITE = 0
    LONGEST_NUMBER = 18     # characters; a longer one might overflow a long long


cdef struct Word:
    const char *start
    Py_ssize_t size


cdef inline bint is_space(char c) noexcept nogil:
    return c == c' ' or c'\t' <= c <= c'\r'


cdef inline bint equals(Word word, const char *text, Py_ssize_t size) noexcept nogil:
    return word.size == size and memcmp(word.start, text, size) == 0


# Return the first word that begins at or after ``place``; an empty word at the end.
cdef inline Word next_word(const char *place, const char *end) noexcept nogil:
    cdef Word word
    while place < end and is_space(place[0]):
        place += 1
    word.start = place
    while place < end and not is_space(place[0]):
        place += 1
    word.size = place - word.start
    return word


# Store the decimal integer that a word spells; return whether the word is an integer.
cdef inline bint read_number(Word word, long long *number) noexcept nogil:
    cdef const char *end = word.start + word.size
    cdef const char *place = word.start
    cdef long long value = 0
    if word.size > LONGEST_NUMBER:
        return False
    if place < end and (place[0] == c'-' or place[0] == c'+'):
        place += 1
    if place == end:
        return False
    while place < end:
        if not c'0' <= place[0] <= c'9':
            return False
        value = 10 * value + (place[0] - c'0')
        place += 1
    number[0] = -value if word.start[0] == c'-' else value
    return True


cdef inline long long read_count(Word word) noexcept nogil:
    cdef long long number = 0
    return number if read_number(word, &number) and number > 0 else 0


cdef class InfoSummary:
    cdef readonly object score, win_in, depth, nodes


def parse_summary(bytes line, int side, bint white_view=False, bint in_plies=False):
    cdef const char *place = line
    cdef const char *end = place + len(line)
    cdef Word word, value
    cdef long long depth = -1, nodes = -1, score = 0
    cdef bint is_score_seen = False, is_known = False, is_mate = False
    cdef InfoSummary summary
    # If a field is repeated, its first value is used.
    while depth < 0 or nodes < 0 or not is_score_seen:
        word = next_word(place, end)
        place = word.start + word.size
        if word.size == 0 or equals(word, b"string", 6):
            break
        if depth < 0 and equals(word, b"depth", 5):
            depth = read_count(next_word(place, end))
        elif nodes < 0 and equals(word, b"nodes", 5):
            nodes = read_count(next_word(place, end))
        elif not is_score_seen and equals(word, b"score", 5):
            is_score_seen = True
            value = next_word(place, end)
            is_mate = equals(value, b"mate", 4)
            if is_mate or equals(value, b"cp", 2):
                value = next_word(value.start + value.size, end)
            is_known = read_number(value, &score)
    summary = InfoSummary.__new__(InfoSummary)
    summary.depth = depth if depth > 0 else 0
    summary.nodes = nodes if nodes > 0 else 0
    if is_known:
        if white_view and side != WHITE:
            score = -score
        if not is_mate:
            summary.score = score
        else:
            # UCI counts own moves: a win in N takes 2 N - 1 plies, a loss in N takes 2 N.
            summary.win_in = score if in_plies else 2 * score - (score > 0)
    return summary


# Return the first occurrence of a text, or NULL.
cdef inline const char *find_first(const char *start, const char *end, const char *text,
                                   Py_ssize_t size) noexcept nogil:
    while end - start >= size:
        start = <const char *>memchr(start, text[0], end - start - size + 1)
        if start == NULL or memcmp(start, text, size) == 0:
            return start
        start += 1
    return NULL


# Return the last occurrence of a text, or NULL.
cdef inline const char *find_last(const char *start, const char *end, const char *text,
                                  Py_ssize_t size) noexcept nogil:
    cdef const char *place = end - size
    while place >= start:
        if memcmp(place, text, size) == 0:
            return place
        place -= 1
    return NULL


# Return whether a line is about the best variation, or has no ``multipv``.
cdef inline bint is_best(const char *start, const char *end) noexcept nogil:
    cdef const char *place = find_first(start, end, b" multipv ", 9)
    return place == NULL or equals(next_word(place + 9, end), b"1", 1)


# Return the last line with a score before ``end``; a line may continue up to ``lines_end``.
cdef bytes last_score_between(const char *start, const char *end, const char *lines_end):
    cdef const char *place
    cdef const char *line
    cdef const char *line_end
    while True:
        place = find_last(start, end, b" score ", 7)
        if place == NULL:
            return b""
        line = place
        while line > start and (line - 1)[0] != c'\n':
            line -= 1
        line_end = <const char *>memchr(place, c'\n', lines_end - place)
        if line_end == NULL:
            line_end = lines_end
        if is_best(line, line_end) and not (
                line_end - line >= 11 and memcmp(line, b"info string", 11) == 0):
            return PyBytes_FromStringAndSize(line, line_end - line)
        end = line


def last_score(bytes lines, Py_ssize_t end):
    cdef const char *start = lines
    cdef Py_ssize_t size = len(lines)
    return last_score_between(start, start + min(max(end, 0), size), start + size)


# Return whether a word equals a text in lower case, ignoring the word's case.
cdef inline bint is_word(Word word, const char *text, Py_ssize_t size) noexcept nogil:
    cdef Py_ssize_t index
    if word.size != size:
        return False
    for index in range(size):
        if (word.start[index] | 32) != text[index]:
            return False
    return True


def count_junk(bytes lines):
    cdef const char *place = lines
    cdef const char *end = place + len(lines)
    cdef const char *line_end
    cdef Word word
    cdef long count = 0
    while place < end:
        line_end = <const char *>memchr(place, c'\n', end - place)
        if line_end == NULL:
            line_end = end
        word = next_word(place, line_end)
        count += not (
            word.size == 0 or is_word(word, b"info", 4) or is_word(word, b"bestmove", 8)
            or is_word(word, b"readyok", 7) or is_word(word, b"id", 2)
            or is_word(word, b"option", 6) or is_word(word, b"uciok", 5)
            or is_word(word, b"ugiok", 5) or is_word(word, b"copyprotection", 14)
            or is_word(word, b"registration", 12) or is_word(word, b"sanmill_error", 13))
        place = line_end + 1
    return count


def last_answer(bytes lines, bint inside):
    cdef const char *start = lines
    cdef const char *end = start + len(lines)
    cdef const char *place = find_first(start, end, b"bestmove ", 9)
    cdef const char *line = place
    cdef const char *text
    if place == NULL or memchr(place, c'\n', end - place) != end - 1:
        return None
    while line > start and (line - 1)[0] != c'\n':
        line -= 1
    if line != place and not (inside and place - line >= 5 and memcmp(line, b"info ", 5) == 0):
        return None
    text = place + 9
    info = last_score_between(start, end if inside else place, end)
    end -= 1
    while text < end and is_space(text[0]):
        text += 1
    while end > text and is_space((end - 1)[0]):
        end -= 1
    return PyBytes_FromStringAndSize(text, end - text), info
