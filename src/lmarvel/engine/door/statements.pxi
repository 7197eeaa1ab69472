# What is known beforehand, checked: nothing from Python is trusted.

cdef extern from "base/known.hpp" namespace "lmarvel" nogil:
    struct Statements:
        const uint8_t* pairs
        cbool selection, latents, linked
    enum: REQUIRED
    enum: FORBIDDEN
    enum: UNCONFOUNDED
    enum: SAID_END


cdef class Stated:
    """A number for each pair of variables, in whose bits stands what is known of it."""

    cdef Statements of
    cdef const uint8_t[:, ::1] pairs

    def __cinit__(self, stated, Py_ssize_t p):
        cdef Py_ssize_t a, b
        cdef const uint8_t[:, ::1] given
        self.of.pairs = NULL
        if stated is None:
            return
        pairs, selection, latents, linked = stated
        given = pairs
        self.pairs = np.array(given)  # nobody else can change what was checked
        if self.pairs.shape[0] != p or self.pairs.shape[1] != p:
            raise ValueError("what is known must be said of each pair of variables")
        for a in range(p):
            if self.pairs[a, a]:
                raise ValueError("nothing can be known of a variable and itself")
            for b in range(p):
                if self.pairs[a, b] >= SAID_END:
                    raise ValueError("what is known of a pair is none of what can be")
                if (self.pairs[a, b] ^ self.pairs[b, a]) & (REQUIRED | FORBIDDEN):
                    raise ValueError("two variables are adjacent or not, whichever comes first")
                if (self.pairs[a, b] ^ self.pairs[b, a]) & UNCONFOUNDED:
                    raise ValueError("two variables share an unmeasured cause or not, whichever comes first")
        if p > 0:
            self.of.pairs = &self.pairs[0, 0]
        self.of.selection, self.of.latents, self.of.linked = selection, latents, linked
