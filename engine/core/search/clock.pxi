# The clock of deadlines, and deadlines that threads share.
#
# Needs bitboard.pxi.

cdef enum:
    NEVER = 0x7FFFFFFFFFFFFFFF

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
    # The one clock of deadlines: Python's own may differ, after sleep on macOS, or on Windows.
    int64_t now "merels_now"() noexcept nogil


def monotonic_ns():
    return now()


cdef int64_t NO_END = NEVER  # a deadline that never comes


# When searches end: other threads set it while workers read it without the interpreter's lock.
cdef class Deadline:
    cdef int64_t at

    def __cinit__(self):
        self.at = NEVER

    def set(self, at):
        write_time(&self.at, at if at is not None else NEVER)
