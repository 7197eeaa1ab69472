# What the engine's numbers mean: C++ has the names beside its enums, and Python reads them here.

cdef extern from "base/watch.hpp" namespace "lmarvel" nogil:
    vector[string] reason_names() except +

cdef extern from "independence/boundaries.hpp" namespace "lmarvel" nogil:
    vector[string] boundary_search_names() except +

cdef extern from "skeleton/run.hpp" namespace "lmarvel" nogil:
    vector[string] phase_names() except +
    vector[string] event_names() except +
    vector[string] method_names() except +
    vector[string] possible_d_sep_names() except +
    vector[string] collider_names() except +
    vector[string] mark_names() except +
    vector[string] rule_names() except +

cdef extern from "lift/climb/ancestral.hpp" namespace "lmarvel" nogil:
    vector[string] edge_names() except +

cdef extern from "lift/constants.hpp" namespace "lmarvel" nogil:
    vector[string] stage_names() except +

cdef extern from "lift/hidden/hidden.hpp" namespace "lmarvel" nogil:
    vector[string] hidden_kind_names() except +


cdef tuple words(vector[string] names):
    return tuple([name.decode() for name in names])


NAMES = MappingProxyType({
    "reasons": words(reason_names()),
    "boundary_searches": words(boundary_search_names()),
    "phases": words(phase_names()),
    "events": words(event_names()),
    "methods": words(method_names()),
    "possible_d_sep": words(possible_d_sep_names()),
    "colliders": words(collider_names()),
    "marks": words(mark_names()),
    "rules": words(rule_names()),
    "edges": words(edge_names()),
    "stages": words(stage_names()),
    "hidden_kinds": words(hidden_kind_names()),
})
"""The names of the members of each enum, by number."""


cdef int64_t number(str enum, name) except -1:
    known = NAMES[enum]
    if name not in known:
        raise ValueError(f"there is no {name!r} among {', '.join(known)}")
    return known.index(name)
