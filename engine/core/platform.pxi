# Code that depends on processor, compiler or system, except SIMD vectors: bit operations, atomics,
# prefetch, large pages, the clock, byte order. Also locks of objects and access to Python's
# buffers.
#
# Needs no other file.

from cpython.buffer cimport (
    PyBUF_ND, PyBUF_WRITABLE, PyBuffer_Release, PyObject_GetBuffer
)

cdef extern from *:
    """
    #include <stdint.h>
    #define MERELS_GREATER(x, y) ((x) > (y) ? (x) : (y))
    #if defined(__GNUC__) || defined(__clang__)
      #define MERELS_LOWEST(x) __builtin_ctz(x)
      #define MERELS_LOWEST64(x) __builtin_ctzll(x)
      /* Locality 0: the data is used once and should not evict other data from the caches. */
      #define MERELS_PREFETCH(p) __builtin_prefetch((p), 0, 0)
      #define MERELS_LIKELY(x) __builtin_expect(!!(x), 1)
      #define MERELS_UNLIKELY(x) __builtin_expect(!!(x), 0)
      #define MERELS_LOAD(type, p) __atomic_load_n((p), __ATOMIC_ACQUIRE)
      #define MERELS_STORE(type, p, x) __atomic_store_n((p), (x), __ATOMIC_RELEASE)
      #define MERELS_EXCHANGE(p, from, to) __sync_bool_compare_and_swap((p), (from), (to))
      #define MERELS_FETCH_ADD(p, n) __atomic_fetch_add((p), (n), __ATOMIC_RELAXED)
    #else
      #include <intrin.h>
      static __inline int MERELS_LOWEST(uint32_t x) {
          unsigned long i;
          _BitScanForward(&i, x);
          return (int)i;
      }
      static __inline int MERELS_LOWEST64(uint64_t x) {
          unsigned long i;
          _BitScanForward64(&i, x);
          return (int)i;
      }
      #define MERELS_PREFETCH(p) ((void)0)
      #define MERELS_LIKELY(x) (x)
      #define MERELS_UNLIKELY(x) (x)
      /* With /volatile:ms, a volatile read acquires and a volatile write releases. */
      #define MERELS_LOAD(type, p) (*(const volatile type *)(p))
      #define MERELS_STORE(type, p, x) (*(volatile type *)(p) = (x))
      #define MERELS_EXCHANGE(p, from, to) \
          (_InterlockedCompareExchange((volatile long *)(p), (to), (from)) == (from))
      #define MERELS_FETCH_ADD(p, n) \
          ((uint64_t)_InterlockedExchangeAdd64((volatile __int64 *)(p), (n)))
    #endif
    #define MERELS_LOAD_INT(p) MERELS_LOAD(int, p)
    #define MERELS_LOAD_TIME(p) MERELS_LOAD(int64_t, p)
    #define MERELS_LOAD_WORD(p) MERELS_LOAD(uint64_t, p)
    #define MERELS_LOAD_BYTE(p) MERELS_LOAD(uint8_t, p)
    #define MERELS_STORE_INT(p, x) MERELS_STORE(int, p, x)
    #define MERELS_STORE_TIME(p, x) MERELS_STORE(int64_t, p, x)
    #define MERELS_STORE_WORD(p, x) MERELS_STORE(uint64_t, p, x)
    #define MERELS_STORE_BYTE(p, x) MERELS_STORE(uint8_t, p, x)

    /* On x86-64, POPCNT, PEXT and PDEP are chosen at run time, so that one build serves all
       processors. The branch is predicted correctly and costs less than the portable arithmetic. */
    #if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
      #define MERELS_DETECTS_POPCNT 1
      #include <cpuid.h>
      static int merels_has_popcnt = 0;
      static int merels_gathers_bits = 0;
      __attribute__((constructor)) static void merels_detect_processor(void) {
          unsigned eax, ebx, ecx, edx, family;
          __builtin_cpu_init();
          merels_has_popcnt = __builtin_cpu_supports("popcnt") != 0;
          if (__builtin_cpu_supports("bmi2") && __get_cpuid(1, &eax, &ebx, &ecx, &edx)) {
              /* AMD processors before Zen 3 (families 15h to 18h) have PEXT and PDEP in microcode,
                 which is slower than the loops. */
              family = (eax >> 8 & 15) + (eax >> 20 & 255);
              merels_gathers_bits = family < 0x15 || family > 0x18;
          }
      }
      static inline uint32_t MERELS_GATHER_BITS(uint32_t x, uint32_t mask) {
          uint32_t result;
          __asm__("pextl %2, %1, %0" : "=r"(result) : "r"(x), "r"(mask));
          return result;
      }
      static inline uint32_t MERELS_SCATTER_BITS(uint32_t x, uint32_t mask) {
          uint32_t result;
          __asm__("pdepl %2, %1, %0" : "=r"(result) : "r"(x), "r"(mask));
          return result;
      }
    #else
      /* Callers test HAS_BIT_GATHER first; the macros only compile. */
      enum { merels_gathers_bits = 0 };
      #define MERELS_GATHER_BITS(x, mask) (x)
      #define MERELS_SCATTER_BITS(x, mask) (x)
    #endif
    #if defined(__POPCNT__) || defined(__aarch64__)
      #define MERELS_COUNT(x) __builtin_popcount(x)
    #else
      static inline int MERELS_COUNT(uint32_t x) {
    #ifdef MERELS_DETECTS_POPCNT
          if (MERELS_LIKELY(merels_has_popcnt)) {
              uint32_t result;
              __asm__("popcntl %1, %0" : "=r"(result) : "r"(x) : "cc");
              return (int)result;
          }
    #endif
          /* The bits of 24 points; the multiplication sums three bytes. */
          x -= (x >> 1) & 0x555555u;
          x = (x & 0x333333u) + ((x >> 2) & 0x333333u);
          x = (x + (x >> 4)) & 0x0F0F0Fu;
          return (int)((x * 0x010101u) >> 16) & 0xFF;
      }
    #endif

    #if defined(__linux__)
      #include <sys/mman.h>
      #define MERELS_LARGE_PAGES(p, size) ((void)madvise((p), (size), MADV_HUGEPAGE))
    #else
      #define MERELS_LARGE_PAGES(p, size) ((void)0)
    #endif

    #if defined(_WIN32)
      #include <windows.h>
      static inline int64_t merels_now(void) {
          LARGE_INTEGER count, rate;
          QueryPerformanceCounter(&count);
          QueryPerformanceFrequency(&rate);
          return (int64_t)((double)count.QuadPart * 1e9 / (double)rate.QuadPart);
      }
    #else
      #include <time.h>
      static inline int64_t merels_now(void) {
          struct timespec t;
          clock_gettime(CLOCK_MONOTONIC, &t);
          return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
      }
    #endif
    """
    # The greater number: one instruction, without a branch.
    double greater "MERELS_GREATER"(double x, double y) noexcept nogil
    int lowest "MERELS_LOWEST"(uint32_t mask) noexcept nogil
    int lowest64 "MERELS_LOWEST64"(uint64_t mask) noexcept nogil
    int count "MERELS_COUNT"(uint32_t mask) noexcept nogil
    const bint HAS_BIT_GATHER "merels_gathers_bits"
    uint32_t gather_bits "MERELS_GATHER_BITS"(uint32_t x, uint32_t mask) noexcept nogil
    uint32_t scatter_bits "MERELS_SCATTER_BITS"(uint32_t x, uint32_t mask) noexcept nogil
    void prefetch "MERELS_PREFETCH"(const void *address) noexcept nogil
    bint likely "MERELS_LIKELY"(bint condition) noexcept nogil
    bint unlikely "MERELS_UNLIKELY"(bint condition) noexcept nogil
    # Numbers that one thread writes while others read them: reads acquire, writes release.
    int read_shared "MERELS_LOAD_INT"(const int *number) noexcept nogil
    int64_t read_time "MERELS_LOAD_TIME"(const int64_t *number) noexcept nogil
    uint64_t read_word "MERELS_LOAD_WORD"(const uint64_t *number) noexcept nogil
    uint8_t read_byte "MERELS_LOAD_BYTE"(const uint8_t *number) noexcept nogil
    void write_shared "MERELS_STORE_INT"(int *number, int value) noexcept nogil
    void write_time "MERELS_STORE_TIME"(int64_t *number, int64_t value) noexcept nogil
    void write_word "MERELS_STORE_WORD"(uint64_t *number, uint64_t value) noexcept nogil
    void write_byte "MERELS_STORE_BYTE"(uint8_t *number, uint8_t value) noexcept nogil
    # Replace `old` by `new`; return False if the number is not `old`.
    bint exchange "MERELS_EXCHANGE"(int *number, int old, int new) noexcept nogil
    uint64_t fetch_add "MERELS_FETCH_ADD"(uint64_t *counter, uint64_t amount) noexcept nogil
    # Ask for large pages, which save most of the TLB misses of random probes.
    void large_pages "MERELS_LARGE_PAGES"(void *start, size_t size) noexcept nogil
    # The clock of all deadlines, in nanoseconds. Python's monotonic clock may differ from it, after
    # sleep on macOS, or on Windows.
    int64_t now "merels_now"() noexcept nogil

