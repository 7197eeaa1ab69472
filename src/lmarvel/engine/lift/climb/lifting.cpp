#include "lift/climb/lifting.hpp"

namespace lmarvel {

std::unique_ptr<AnyLifting> make_lifting(const double* R, int m, double n, double price, const char* near) {
    if (m <= 64) return std::make_unique<Lifting<1>>(R, m, n, price, near);
    if (m <= 128) return std::make_unique<Lifting<2>>(R, m, n, price, near);
    if (m <= 256) return std::make_unique<Lifting<4>>(R, m, n, price, near);
    if (m <= most_variables) return std::make_unique<Lifting<16>>(R, m, n, price, near);
    return nullptr;
}

}  // namespace lmarvel
