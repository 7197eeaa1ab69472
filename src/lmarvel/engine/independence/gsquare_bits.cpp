// Small tables of counts by bits: a row of bits for each level of a variable, and the processor counts those that levels
// share.
#include "independence/tests.hpp"

#include <algorithm>

namespace lmarvel {

namespace {
#if defined(__x86_64__) && defined(__GNUC__)
// The processor counts bits by itself if it is not twenty years old; who compiles for all of them has to ask for it.
__attribute__((target("popcnt"))) std::int32_t shared_bits(const std::uint64_t* a, const std::uint64_t* b, std::size_t n) {
    std::int64_t total = 0;
    for (std::size_t i = 0; i < n; ++i) total += __builtin_popcountll(a[i] & b[i]);
    return static_cast<std::int32_t>(total);
}
const bool by_bits = __builtin_cpu_supports("popcnt");
#elif defined(__aarch64__) && defined(__GNUC__)
std::int32_t shared_bits(const std::uint64_t* a, const std::uint64_t* b, std::size_t n) {
    std::int64_t total = 0;
    for (std::size_t i = 0; i < n; ++i) total += __builtin_popcountll(a[i] & b[i]);
    return static_cast<std::int32_t>(total);
}
constexpr bool by_bits = true;
#else
std::int32_t shared_bits(const std::uint64_t*, const std::uint64_t*, std::size_t) { return 0; }
constexpr bool by_bits = false;
#endif

void intersect(const std::uint64_t* a, const std::uint64_t* b, std::size_t n, std::uint64_t* out) {
    for (std::size_t i = 0; i < n; ++i) out[i] = a[i] & b[i];
}
}  // namespace

// The same table as `count` makes: the rows that a cell's levels share are those whose bits do.
void GSquare::count_bits(std::size_t d) {
    const auto of = [this](Index v) { return bits_[static_cast<std::size_t>(v)].data(); };
    for (; ready_bits_ + 1 < d; ++ready_bits_) {
        const Index w = member_[ready_bits_];
        const std::size_t before = ready_bits_ == 0 ? 1 : strata_[ready_bits_ - 1].size() / words_;
        auto& now = strata_[ready_bits_];
        now.resize(before * levels(w) * words_);
        for (std::size_t z = 0; z < before; ++z) {
            for (std::size_t l = 0; l < levels(w); ++l) {
                std::uint64_t* out = now.data() + (z * levels(w) + l) * words_;
                if (ready_bits_ == 0) std::copy_n(of(w) + l * words_, words_, out);
                else intersect(strata_[ready_bits_ - 1].data() + z * words_, of(w) + l * words_, words_, out);
            }
        }
    }
    const std::size_t before = d > 1 ? strata_[d - 2].size() / words_ : 1, last = d > 0 ? levels(member_[d - 1]) : 1;
    stratum_.resize(words_);
    part_.resize(words_);
    std::int32_t* cell = cells_.data();
    for (std::size_t z = 0; z < before; ++z) {
        for (std::size_t l = 0; l < last; ++l) {
            const std::uint64_t* stratum = d > 0 ? of(member_[d - 1]) + l * words_ : nullptr;
            if (d > 1) {
                intersect(strata_[d - 2].data() + z * words_, stratum, words_, stratum_.data());
                stratum = stratum_.data();
            }
            for (std::size_t i = 0; i < levels(x_); ++i) {
                const std::uint64_t* part = of(x_) + i * words_;
                if (stratum != nullptr) {
                    intersect(stratum, part, words_, part_.data());
                    part = part_.data();
                }
                for (std::size_t j = 0; j < levels(y_); ++j) *cell++ = shared_bits(part, of(y_) + j * words_, words_);
            }
        }
    }
}

bool GSquare::has_bit_counts() { return by_bits; }

}  // namespace lmarvel
