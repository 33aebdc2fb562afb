# Large pages of memory: they spare most of the address translation that random probes cost.
#
# Needs nothing before it.

cdef extern from *:
    """
    #if defined(__linux__)
      #include <sys/mman.h>
      #define MERELS_LARGE_PAGES(p, size) ((void)madvise((p), (size), MADV_HUGEPAGE))
    #else
      #define MERELS_LARGE_PAGES(p, size) ((void)0)
    #endif
    """
    void large_pages "MERELS_LARGE_PAGES"(void *start, size_t size) noexcept nogil

cdef enum:
    PAGE = 1 << 21           # bytes
