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
        static_assert(std::is_trivially_destructible_v<T> && alignof(T) <= step_);
        const std::size_t bytes = (count * sizeof(T) + step_ - 1) / step_ * step_;
        if (bytes > left_) {
            const std::size_t size = std::max(bytes, std::min(largest_, std::max(smallest_, bytes_ / 2)));
            chunks_.emplace_back();
            chunks_.back().reset(new std::byte[size]);
            at_ = chunks_.back().get();
            left_ = size;
            bytes_ += size;
        }
        T* first = reinterpret_cast<T*>(at_);
        for (std::size_t i = 0; i < count; ++i) new (first + i) T();
        at_ += bytes;
        left_ -= bytes;
        return first;
    }

    std::size_t bytes() const { return bytes_; }  // that are held, in use or not

private:
    static constexpr std::size_t step_ = 8, smallest_ = std::size_t(1) << 10, largest_ = std::size_t(1) << 16;
    std::vector<std::unique_ptr<std::byte[]>> chunks_;
    std::byte* at_ = nullptr;
    std::size_t left_ = 0, bytes_ = 0;
};

}  // namespace lmarvel
