# The numbers in a Python object: bytes, a bytearray, an array, a memoryview. It neither moves nor
# frees them while the span lives. (Cython's typed memoryviews, which do so too, would be a fifth of
# all that there is to compile.)
#
# Needs nothing before it.

from cpython.buffer cimport (
    PyBUF_ND, PyBUF_WRITABLE, PyBuffer_Release, PyObject_GetBuffer
)


@internal
@final
cdef class _Span:
    cdef Py_buffer buffer
    cdef uint8_t *start
    cdef Py_ssize_t size     # bytes

    def __dealloc__(self):
        PyBuffer_Release(&self.buffer)


# An object's bytes as they are now, in memory of their own: what is checked there stays so.
cdef bytearray copy_of(data, int width=1):
    cdef _Span span = span_of(data, width)
    cdef bytearray copied = bytearray(span.size)
    memcpy(<uint8_t *>copied, span.start, span.size)
    return copied


# An object's numbers, which have so many bytes each.
cdef _Span span_of(data, int width=1, bint writable=False):
    cdef _Span span = _Span.__new__(_Span)
    PyObject_GetBuffer(data, &span.buffer, PyBUF_ND | (PyBUF_WRITABLE if writable else 0))
    if span.buffer.itemsize != width:
        raise ValueError(f"numbers of {span.buffer.itemsize} bytes each, not of {width}")
    span.start = <uint8_t *>span.buffer.buf
    span.size = span.buffer.len
    return span
