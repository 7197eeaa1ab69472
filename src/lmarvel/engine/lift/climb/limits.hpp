// Which graphs a search may walk over, where something is known beforehand: the twin of lmarvel.search.limits.
#pragma once

#include <initializer_list>
#include <vector>

#include "lift/climb/ancestral.hpp"
#include "lift/constants.hpp"

namespace lmarvel {

template <int W>
class Limits {
public:
    using Set = Bits<W>;
    using Sets = std::vector<Set>;
    using Graph = Ancestral<W>;

    explicit Limits(const SearchLimits& known)
        : known_(known), required_(rows(known.required)), forbidden_(rows(known.forbidden)), never_(rows(known.never)),
          not_from_(columns(known.never)), causes_(rows(known.causes)), effects_(rows(known.effects)),
          unconfounded_(rows(known.unconfounded)) {
        for (std::size_t v = 0; v < known.p; ++v) on_paths_ = on_paths_ || never_[v].any() || effects_[v].any();
        on_paths_ = on_paths_ && !known.local;
    }

    // Whether a graph that fits still does with this edge in place of the present one.
    bool allows(const Graph& graph, int x, int y, Edge kind) const {
        if (!edge_fits(x, y, kind)) return false;
        if (!on_paths_) return true;
        Sets up = anteriors(graph), down = graph.children;
        for (Sets* sets : {&up, &down}) (*sets)[x].drop(y), (*sets)[y].drop(x);
        if (kind == FORTH || kind == UNDIRECTED) up[y].add(x);
        if (kind == BACK || kind == UNDIRECTED) up[x].add(y);
        if (kind == FORTH) down[x].add(y);
        if (kind == BACK) down[y].add(x);
        return never_fit(up) && effects_fit(down);
    }

    // Whether a graph breaks no statement.
    bool fits(const Graph& graph) const {
        for (int x = 0; x < graph.size(); ++x) {
            const Set joined = graph.adjacent(x);
            if (joined.meets(forbidden_[x]) || !required_[x].within(joined)) return false;
            if ((graph.children[x] | graph.neighbors[x]).meets(never_[x])) return false;
            if (graph.neighbors[x].any() && !known_.selection) return false;
            if (graph.spouses[x].any() && !known_.latents) return false;
            if (graph.spouses[x].meets(causes_[x]) || graph.spouses[x].meets(unconfounded_[x])) return false;
        }
        return never_fit(anteriors(graph)) && effects_fit(graph.children);
    }

    // The graph itself if it fits, else one that does, with as many of its edges as possible.
    Graph repaired(const Graph& graph) const {
        Graph twin = fits(graph) ? graph : filled(graph);
        twin.limits = this;
        return twin;
    }

private:
    bool edge_fits(int x, int y, Edge kind) const {
        if (kind == NO_EDGE) return !required_[x].has(y);
        if (forbidden_[x].has(y)) return false;
        const bool forth = never_[x].has(y), back = never_[y].has(x);
        if (kind == UNDIRECTED) return known_.selection && !forth && !back;
        if (kind == BOTH && (!known_.latents || unconfounded_[x].has(y))) return false;
        if (kind == BOTH) return !causes_[x].has(y) && !causes_[y].has(x);
        return !(kind == FORTH ? forth : back);
    }

    // Whether no node is anterior to one that it is not a cause of.
    bool never_fit(const Sets& up) const {
        for (std::size_t v = 0; v < up.size(); ++v)
            if (not_from_[v].any() && closure(up, Set::of(int(v))).meets(not_from_[v])) return false;
        return true;
    }

    bool effects_fit(const Sets& down) const {
        for (std::size_t v = 0; v < down.size(); ++v)
            if (effects_[v].any() && !effects_[v].within(closure(down, Set::of(int(v))))) return false;
        return true;
    }

    static Sets anteriors(const Graph& graph) {
        Sets up(graph.parents);
        for (int v = 0; v < graph.size(); ++v) up[v] |= graph.neighbors[v];
        return up;
    }

    // --- graphs to begin with -------------------------------------------------------------------------------

    Graph filled(const Graph& graph) const {
        const int n = graph.size();
        Graph found(n);
        for (int a = 0; a < n; ++a)
            effects_[a].each([&](int b) {
                if (!forbidden_[a].has(b)) add(found, a, b, {FORTH});
            });
        for (int x = 0; x < n; ++x)
            required_[x].each([&](int y) {
                if (x < y) add(found, x, y, {graph.edge(x, y), FORTH, BACK, BOTH, UNDIRECTED});
            });
        for (int a = 0; a < n; ++a) effects_[a].each([&](int b) { join(found, a, b); });
        found.limits = this;
        for (int x = 0; x < n; ++x)
            graph.adjacent(x).each([&](int y) {
                if (x < y) add(found, x, y, {graph.edge(x, y)});
            });
        return found;
    }

    // Put the first of these edges that is legal and breaks nothing, where there is none.
    void add(Graph& graph, int x, int y, std::initializer_list<Edge> kinds) const {
        if (graph.edge(x, y) != NO_EDGE) return;
        for (Edge kind : kinds) {
            if (kind == NO_EDGE || !edge_fits(x, y, kind) || !graph.is_legal(x, y, kind)) continue;
            Graph twin = graph;
            twin.apply(x, y, kind);
            if (graph.limits == nullptr && !never_fit(anteriors(twin))) continue;
            graph = std::move(twin);
            return;
        }
    }

    // Lead from a cause to an effect that is not adjacent to it, by a shortest way of edges that may be there.
    void join(Graph& graph, int a, int b) const {
        if (graph.descendants[a].has(b)) return;
        const int n = graph.size();
        std::vector<int> origin(n, -1), queue{a}, way{b};
        origin[a] = a;
        for (std::size_t i = 0; i < queue.size(); ++i)  // grows while it is read
            for (int w = 0, v = queue[i]; w < n; ++w)
                if (origin[w] < 0 && !forbidden_[v].has(w) && !never_[v].has(w)) origin[w] = v, queue.push_back(w);
        while (way.back() != a && origin[way.back()] >= 0) way.push_back(origin[way.back()]);
        for (std::size_t i = way.size(); i-- > 1;) add(graph, way[i], way[i - 1], {FORTH});
    }

    Sets rows(const std::vector<char>& matrix) const {
        Sets found(known_.p);
        for (std::size_t v = 0; v < known_.p; ++v)
            for (std::size_t u = 0; u < known_.p; ++u)
                if (matrix[v * known_.p + u]) found[v].add(int(u));
        return found;
    }

    Sets columns(const std::vector<char>& matrix) const {
        Sets found(known_.p);
        for (std::size_t v = 0; v < known_.p; ++v)
            for (std::size_t u = 0; u < known_.p; ++u)
                if (matrix[v * known_.p + u]) found[u].add(int(v));
        return found;
    }

    const SearchLimits& known_;
    Sets required_, forbidden_;  // of each node: with whom it is adjacent, and with whom it is not
    Sets never_, not_from_;      // what it is not anterior to, and what is not anterior to it
    Sets causes_, effects_;      // what it is a cause of: all that follows, and what was said
    Sets unconfounded_;          // what it shares no unmeasured cause with
    bool on_paths_ = false;      // whether paths can break what no edge breaks
};

}  // namespace lmarvel
