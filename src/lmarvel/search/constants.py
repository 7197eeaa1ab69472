"""The numbers that Lift's search rests on, in one place; the compiled search is handed these very values.

Scores are minus two log-likelihoods with prices, so a unit is a unit of twice the log-likelihood, and a typical edge
costs about 15 of them (2 log N).

**When are two scores equal?** Classes of graphs have many members with one score, and which of them a search takes must
hang neither on rounding nor on the order of the columns: of equals the first is taken. How far scores of equals may lie
apart depends on what was computed:

==============  =======================================================================================================
``noise``       scores of graphs: sums of closed forms, whose rounding is below 1e-6
``row_noise``   the same for many rows: fits of districts end within 1e-12 of their maximum per row
``tie``         scores of one model with hidden nodes by two ways of adding: below 1e-5 by far, different models above
``step``        fits of models with hidden nodes end within 1e-3 of their maximum: what gains less has gained nothing
``equal``       two models of one MAG, each some thousandths from its maximum: which is better says nothing below 0.01
``resting``     a polish that gains less than 0.5 is not repeated: it moves along a valley
``alike``       shares of a precision: two variables predict each other equally well, and only rounding differs
==============  =======================================================================================================
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Constants:
    """What Lift's search rests on.

    Examples
    --------
    >>> LIFT.margin, LIFT.noise_of(2000), LIFT.noise_of(10**8)
    (0.75, 1e-06, 0.001)
    """

    # --- when scores are equal: see above ---
    noise: float = 1e-6
    row_noise: float = 1e-11
    tie: float = 1e-5
    step: float = 1e-3
    equal: float = 0.01
    resting: float = 0.5
    alike: float = 1e-9

    # --- what is kept ---
    near: float = 100.0  # graphs within so many units of the best one are kept: the support of a mark is read off them
    most_seen: int = 400

    # --- orders ---
    max_sweeps: int = 30  # from each start; nearly all end after three or four
    family_sweeps: int = 6  # after a family was turned
    family_rounds: int = 2
    family_hope: float = 3.0  # prices: a turned family that stays further behind is given up before all is swept

    # --- ancestral graphs ---
    margin: float = 0.75  # of a price: what latent causes and selection must gain beyond theirs: they explain much
    far_behind: float = 6.0  # prices: from a start further behind than this no climb on samples ended at the best graph
    climb_rounds: int = 4
    smallest_region: int = 4  # variables to undirect together: fewer are single changes
    largest_region: int = 30  # more take long to fit, and are hardly ever selected together
    local_steps: int = 10  # changes at the ends of an edge that became <->
    next_to_nothing: float = 0.125  # of a price: edges that go along with the weakest when a region is thinned

    # --- hidden nodes ---
    hidden_rounds: int = 60  # of each climb; nearly all end after a few
    largest_cliques: int = 20  # tried in a round, or one for two variables, beside edges and triangles
    most_sets: int = 400  # tried in a round in all, or ten per variable
    most_near: int = 30  # nodes near a change, searched again with it; twice as many among few_variables
    few_variables: int = 100  # up to so many, changes are fitted with all around them, and a third climb is made
    compared: int = 64  # the best of many changes where only what is nearby moves, which are fitted with all around
    refreshed: int = 12  # the best changes by a rough fit, which is unreliable: the gain comes from edges that then go
    polished: int = 4  # the best of these
    brief: int = 3  # one in so many of these where it takes long: among many changes, or with more nodes than most_near
    far_off: float = 100.0  # prices: a change whose rough fit is worse by more is not looked at closely
    least_gain: float = 1.0  # of a round; among more than few_variables that of a hidden node that is missed
    round_hope: float = 2.0  # of a round's gain: a second climb that is further behind the first one is given up
    missed: float = 0.25  # of a price: a hidden node that the score misses by less goes
    local_sweeps: int = 3  # of a refresh around a change
    whole_sweeps: int = 4  # of one of the whole model
    polish_rounds: int = 3
    prune_rounds: int = 25
    weakest: int = 3  # edges or memberships that a round of pruning tries
    hopeless: float = 2.0  # prices: what a quadratic guess says is worth more is not tried
    first_loading: float = 0.8  # of the leading eigenvector, where the fit of a new node begins
    enlarged_loading: float = 0.3  # of one more parent of a selection node, either way
    rough_tolerance: float = 0.05  # in units of the score: enough to compare changes
    rough_steps: int = 25
    fit_tolerance: float = 1e-3
    fit_steps: int = 60
    small_variance: float = 1e-5  # of standardised data: an error variance outside these is no finding
    large_variance: float = 20.0

    def noise_of(self, n: float) -> float:
        """Return below which difference two scores of graphs are equal, with so many rows."""
        return max(self.noise, self.row_noise * n)


LIFT = Constants()
