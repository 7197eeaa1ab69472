// The search over DAGs with latent and selection nodes: the twin of lmarvel.search.hidden, where its steps are told.
#include "hidden.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <stdexcept>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "models.hpp"
#include "orders.hpp"

namespace lmarvel {

namespace {

template <int W>
class HiddenSearch final : public AnyHidden {
public:
    HiddenSearch(const double* R, int p, double n, double price, double noise, std::vector<int> kinds)
        : fits_(R, p, n, price), noise_(noise), kinds_(std::move(kinds)) {}

    int capacity() const override { return 64 * W; }
    std::size_t n_met() const override { return met_.size(); }
    FlatModel met(std::size_t i) const override { return flat(*met_.at(i)); }
    FlatModel fitted(const FlatModel& model) override { return flat(fits_.fit(taken(model))); }

    // Put hidden nodes into a model while the score falls; all models that were looked at closely are kept.
    Ended run(const FlatModel& model, const Watch& watch) override {
        return guarded(watch, [&] {
            const Found first = noted(taken(model));
            const Found large = climb(first, 4);
            if (large.get() != first.get()) climb(large, 2);
            climb(first, 2);
        });
    }

    // Drop hidden nodes that the score does not miss, while it stays below a limit; tell what the others are worth.
    Ended simplified(const FlatModel& model, double limit, const Watch& watch, FlatModel& simpler, bool& changed,
                     std::vector<MissedNode>& kept) override {
        return guarded(watch, [&] {
            M now = taken(model);
            changed = false;
            while (drop_one(now, limit, kept)) changed = true;
            simpler = flat(now);
        });
    }

private:
    using Set = Bits<W>;
    using M = Model<W>;
    using Found = std::shared_ptr<const M>;

    static constexpr std::size_t refreshed_ = 12, polished_ = 4;
    static constexpr double least_gain_ = 1.0;  // in units of the score
    static constexpr double missed_ = 0.25;     // a hidden node that the score misses by less of the price goes
    static constexpr double start_ = 0.8;       // loadings begin at this share of the leading eigenvector

    struct Change {
        int kind;
        Set nodes;
        int which = -1, node = -1;  // or one more parent of a selection node
    };

    // The same for scores that only rounding tells apart: then the first one is taken.
    static double rank(double score) { return std::nearbyint(score / 1e-5); }

    template <class Work>
    Ended guarded(const Watch& watch, const Work& work) {
        watch_ = &watch;
        try {
            work();
        } catch (const BudgetSpent&) {
            return Ended::LATE;
        } catch (const Interrupted&) {
            return Ended::INTERRUPTED;
        }
        return Ended::NO;
    }

    Found noted(M&& model) {
        met_.push_back(std::make_shared<const M>(std::move(model)));
        return met_.back();
    }

    // --- rounds -----------------------------------------------------------------------------------------

    Found climb(Found model, int smallest) {
        for (int done = 0; done < most_rounds; ++done) {
            watch_->tell(done);
            Found better = round(*model, smallest);
            if (better == nullptr || better->score > model->score - least_gain_) break;
            model = better;
        }
        return model;
    }

    Found round(const M& model, int smallest) {
        std::vector<std::pair<double, Change>> ranked;
        for (const Change& change : changes(model))
            if (change.nodes.count() >= smallest) ranked.emplace_back(rank(gain(model, change)), change);
        const auto by_first = [](const auto& a, const auto& b) { return a.first < b.first; };
        std::stable_sort(ranked.begin(), ranked.end(), by_first);
        if (ranked.size() > refreshed_) ranked.resize(refreshed_);
        std::vector<std::pair<double, M>> local;
        for (const auto& [_, change] : ranked) {
            watch_->check();
            std::optional<M> made = changed(model, change);
            if (!made) continue;
            Set around = near(*made, change.nodes);
            if (change.kind == LATENT) around.add(model.m());
            M fresh = refresh(*made, &around, 3, 0);
            M& better = rank(made->score) < rank(fresh.score) ? *made : fresh;
            local.emplace_back(rank(better.score), std::move(better));
        }
        std::stable_sort(local.begin(), local.end(), by_first);
        Found best;
        for (std::size_t i = 0; i < std::min(local.size(), polished_); ++i) {
            Found candidate = noted(polish(prune(std::move(local[i].second)), 0));
            if (best == nullptr || rank(candidate->score) < rank(best->score)) best = candidate;
        }
        return best == nullptr ? best : noted(polish(*best, 1));
    }

