# Who may use an object now: any number of threads share it, or one has it to itself. Nobody waits:
# a use that cannot be is an error of the caller, with the interpreter's lock or without one.
#
# Needs bitboard.pxi.

cdef enum:
    CLAIMED = -1             # in place of the number of users


cdef int share(int *users, str what) except -1:
    cdef int number
    while True:
        number = read_shared(users)
        if number == CLAIMED:
            raise RuntimeError(f"{what} is being changed")
        if exchange(users, number, number + 1):
            return 0


cdef void end_sharing(int *users) noexcept nogil:
    cdef int number = read_shared(users)
    while not exchange(users, number, number - 1):
        number = read_shared(users)


cdef int claim(int *users, str what) except -1:
    if not exchange(users, 0, CLAIMED):
        raise RuntimeError(f"{what} is in use")
    return 0


cdef void end_claim(int *users) noexcept nogil:
    release_flag(users, 0)
