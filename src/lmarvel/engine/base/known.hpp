// What is known of the variables beforehand, closed under what follows: the twin of knowledge/closure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/sets.hpp"

namespace lmarvel {

// What a statement, or what follows from statements, says of a pair (a, b); bits of one number.
enum Said : std::uint8_t {
    CAUSES = 1, NEVER = 2, CAUSES_AS_SAID = 4, REQUIRED = 8, FORBIDDEN = 16, UNCONFOUNDED = 32, SAID_END = 64
};

// As it comes from outside: a number for each pair, p x p; null where nothing is known.
struct Statements {
    const std::uint8_t* pairs = nullptr;
    bool selection = true, latents = true;
    bool linked = false;  // whether K1 is needed
};

class Known {
public:
    Known(const Statements& said, Index p)
        : selection(said.selection), latents(said.latents), linked(said.linked), causes(p), as_said(p), never(p),
          idle(p), required(p), forbidden(p), unconfounded(p) {
        const std::uint8_t* bits = said.pairs;
        for (Index a = 0; a < p; ++a) {
            for (Index b = 0; b < p; ++b, ++bits) {
                if (*bits & CAUSES) causes.set(a, b);
                if (*bits & CAUSES_AS_SAID) as_said.set(a, b);
                if (*bits & NEVER) { never.set(a, b); idle.set(b, a); }
                if (*bits & REQUIRED) required.set(a, b);
                if (*bits & FORBIDDEN) forbidden.set(a, b);
                if (*bits & UNCONFOUNDED) { unconfounded.set(a, b); any_unconfounded = true; }
            }
        }
        std::vector<Index> first;  // of each kind
        for (Index x = 0; x < p; ++x) {
            std::size_t k = 0;
            while (k < first.size() && !same(first[k], x)) ++k;
            if (k == first.size()) first.push_back(x);
            kind.push_back(static_cast<Index>(k));
        }
        kinds = first.size();
    }

    const bool selection, latents, linked;
    // Row a: what it causes, or as was said in so many words; what it does not cause; what does not cause it; what it
    // is adjacent to, and what it is not; what it shares no unmeasured cause with.
    Rows causes, as_said, never, idle, required, forbidden, unconfounded;
    bool any_unconfounded = false;
    std::vector<Index> kind;  // variables that the same others do not cause are of a kind
    std::size_t kinds = 0;

    // Whether an edge x-y can be x <-> y.
    bool confounded(Index x, Index y) const { return latents && !unconfounded.has(x, y); }

    // Whether v causes neither x nor y: no set that separates the two needs it.
    bool useless(Index v, Index x, Index y) const { return idle.has(x, v) && idle.has(y, v); }

private:
    bool same(Index x, Index y) const { return std::equal(idle.row(x), idle.row(x) + idle.words(), idle.row(y)); }
};

}  // namespace lmarvel