    bool drop_one(M& model, double limit, std::vector<MissedNode>& kept) {
        kept.clear();
        const int latents = model.m() - model.p;
        for (int i = 0; i < latents + int(model.chosen()); ++i) {
            const bool latent = i < latents;
            Set nodes{};
            if (latent) {
                for (int v = 0; v < model.m(); ++v)
                    if (model.parents[v].has(model.p + i)) nodes.add(v);
            } else {
                nodes = model.selections[i - latents];
            }
            M less = latent ? without_latent(model, model.p + i) : without_selection(model, i - latents);
            less = prune(refresh(less, nullptr, 4, 0));
            const double missed = less.score - model.score;
            if (missed < missed_ * fits_.price && less.score < limit) {
                model = std::move(less);
                return true;
            }
            kept.push_back({latent ? LATENT : SELECTION, members_of(nodes), missed});
        }
        return false;
    }

    // --- changes ----------------------------------------------------------------------------------------

    std::vector<Change> changes(const M& model) const {
        std::vector<Change> found;
        for (const Set& nodes : joined_sets(model.parents, model.p, model.selections, [this] { watch_->check(); }))
            for (int kind : kinds_) found.push_back({kind, nodes});
        for (std::size_t i = 0; i < model.chosen(); ++i) {
            const Set& inside = model.selections[i];
            for (int v : members_of(common(without(near(model, inside), inside), first_nodes<W>(model.p))))
                found.push_back({SELECTION, joined(inside, single<W>(v)), int(i), v});
        }
        return found;
    }

    static Set near(const M& model, const Set& nodes) {
        Set around = nodes;
        for (int v = 0; v < model.m(); ++v) {
            if (nodes.has(v)) around = joined(around, model.parents[v]);
            else if (meets(model.parents[v], nodes)) around.add(v);
        }
        return around;
    }

    // By how much a change alters the score, by a rough fit; known as long as nothing near changes.
    double gain(const M& model, const Change& change) {
        const Set around = near(model, change.nodes);
        std::vector<std::uint64_t> key{std::uint64_t(change.kind), std::uint64_t(change.node + 1), 0};
        auto remember = [&](const Set& set) { key.insert(key.end(), set.word.begin(), set.word.end()); };
        remember(change.nodes);
        for (const Set& set : model.selections)
            if (meets(set, around)) remember(set), ++key[2];
        for (int v : members_of(around)) remember(model.parents[v]);
        auto known = gains_.find(key);
        if (known == gains_.end()) {
            watch_->check();
            const std::optional<M> made = changed(model, change);
            const double by = made ? made->score - model.score : std::numeric_limits<double>::infinity();
            known = gains_.emplace(std::move(key), by).first;
        }
        return known->second;
    }

    std::optional<M> changed(const M& model, const Change& change) {
        try {
            if (change.which >= 0) return enlarge(model, change.which, change.node);
            return change.kind == SELECTION ? select(model, change.nodes) : confound(model, change.nodes);
        } catch (const Singular&) {
            return std::nullopt;
        }
    }

    // Loadings that explain as much of a symmetric matrix as one vector can.
    static Vector leading(const Vector& A, std::size_t k) {
        Eigen found = largest_eigen(A, k);
        double most = 0.0;
        for (double x : found.vector) most = std::max(most, std::fabs(x));
        const auto first = std::find_if(found.vector.begin(), found.vector.end(),
                                        [most](double x) { return std::fabs(x) > most * (1 - 1e-9); });
        const double scale = start_ * std::sqrt(std::max(found.value, 0.05)) * (*first > 0 ? 1.0 : -1.0);
        for (double& x : found.vector) x *= scale;
        return std::move(found.vector);
    }

    // The structure and the parameters of a model, without the edges inside a set.
    static M apart(const M& model, const Set& clique) {
        M start = copied(model);
        const std::size_t m = model.m();
        for (int v : members_of(clique)) {
            for (int u : members_of(common(start.parents[v], clique))) start.B[v * m + u] = 0.0;
            start.parents[v] = without(start.parents[v], clique);
        }
        return start;
    }

    // What a fit begins with.
    static M copied(const M& model) {
        M start;
        start.p = model.p;
        start.parents = model.parents, start.selections = model.selections, start.order = model.order;
        start.B = model.B, start.log_variance = model.log_variance, start.V = model.V;
        return start;
    }

