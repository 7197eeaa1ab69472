# Sets and lists on their way in, checked, and out: nothing from Python is trusted.

cdef extern from "skeleton/run.hpp" namespace "lmarvel" nogil:
    struct Lists:
        const int64_t* starts
        const int32_t* members
        int64_t n


cdef bint is_frozen(array) except -1:
    """Tell whether this is an array of memory of its own that is read-only."""
    return type(array) is np.ndarray and array.flags.owndata and not array.flags.writeable


cdef object own(positions, kind):
    """Return positions that nobody else can change after they were checked: a copy, unless their memory is read-only.

    A read-only view may show memory that somebody writes to, a file among them. An object may give its own array where
    a copy is asked for: so two steps.
    """
    kept = is_frozen(positions) or (type(positions) is np.ndarray and is_frozen(positions.base))
    found = positions if kept and not positions.flags.writeable else np.array(np.asarray(positions))
    if found.dtype != kind:
        raise ValueError(f"positions and codes must be of type {np.dtype(kind)}, not {found.dtype}")
    return found


cdef class Sets:
    """A checked list of sets: ascending positions below p, one after the other."""

    cdef const int64_t[::1] starts
    cdef const int32_t[::1] members

    def __cinit__(self, starts, members, Py_ssize_t p, Py_ssize_t n):
        cdef Py_ssize_t i, j
        self.starts, self.members = own(starts, np.int64), own(members, np.int32)
        if self.starts.shape[0] != n + 1 or self.starts[0] != 0 or self.starts[n] != self.members.shape[0]:
            raise ValueError("the lengths of the sets do not fit")
        for i in range(n):
            if self.starts[i] > self.starts[i + 1]:
                raise ValueError("the lengths of the sets do not fit")
        for i in range(n):
            for j in range(self.starts[i], self.starts[i + 1]):
                if self.members[j] < 0 or self.members[j] >= p:
                    raise ValueError(f"there is no variable at position {self.members[j]}")
                if j > self.starts[i] and self.members[j] <= self.members[j - 1]:
                    raise ValueError("the members of a set must be ascending")

    cdef Lists lists(self):
        cdef Lists found
        found.n = self.starts.shape[0] - 1
        found.starts = &self.starts[0]
        found.members = &self.members[0] if self.members.shape[0] else NULL
        return found

    cdef check_symmetric(self):
        cdef Py_ssize_t i, j
        for i in range(self.starts.shape[0] - 1):
            for j in range(self.starts[i], self.starts[i + 1]):
                if self.members[j] == i or not self.has(self.members[j], i):
                    raise ValueError("boundaries must be symmetric and without the variable itself")

    cdef bint has(self, Py_ssize_t i, Py_ssize_t v):
        cdef Py_ssize_t low = self.starts[i], high = self.starts[i + 1], middle
        while low < high:
            middle = (low + high) // 2
            if self.members[middle] < v:
                low = middle + 1
            else:
                high = middle
        return low < self.starts[i + 1] and self.members[low] == v


cdef void check_positions(const int32_t[::1] positions, Py_ssize_t n, Py_ssize_t least, Py_ssize_t p) except *:
    cdef Py_ssize_t i
    if positions.shape[0] != n:
        raise ValueError("the lengths of the lists do not fit")
    for i in range(n):
        if positions[i] < least or positions[i] >= p:
            raise ValueError(f"there is no variable at position {positions[i]}")


cdef ints(vector[int32_t]& source, Py_ssize_t columns):
    cdef Py_ssize_t n = <Py_ssize_t> source.size()
    found = np.empty(n, dtype=np.int32)
    cdef int32_t[::1] view = found
    if n:
        memcpy(&view[0], source.data(), n * sizeof(int32_t))
    return found.reshape(-1, columns) if columns > 1 else found


cdef longs(vector[int64_t]& source, Py_ssize_t columns):
    cdef Py_ssize_t n = <Py_ssize_t> source.size()
    found = np.empty(n, dtype=np.int64)
    cdef int64_t[::1] view = found
    if n:
        memcpy(&view[0], source.data(), n * sizeof(int64_t))
    return found.reshape(-1, columns)


cdef doubles(const vector[double]& source):
    cdef Py_ssize_t n = <Py_ssize_t> source.size()
    found = np.empty(n)
    cdef double[::1] view = found
    if n:
        memcpy(&view[0], source.data(), n * sizeof(double))
    return found
