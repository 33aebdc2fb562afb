"""A request to an engine and its answer in one call; round_trip.pyi documents it."""

from cpython.bytes cimport PyBytes_FromStringAndSize
from cpython.exc cimport PyErr_SetFromErrno

cdef extern from *:
    """
    #ifdef _WIN32
      /* Windows cannot poll a pipe; `ThreadPipe` is used there, and never calls this. */
      #include <io.h>
      struct pollfd { int fd; short events; };
      #define POLLIN 1
      #define poll(descriptors, number, milliseconds) (-1)
    #else
      #include <poll.h>
      #include <unistd.h>
    #endif
    """
    struct pollfd:
        int fd
        short events
    enum:
        POLLIN
    int poll(pollfd *descriptors, int number, int milliseconds) nogil
    Py_ssize_t read(int descriptor, void *buffer, size_t size) nogil
    Py_ssize_t write(int descriptor, const void *buffer, size_t size) nogil

cdef enum:
    CHUNK = 1 << 16
    MILLISECOND = 1000000   # nanoseconds
    FIRST_WAIT = 20         # milliseconds


def round_trip(lock, int sink, bytes data, int source, int sentinel, int errors,
               int longest_wait, long long timeout):
    cdef char buffer[CHUNK]
    cdef const char *text = data
    cdef size_t size = len(data)
    cdef Py_ssize_t count = -1
    cdef int milliseconds = 0, ready    # `ready`: descriptors that are ready, -1 on failure.
    cdef pollfd polled[3]
    if timeout > 0:
        milliseconds = <int>min(timeout // MILLISECOND + 1, <long long>longest_wait)
    polled[0].fd, polled[1].fd, polled[2].fd = source, sentinel, errors
    polled[0].events = polled[1].events = polled[2].events = POLLIN
    lock.acquire()      # Faster than "with".
    try:
        with nogil:
            ready = poll(polled, 1, 0)
            if ready == 0:
                count = write(sink, text, size)
        if ready:
            raise BlockingIOError
        if count < 0:
            PyErr_SetFromErrno(OSError)
    finally:
        lock.release()
    with nogil:
        count = -1
        # Polling one descriptor costs less than polling three, but a second poll costs more than
        # that saves. So the first poll lasts long enough for most answers.
        ready = poll(polled, 1, min(milliseconds, FIRST_WAIT))
        if ready == 0 and milliseconds > FIRST_WAIT:
            ready = poll(polled, 3, milliseconds - FIRST_WAIT)
        if ready > 0:
            count = read(source, buffer, CHUNK)
    return None if count < 0 else PyBytes_FromStringAndSize(buffer, count)