cdef enum:
    PAGE = 1 << 21           # bytes of a large page
    CLAIMED = -1             # value of `users` while a thread claims the object


# A read-write lock that never waits, also in free-threaded Python: several threads share an object,
# or one thread claims it. A conflict raises RuntimeError. `users` is the number of threads that
# share the object, or CLAIMED.
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
    write_shared(users, 0)


# Read a little-endian number of up to four bytes, on any machine.
cdef inline uint32_t read_bytes(const uint8_t *bytes, int number) noexcept nogil:
    cdef uint32_t value = 0
    cdef int i
    for i in range(number):
        value |= <uint32_t>bytes[i] << (8 * i)
    return value


cdef inline void write_bytes(uint8_t *bytes, int number, uint32_t value) noexcept nogil:
    cdef int i
    for i in range(number):
        bytes[i] = (value >> (8 * i)) & 0xFF


# The memory of a Python object with a buffer: bytes, a bytearray, an array, a memoryview. The
# object cannot move or free its memory while the span lives. (Cython's typed memoryviews do the
# same, but would take a fifth of the compile time.)
@internal
@final
cdef class _Span:
    cdef Py_buffer buffer
    cdef uint8_t *start
    cdef Py_ssize_t size     # bytes

    def __dealloc__(self):
        PyBuffer_Release(&self.buffer)


# A private copy of an object's bytes, so that no other thread can change them after a check.
cdef bytearray copy_bytes(data, int width=1):
    cdef _Span span = span_of(data, width)
    cdef bytearray copied = bytearray(span.size)
    memcpy(<uint8_t *>copied, span.start, span.size)
    return copied


# The span of an object whose items have `width` bytes each; ValueError for another item size.
cdef _Span span_of(data, int width=1, bint writable=False):
    cdef _Span span = _Span.__new__(_Span)
    PyObject_GetBuffer(data, &span.buffer, PyBUF_ND | (PyBUF_WRITABLE if writable else 0))
    if span.buffer.itemsize != width:
        raise ValueError(f"expected items of {width} bytes, found {span.buffer.itemsize}")
    span.start = <uint8_t *>span.buffer.buf
    span.size = span.buffer.len
    return span
