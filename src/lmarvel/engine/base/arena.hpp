// Room for many small records that live and end together: no record is freed by itself, and none moves.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <new>
#include <type_traits>
#include <vector>

namespace lmarvel {

class Arena {
public:
    // Room for so many records, each made anew.
    template <class T>
    T* take(std::size_t count) {
        static_assert(std::is_trivially_destructible_v<T> && alignof(T) <= alignof(std::max_align_t));
        constexpr std::size_t step = alignof(std::max_align_t);
        const std::size_t bytes = (count * sizeof(T) + step - 1) / step * step;
        if (bytes > left_) {
            const std::size_t size = std::max(bytes, chunk_);
            chunks_.emplace_back(new std::byte[size]);
            at_ = chunks_.back().get();
            left_ = size;
        }
        T* first = reinterpret_cast<T*>(at_);
        for (std::size_t i = 0; i < count; ++i) new (first + i) T();
        at_ += bytes;
        left_ -= bytes;
        return first;
    }

private:
    static constexpr std::size_t chunk_ = std::size_t(1) << 15;
    std::vector<std::unique_ptr<std::byte[]>> chunks_;
    std::byte* at_ = nullptr;
    std::size_t left_ = 0;
};

}  // namespace lmarvel