    // A selection node in place of the edges inside a clique.
    M select(const M& model, const Set& clique) {
        const std::vector<int> nodes = members_of(clique);
        const std::size_t k = nodes.size(), m = model.m(), s = model.chosen();
        const Vector& K = model.precision();
        Vector inner(k * k, 0.0);
        for (std::size_t i = 0; i < k; ++i)
            for (std::size_t j = 0; j < k; ++j)
                if (i != j) inner[i * k + j] = K[nodes[i] * m + nodes[j]];
        const Vector loadings = leading(inner, k);
        M start = apart(model, clique);
        start.V.assign(m * (s + 1), 0.0);
        for (std::size_t v = 0; v < m; ++v) std::copy_n(model.V.begin() + v * s, s, start.V.begin() + v * (s + 1));
        for (std::size_t i = 0; i < k; ++i) start.V[nodes[i] * (s + 1) + s] = loadings[i];
        start.selections.push_back(clique);
        return fits_.fit(std::move(start), true);
    }

    // A latent node in place of the edges inside a clique.
    M confound(const M& model, const Set& clique) {
        const std::vector<int> nodes = members_of(clique);
        const std::size_t k = nodes.size(), m = model.m(), s = model.chosen();
        if (m + 1 > std::size_t(capacity())) throw std::length_error("no room for another latent node");
        M start = apart(model, clique);
        const Vector& Sigma = model.covariance();
        Vector errors(k * k), carried(k * m, 0.0);  // the errors have the covariance A Sigma A'
        const auto row = [&](std::size_t i, const auto& use) {
            use(std::size_t(nodes[i]), 1.0);
            for (int u : members_of(start.parents[nodes[i]])) use(std::size_t(u), -start.B[nodes[i] * m + u]);
        };
        for (std::size_t i = 0; i < k; ++i)
            row(i, [&](std::size_t u, double a) {
                for (std::size_t v = 0; v < m; ++v) carried[i * m + v] += a * Sigma[u * m + v];
            });
        for (std::size_t j = 0; j < k; ++j)
            for (std::size_t i = 0; i < k; ++i) {
                double sum = 0.0;
                row(j, [&](std::size_t u, double a) { sum += a * carried[i * m + u]; });
                errors[i * k + j] = i == j ? sum / 2 : sum;
            }
        const Vector loadings = leading(errors, k);
        Vector B((m + 1) * (m + 1), 0.0);
        for (std::size_t v = 0; v < m; ++v) std::copy_n(start.B.begin() + v * m, m, B.begin() + v * (m + 1));
        start.B = std::move(B);
        start.V.resize((m + 1) * s, 0.0);
        start.log_variance.push_back(0.0);
        start.parents.emplace_back();
        for (std::size_t i = 0; i < k; ++i) {
            start.B[nodes[i] * (m + 1) + m] = loadings[i];
            start.log_variance[nodes[i]] = std::max(start.log_variance[nodes[i]], std::log(0.1));
            start.parents[nodes[i]].add(int(m));
        }
        start.order.insert(start.order.begin(), int(m));
        return fits_.fit(std::move(start), true);
    }

    // v as one more parent of a selection node, in place of its edges to the others.
    M enlarge(const M& model, int which, int v) {
        const Set inside = model.selections[which];
        const std::size_t m = model.m(), s = model.chosen();
        M start = copied(model);
        start.parents[v] = without(start.parents[v], inside);
        for (int u : members_of(inside)) {
            start.parents[u].drop(v);
            start.B[v * m + u] = start.B[u * m + v] = 0.0;
        }
        start.selections[which].add(v);
        start.V[v * s + which] = -0.3;
        M other = copied(start);
        other.V[v * s + which] = 0.3;
        M first = fits_.fit(std::move(other), true), second = fits_.fit(std::move(start), true);
        return rank(second.score) < rank(first.score) ? second : first;
    }

    // --- structural EM ----------------------------------------------------------------------------------

    struct Ordered {
        std::vector<int> order;
        std::vector<Set> parents;
        double score;
    };

    // Search for orders again, given the hidden nodes, and fit what is found; a degenerate model stays as it is.
    M refresh(const M& model, const Set* only, int sweeps, int families) {
        try {
            const Vector S = completed(model);
            if (S.empty()) return model;
            Regressions<W> best(S.data(), model.m(), fits_.n, fits_.price);
            Ordered found = settle(best, model.order, sweeps, only);
            if (families) turn_families(best, found, families);
            return without_idle(fits_.fit(expected(model, S, std::move(found))));
        } catch (const Singular&) {
            return model;
        }
    }

