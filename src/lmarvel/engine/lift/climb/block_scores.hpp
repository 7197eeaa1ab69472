// The scores of blocks with a memory: the twin of lmarvel.search.scores, lmarvel.score.scores and lmarvel.score.rewrite.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/hash.hpp"
#include "lift/climb/ancestral.hpp"
#include "lift/climb/concentration.hpp"
#include "lift/climb/districts.hpp"

namespace lmarvel {

template <int W>
class BlockScores {
public:
    using Set = Bits<W>;
    using Sets = std::vector<Set>;
    using Graph = Ancestral<W>;

    BlockScores(const double* R, int m, double n)
        : m_(m), n_(n), R_(R, R + std::size_t(m) * m), single_(m) {}

    double rows() const { return n_; }

    Vector work;            // room for fits
    bool converged = true;  // whether all fits so far came to their end

    // Minus two log-likelihood per row of a district given its parents, or of an undirected component.
    double of_block(const Set& block, const Graph& graph) {
        if (graph.neighbors[block.first()].any()) return of_undirected(block, graph.neighbors);
        if (block.count() == 1) return of_single(block.first(), graph.parents[block.first()]);
        key_.clear();
        append(key_, block);
        block.each([&](int v) { append(key_, graph.parents[v]), append(key_, graph.spouses[v]); });
        const auto known = districts_.find(key_);
        if (known != districts_.end()) return known->second;
        const Words key = key_;
        return districts_[key] = of_district(block, graph.parents, graph.spouses);
    }

    // The same of a whole graph.
    double of_graph(const Graph& graph) {
        Set done;
        Sum total;
        for (int v = 0; v < graph.size(); ++v) {
            if (done.has(v)) continue;
            const Set block = graph.block(v);
            done |= block;
            total.add(of_block(block, graph));
        }
        return total.value();
    }

    // The covariances among some variables.
    Vector among(const std::vector<int>& nodes) const {
        const std::size_t k = nodes.size();
        Vector S(k * k);
        for (std::size_t i = 0; i < k; ++i)
            for (std::size_t j = 0; j < k; ++j) S[i * k + j] = R_[std::size_t(nodes[i]) * m_ + nodes[j]];
        return S;
    }

    static std::vector<char> joined_among(const std::vector<int>& nodes, const Sets& neighbors) {
        const std::size_t k = nodes.size();
        std::vector<char> joined(k * k);
        for (std::size_t i = 0; i < k; ++i)
            for (std::size_t j = 0; j < k; ++j) joined[i * k + j] = neighbors[nodes[i]].has(nodes[j]);
        return joined;
    }

private:
    using Memory = std::unordered_map<Words, double, HashWords>;
    static constexpr double infinity = std::numeric_limits<double>::infinity();

    double of_single(int v, const Set& parents) {
        auto& memory = single_[v];
        const auto known = memory.find(parents);
        if (known != memory.end()) return known->second;
        return memory[parents] = regression(v, parents);
    }

    double regression(int v, const Set& parents) {
        const double own = R_[std::size_t(v) * m_ + v];
        parents.members(nodes_);
        if (!(n_ > double(nodes_.size()) + 1)) return infinity;
        double variance = own;
        if (!nodes_.empty()) {
            nodes_.push_back(v);
            Vector root = among(nodes_);
            if (!factorise(root.data(), nodes_.size())) return infinity;
            variance = root.back() * root.back();
            if (variance < DETERMINED * own) return infinity;
        }
        return LOG_2PI + std::log(variance) + 1.0;
    }

    double of_district(const Set& district, Sets parents, Sets spouses) {
        Set all = district;
        district.each([&](int v) { all |= parents[v]; });
        if (n_ <= all.count()) return infinity;
        rewrite(district, parents, spouses);
        double total = 0.0;
        Set done;
        district.each([&](int v) {
            if (done.has(v)) return;
            const Set piece = closure(spouses, Set::of(v));
            done |= piece;
            total += piece.count() == 1 ? of_single(v, parents[v]) : of_piece(piece, parents, spouses);
        });
        return total;
    }

