#include "lift/orders/orders.hpp"

namespace lmarvel {

std::unique_ptr<AnyRegressions> make_regressions(const double* S, int m, double n, double price) {
    if (m <= 64) return std::make_unique<Regressions<1>>(S, m, n, price);
    if (m <= 128) return std::make_unique<Regressions<2>>(S, m, n, price);
    if (m <= 256) return std::make_unique<Regressions<4>>(S, m, n, price);
    if (m <= most_variables) return std::make_unique<Regressions<16>>(S, m, n, price);
    return nullptr;
}

}  // namespace lmarvel