    // The expected covariance of observed and latent nodes, selection undone; empty where there is none.
    Vector completed(const M& model) const {
        const std::size_t p = model.p, m = model.m(), l = m - p, s = model.chosen();
        Vector S(m * m);
        for (std::size_t i = 0; i < p; ++i) std::copy_n(fits_.R.begin() + i * p, p, S.begin() + i * m);
        if (l) {
            const Vector& Sigma = model.covariance();
            Vector seen(p * p), on_seen(p * l);
            for (std::size_t i = 0; i < p; ++i) {
                std::copy_n(Sigma.begin() + i * m, p, seen.begin() + i * p);
                std::copy_n(Sigma.begin() + i * m + p, l, on_seen.begin() + i * l);
            }
            on_seen = solved(seen, p, std::move(on_seen), l);
            for (std::size_t a = 0; a < l; ++a)
                for (std::size_t j = 0; j < p; ++j) {
                    double sum = 0.0;
                    for (std::size_t i = 0; i < p; ++i) sum += on_seen[i * l + a] * fits_.R[i * p + j];
                    S[(p + a) * m + j] = S[j * m + p + a] = sum;
                }
            for (std::size_t a = 0; a < l; ++a)
                for (std::size_t b = 0; b < l; ++b) {
                    double sum = Sigma[(p + a) * m + p + b];
                    for (std::size_t i = 0; i < p; ++i)
                        sum += (S[(p + a) * m + i] - Sigma[(p + a) * m + i]) * on_seen[i * l + b];
                    S[(p + a) * m + p + b] = sum;
                }
        }
        if (!s) return S;
        Vector added(m * m, 0.0);
        for (std::size_t j = 0; j < s; ++j)
            for (int u : members_of(model.selections[j]))
                for (int v : members_of(model.selections[j])) added[u * m + v] += model.V[u * s + j] * model.V[v * s + j];
        const Vector K = inverted(S, m);
        for (double share = 1.0; share >= 0.3; share *= 0.9) {
            Vector less(m * m), root;
            for (std::size_t i = 0; i < m * m; ++i) less[i] = K[i] - share * added[i];
            root = less;
            for (std::size_t i = 0; i < m; ++i) root[i * m + i] -= 1e-3;  // no eigenvalue below this
            if (factorise(root.data(), m)) return inverted(less, m);
        }
        return {};
    }

    Ordered result_of(const AnySweeper& sweeper, std::size_t m) const {
        Ordered found{std::vector<int>(m), std::vector<Set>(m), 0.0};
        Vector scores(m);
        std::vector<std::uint64_t> words(m * W);
        sweeper.result(found.order.data(), scores.data(), words.data());
        for (std::size_t v = 0; v < m; ++v) std::copy_n(words.begin() + v * W, W, found.parents[v].word.begin());
        for (double score : scores) found.score += score;
        return found;
    }

    // Move each variable (of `only`) to its best place until none moves.
    Ordered settle(AnyRegressions& best, const std::vector<int>& order, int sweeps, const Set* only) const {
        const auto sweeper = best.sweeper(order);
        Ordered now = result_of(*sweeper, order.size());
        for (int i = 0; i < sweeps; ++i) {
            bool moved = false;
            for (int v : now.order) {
                if (only != nullptr && !only->has(v)) continue;
                watch_->check();
                moved |= sweeper->move(v, noise_);
            }
            if (!moved) break;
            now = result_of(*sweeper, order.size());
        }
        return now;
    }

    // Put a variable and then its parents in front and settle again, until that does not help.
    void turn_families(AnyRegressions& best, Ordered& found, int rounds) const {
        for (int i = 0; i < rounds; ++i) {
            const double start = found.score;
            const std::vector<int> variables = found.order;
            for (int v : variables) {
                const Set parents = found.parents[v];
                if (parents.count() < 2) continue;
                std::vector<int> order{v};
                for (int u : found.order)
                    if (parents.has(u)) order.push_back(u);
                for (int u : found.order)
                    if (u != v && !parents.has(u)) order.push_back(u);
                Ordered turned = settle(best, order, 6, nullptr);
                if (turned.score < found.score - noise_) found = std::move(turned);
            }
            if (found.score > start - noise_) break;
        }
    }