    // Turn x <-> y into x --> y wherever that leaves the model as it is.
    static void rewrite(const Set& district, Sets& parents, Sets& spouses) {
        std::vector<int> order;
        for (bool found = true; found;) {
            found = false;
            district.members(order);
            std::vector<int> size(parents.size());
            for (int v : order) size[v] = spouses[v].count() + parents[v].count();
            // Nodes with few parents and spouses can be swallowed by most others: try these first.
            std::stable_sort(order.begin(), order.end(), [&size](int a, int b) { return size[a] < size[b]; });
            for (int x : order)
                spouses[x].each([&](int y) {
                    if (!parents[x].within(parents[y]) || !spouses[x].without(y).within(spouses[y])) return;
                    spouses[x].drop(y);
                    spouses[y].drop(x);
                    parents[y].add(x);
                    found = true;
                });
        }
    }

    double of_piece(const Set& piece, const Sets& parents, const Sets& spouses) {
        Words key;
        append(key, piece);
        piece.each([&](int v) { append(key, parents[v]), append(key, spouses[v]); });
        const auto known = pieces_.find(key);
        if (known != pieces_.end()) return known->second;
        Set above;
        piece.each([&](int v) { above |= parents[v]; });
        std::vector<int> order, outside;
        piece.members(order);
        above.without(piece).members(outside);
        const std::size_t k = order.size();
        order.insert(order.end(), outside.begin(), outside.end());
        std::vector<std::size_t> place(parents.size());
        for (std::size_t i = 0; i < order.size(); ++i) place[order[i]] = i;
        std::vector<DistrictFit::Places> causes(k), beside(k);
        for (std::size_t i = 0; i < k; ++i) {
            parents[order[i]].each([&](int u) { causes[i].push_back(place[u]); });
            spouses[order[i]].each([&](int u) { beside[i].push_back(place[u]); });
        }
        DistrictFit fit(among(order), k, order.size(), std::move(causes), std::move(beside));
        const double score = fit.score();
        converged = converged && fit.converged;
        return pieces_[key] = score;
    }

    double of_undirected(const Set& block, const Sets& neighbors) {
        key_.clear();
        append(key_, block);
        block.each([&](int v) { append(key_, neighbors[v]); });
        const auto known = undirected_.find(key_);
        if (known != undirected_.end()) return known->second;
        const Words key = key_;
        if (n_ <= block.count()) return undirected_[key] = infinity;
        const Simplicial<W> found = take_off_simplicial(neighbors, block);
        Sum total;
        for (const auto& [v, clique] : found.taken) total.add(of_single(v, clique));
        const double core = found.left.any() ? of_core(found.left, neighbors) : 0.0;
        return undirected_[key] = total.value() + core;
    }

    // Fit what no simplicial node is left in by covariance selection.
    double of_core(const Set& core, const Sets& neighbors) {
        Words key;
        append(key, core);
        core.each([&](int v) { append(key, neighbors[v] & core); });
        const auto known = cores_.find(key);
        if (known != cores_.end()) return known->second;
        std::vector<int> nodes;
        core.members(nodes);
        Concentration fit(among(nodes), joined_among(nodes, neighbors), nodes.size(), work);
        const double score = fit.fit(1e-12) ? fit.value() + double(nodes.size()) * LOG_2PI : infinity;
        converged = converged && (fit.converged || !std::isfinite(score));
        return cores_[key] = score;
    }

    std::size_t m_;
    double n_;
    Vector R_;
    std::vector<std::unordered_map<Set, double, HashBits<W>>> single_;
    Memory districts_, pieces_, undirected_, cores_;
    Words key_;
    std::vector<int> nodes_;
};

}  // namespace lmarvel
