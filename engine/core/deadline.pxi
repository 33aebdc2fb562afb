# The deadline of a search, which other threads set while it is read without the GIL.
#
# Needs platform.pxi.

cdef enum:
    NEVER = 0x7FFFFFFFFFFFFFFF


def monotonic_ns():
    return now()


cdef class Deadline:
    cdef int64_t at          # nanoseconds of `now`
    cdef int64_t for_proofs  # end of the proofs that a win is the shortest, see proof.pxi

    def __cinit__(self):
        self.at = self.for_proofs = NEVER

    def set(self, at, for_proofs=None):
        write_time(&self.at, at if at is not None else NEVER)
        for_proofs = for_proofs if for_proofs is not None else at
        write_time(&self.for_proofs, for_proofs if for_proofs is not None else NEVER)