    // The DAG that was found in a completed covariance, with its regressions; latent nodes get unit variances.
    M expected(const M& model, const Vector& S, Ordered&& found) const {
        const std::size_t m = model.m(), s = model.chosen(), p = model.p;
        M start;
        start.p = model.p;
        start.B.assign(m * m, 0.0);
        start.log_variance.assign(m, 0.0);
        Vector scale(m, 1.0), slope;
        for (std::size_t v = 0; v < m; ++v) {
            const std::vector<int> parents = members_of(found.parents[v]);
            const double variance = std::max(regress(S.data(), m, int(v), parents, slope), 1e-6);
            for (std::size_t i = 0; i < parents.size(); ++i) start.B[v * m + parents[i]] = slope[i];
            if (v < p) start.log_variance[v] = std::log(variance);
            else scale[v] = std::sqrt(variance);
        }
        for (std::size_t v = 0; v < m; ++v)
            for (std::size_t u = 0; u < m; ++u) start.B[v * m + u] *= scale[u] / scale[v];
        start.V = model.V;
        for (std::size_t v = 0; v < m; ++v)
            for (std::size_t j = 0; j < s; ++j) start.V[v * s + j] *= scale[v];
        start.parents = std::move(found.parents);
        start.selections = model.selections;
        start.order = std::move(found.order);
        return start;
    }

    // Refresh and prune the whole model while that helps.
    M polish(M model, int families) {
        for (int i = 0; i < 3; ++i) {
            M fresh = prune(refresh(model, nullptr, 4, families));
            const double gained = model.score - fresh.score;
            if (gained > 1e-3) model = std::move(fresh);
            if (gained < 0.5) break;
        }
        return model;
    }

    // --- what is not worth its price --------------------------------------------------------------------

    using Weak = std::tuple<double, int, int, bool>;  // what dropping it would lose, whose, which, of a selection node?

    // Drop edges and memberships that are not worth their price: a quadratic guess proposes, the fit decides.
    M prune(M model) {
        for (int i = 0; i < 25; ++i) {
            watch_->check();
            bool dropped = false;
            for (const auto& [guess, index, v, is_selection] : weakest(model)) {
                if (guess > 2 * fits_.price) return without_idle(std::move(model));
                M start = copied(model);
                (is_selection ? start.selections : start.parents)[index].drop(v);
                M fitted = fits_.fit(std::move(start));
                if (fitted.score < model.score - 1e-3) {
                    model = std::move(fitted);
                    dropped = true;
                    break;
                }
            }
            if (!dropped) break;
        }
        return without_idle(std::move(model));
    }

    // The three weakest edges and memberships; none of a degenerate model.
    std::vector<Weak> weakest(const M& model) const {
        std::vector<Weak> found;
        const std::size_t m = model.m(), s = model.chosen();
        try {
            const Vector& Sigma = model.covariance();
            for (std::size_t v = 0; v < m; ++v) {
                const std::vector<int> near = members_of(model.parents[v]);
                const std::size_t k = near.size();
                if (!k) continue;
                Vector beside(k * k);
                for (std::size_t i = 0; i < k; ++i)
                    for (std::size_t j = 0; j < k; ++j) beside[i * k + j] = Sigma[near[i] * m + near[j]];
                const Vector inverse = inverted(beside, k);
                for (std::size_t i = 0; i < k; ++i) {
                    const double slope = model.B[v * m + near[i]];
                    const double share = slope * slope / inverse[i * k + i] / std::exp(model.log_variance[v]);
                    found.emplace_back(fits_.n * std::log1p(share), int(v), near[i], false);
                }
            }
            for (std::size_t j = 0; j < s; ++j)
                for (int v : members_of(model.selections[j])) {
                    const double loading = model.V[v * s + j];
                    found.emplace_back(fits_.n * std::log1p(loading * loading * Sigma[v * m + v]) / 2, int(j), v, true);
                }
        } catch (const Singular&) {
            return {};
        }
        const auto end = found.begin() + std::min<std::size_t>(found.size(), 3);
        std::partial_sort(found.begin(), end, found.end());
        found.erase(end, found.end());
        return found;
    }

    // Drop hidden nodes that tie nothing together.
    M without_idle(M model) {
        for (;;) {
            int idle = model.p;
            while (idle < model.m() && !is_idle(model, idle)) ++idle;
            if (idle < model.m()) {
                model = without_latent(model, idle);
                continue;
            }
            const auto none = std::find(model.selections.begin(), model.selections.end(), Set{});
            if (none == model.selections.end()) return model;
            model = without_selection(model, none - model.selections.begin());
        }
    }

    static bool is_idle(const M& model, int latent) {
        int uses = 0;
        for (const Set& set : model.parents) uses += set.has(latent);
        for (const Set& set : model.selections) uses += set.has(latent);
        return uses == 0 || (uses == 1 && is_empty(model.parents[latent]));
    }

    M without_latent(const M& model, int latent) {
        const std::size_t m = model.m(), s = model.chosen();
        M start;
        start.p = model.p;
        const auto cut = [latent](const Set& set) {
            Set fewer{};
            for (int v : members_of(set))
                if (v != latent) fewer.add(v - (v > latent));
            return fewer;
        };
        for (std::size_t v = 0; v < m; ++v) {
            if (int(v) == latent) continue;
            start.parents.push_back(cut(model.parents[v]));
            start.log_variance.push_back(model.log_variance[v]);
            for (std::size_t u = 0; u < m; ++u)
                if (int(u) != latent) start.B.push_back(model.B[v * m + u]);
            start.V.insert(start.V.end(), model.V.begin() + v * s, model.V.begin() + (v + 1) * s);
        }
        for (const Set& set : model.selections) start.selections.push_back(cut(set));
        for (int v : model.order)
            if (v != latent) start.order.push_back(v - (v > latent));
        return fits_.fit(std::move(start));
    }

    M without_selection(const M& model, std::size_t index) {
        const std::size_t m = model.m(), s = model.chosen();
        M start = copied(model);
        start.selections.erase(start.selections.begin() + index);
        start.V.clear();
        for (std::size_t v = 0; v < m; ++v)
            for (std::size_t j = 0; j < s; ++j)
                if (j != index) start.V.push_back(model.V[v * s + j]);
        return fits_.fit(std::move(start));
    }

    // --- to and from Python -----------------------------------------------------------------------------

    static Set set_of(const std::vector<int>& nodes) {
        Set set{};
        for (int v : nodes) set.add(v);
        return set;
    }

    M taken(const FlatModel& flat) const {
        M model;
        model.p = fits_.p;
        for (const auto& nodes : flat.parents) model.parents.push_back(set_of(nodes));
        for (const auto& nodes : flat.selections) model.selections.push_back(set_of(nodes));
        model.order = flat.order;
        model.B = flat.B, model.log_variance = flat.log_variance, model.V = flat.V;
        model.score = flat.score;
        return model;
    }

    static FlatModel flat(const M& model) {
        FlatModel found;
        for (const Set& set : model.parents) found.parents.push_back(members_of(set));
        for (const Set& set : model.selections) found.selections.push_back(members_of(set));
        found.order = model.order;
        found.B = model.B, found.log_variance = model.log_variance, found.V = model.V;
        found.score = model.score;
        return found;
    }

    Fits<W> fits_;
    double noise_;
    std::vector<int> kinds_;
    const Watch* watch_ = nullptr;
    std::vector<Found> met_;
    struct HashWords {
        std::size_t operator()(const std::vector<std::uint64_t>& words) const {
            std::uint64_t h = 0x9e3779b97f4a7c15ull;
            for (auto word : words) {
                h ^= word;
                h *= 0xff51afd7ed558ccdull;
                h ^= h >> 32;
            }
            return std::size_t(h);
        }
    };
    std::unordered_map<std::vector<std::uint64_t>, double, HashWords> gains_;
};

}  // namespace

std::unique_ptr<AnyHidden> make_hidden(const double* R, int p, double n, double price, double noise,
                                       std::vector<int> kinds) {
    const int most = p + most_new_nodes;
    if (most <= 64) return std::make_unique<HiddenSearch<1>>(R, p, n, price, noise, std::move(kinds));
    if (most <= 128) return std::make_unique<HiddenSearch<2>>(R, p, n, price, noise, std::move(kinds));
    if (most <= 256) return std::make_unique<HiddenSearch<4>>(R, p, n, price, noise, std::move(kinds));
    if (most <= 1024) return std::make_unique<HiddenSearch<16>>(R, p, n, price, noise, std::move(kinds));
    return nullptr;
}

}  // namespace lmarvel
