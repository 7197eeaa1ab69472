"""What a true graph implies is rejected as often as the level says; what a false one implies, more often."""

import numpy as np
import pytest
from scipy.stats import kstest

from lmarvel import PAG, CITestError, FisherZ, FunctionTest, MSeparation
from lmarvel.budget.clock import Clock
from lmarvel.ci.adapter import IndependenceTest
from lmarvel.estimators.check import check_model, later_check
from lmarvel.result.support.check import Cut, Implied, ModelCheck
from lmarvel.result.support.reliability import decode_check, encode_check
from lmarvel.simulate import LinearSEM, Study, erdos_renyi, hide
from tests.generators import random_study


def table(study, rows, seed):
    data = LinearSEM.random(study.dag, seed=seed).sample(study, rows, seed=seed + 1)
    return dict(zip(study.observed, data.T, strict=True))


def test_on_the_true_graph_the_p_values_are_uniform_and_failures_follow_the_level():
    rng, drawn, failed, tested = np.random.default_rng(0), [], 0, 0
    for seed in range(150):
        study = hide(erdos_renyi(9, 0.25, seed=seed), 1, seed % 2, seed=seed)
        check = check_model(study.pag, IndependenceTest(FisherZ(table(study, 400, seed))), 0.05)
        assert len(check.implied) == check.pairs
        if check.implied:  # those of one table depend on each other, so one of each counts
            drawn.append(check.implied[rng.integers(len(check.implied))].pvalue)
            failed, tested = failed + len(check.failed), tested + len(check.implied)
    assert kstest(drawn, "uniform").pvalue > 0.01
    assert 0.03 < failed / tested < 0.07


def test_every_pair_without_an_edge_has_a_set_that_separates_it_in_the_true_graph():
    for seed in range(40):
        study = Study(*random_study(np.random.default_rng(seed), 6, latent=2, selection=seed % 3))
        oracle = IndependenceTest(MSeparation(study.mag))
        check = check_model(study.pag, oracle, 0.01)
        assert check.source == "graph"
        assert len(check.implied) == check.pairs
        assert not check.failed


def test_an_edge_that_is_missing_is_found_and_named():
    data = {"A": np.random.default_rng(0).normal(size=500)}
    data["B"] = data["A"] + np.random.default_rng(1).normal(size=500)
    data["C"] = data["B"] + data["A"] + np.random.default_rng(2).normal(size=500)
    check = check_model(PAG.from_edges("A o-o B", "B o-o C"), IndependenceTest(FisherZ(data)), 0.01)
    assert check.fails("C", "A")
    assert not check.fails("A", "B")
    assert check.worst()[0].startswith("A and C given B: p ")


def test_columns_may_stand_in_another_order_than_nodes():
    study = hide(erdos_renyi(8, 0.3, seed=3), 1, 0, seed=3)
    columns = table(study, 300, 3)
    one = check_model(study.pag, IndependenceTest(FisherZ(columns)), 0.01)
    other = check_model(study.pag, IndependenceTest(FisherZ(dict(reversed(columns.items())))), 0.01)
    assert [(i.x, i.y, i.given) for i in one.implied] == [(i.x, i.y, i.given) for i in other.implied]
    np.testing.assert_allclose([i.pvalue for i in one.implied], [i.pvalue for i in other.implied], rtol=1e-6)


def test_an_illegal_graph_is_checked_by_the_sets_that_the_search_found():
    illegal = PAG.from_edges("A --> B", "B --> C", "C --> A", "C o-o D", nodes=["A", "B", "C", "D"])
    test = IndependenceTest(FunctionTest(lambda x, y, given: 0.001 if x == "A" else 0.5, list("ABCD")))
    check = check_model(illegal, test, 0.01, sepsets={("A", "D"): frozenset("C")})
    assert check.source == "search"
    assert [(i.x, i.y, i.given) for i in check.implied] == [("A", "D", frozenset("C"))]
    assert str(check) == (
        "The data reject 1 of 1 found independence at 0.01 (0.01 expected by chance)."
        " (1 pair without an edge was not tested: no set is known, since the PAG is illegal.)"
    )


def test_what_cannot_be_tested_is_counted_and_what_is_too_much_is_left_out():
    def fails(x, y, given):
        if given:
            raise CITestError("too few rows")
        return 0.4

    chain = PAG.from_edges("A o-o B", "B o-o C", "C o-o D")
    check = check_model(chain, IndependenceTest(FunctionTest(fails, list("ABCD"))), 0.01)
    assert (check.untestable, check.implied) == (3, ())
    assert str(check) == "The graph implies no independence that could be tested."
    plain = IndependenceTest(FunctionTest(lambda x, y, given: 0.4, list("ABCD")))
    few = check_model(chain, plain, 0.01, most=2)
    assert (len(few.implied), few.pairs) == (2, 3)
    assert [(i.x, i.y) for i in few.implied] == [("A", "C"), ("B", "D")]
    assert "The data reject 0 of 2 implied independences at 0.01" in str(few)
    assert "1 pair without an edge was not tested: there are too many" in str(few)


def test_a_deadline_ends_the_check():
    class Up(Exception):
        pass

    def tick():
        raise Up

    with pytest.raises(Up):
        check_model(
            PAG.from_edges("A o-o B", "B o-o C"),
            IndependenceTest(FunctionTest(lambda *_: 1.0, list("ABC"))),
            0.1,
            tick=tick,
        )


def test_what_is_left_out_for_its_work_is_the_same_in_every_run():
    study = hide(erdos_renyi(12, 0.2, seed=5), 1, 0, seed=5)
    test = IndependenceTest(FisherZ(table(study, 300, 5)))
    whole = check_model(study.pag, test, 0.01)
    some, again = (check_model(study.pag, test, 0.01, work=4000) for _ in range(2))
    assert some == again
    assert 0 < len(some.implied) < len(whole.implied)
    assert set(some.implied) <= set(whole.implied)
    assert (whole.cut, some.cut) == (Cut.NONE, Cut.MANY)
    assert f"{whole.pairs - len(some.implied)} pairs without an edge were not tested: there are too many" in str(some)


def test_a_check_that_is_late_says_so_and_keeps_what_it_has():
    study = hide(erdos_renyi(20, 0.1, seed=5), 1, 0, seed=5)
    test = IndependenceTest(FisherZ(table(study, 300, 5)))
    answers = iter([False, True])
    some = check_model(study.pag, test, 0.01, late=lambda: next(answers))
    assert some.cut is Cut.TIME
    assert 0 < len(some.implied) < some.pairs
    assert f"{some.pairs - len(some.implied)} pairs without an edge were not tested: time ran out" in str(some)
    none = check_model(study.pag, test, 0.01, late=lambda: True)
    assert str(none) == (
        "None of the implied independences was tested."
        f" ({none.pairs} pairs without an edge were not tested: time ran out.)"
    )


def test_a_budget_that_is_spent_leaves_the_check_nobody_asked_for_out():
    study = hide(erdos_renyi(20, 0.1, seed=5), 1, 0, seed=5)
    test = IndependenceTest(FisherZ(table(study, 300, 5)))
    for left, cut in ((0.0, Cut.TIME), (60.0, Cut.NONE)):
        later = later_check(test, study.pag, None, 0.01, {}, Clock(left))
        assert later.made.cut is cut


def test_an_illegal_graph_with_many_sets_is_not_said_to_have_none():
    edges = ["A --> B", "B --> C", "C --> A"]
    illegal = PAG.from_edges(*edges, nodes=list("ABCDE"))
    test = IndependenceTest(FunctionTest(lambda x, y, given: 0.5, list("ABCDE")))
    sepsets = {(a, b): frozenset() for a in "ABC" for b in "DE"}
    check = check_model(illegal, test, 0.01, sepsets=sepsets, most=2)
    assert check.source == "search"
    assert "5 pairs without an edge were not tested: there are too many" in str(check)


def test_sets_of_all_other_variables_are_tested_by_one_inverse_where_they_are_large():
    rng = np.random.default_rng(0)
    names = [f"V{v}" for v in range(70)]
    test = IndependenceTest(FisherZ(rng.normal(size=(300, 70)) + rng.normal(size=(300, 1)), names))
    illegal = PAG.from_edges("V0 --> V1", "V1 --> V2", "V2 --> V0", nodes=names)
    pairs = [("V3", "V4"), ("V69", "V0"), ("V10", "V20")]
    check = check_model(illegal, test, 0.01, sepsets={pair: frozenset(names) - {*pair} for pair in pairs})
    assert {frozenset((one.x, one.y)) for one in check.implied} == set(map(frozenset, pairs))
    for one in check.implied:
        x, y = names.index(one.x), names.index(one.y)
        alone = test.pvalue(x, y, [v for v in range(70) if v not in (x, y)])
        assert one.pvalue == pytest.approx(alone, rel=1e-8)


def check_of(*pvalues, level=0.01):
    implied = [Implied("A", "B", frozenset(), p) for p in sorted(pvalues)]
    return ModelCheck(level, tuple(implied), len(implied))


def test_doubt_allows_for_the_number_of_independences():
    by_hand = (0.001, 0.008, 0.0099, 0.03, 0.04, 0.2, 0.5, 0.9, 0.91, 1.0)  # bounds .005, .01, .015, .02, ...
    check = check_of(*by_hand)
    assert [one.pvalue for one in check.failed] == [0.001, 0.008, 0.0099]
    assert check.in_doubt == check.failed
    assert not check.fits
    # The second is above its own bound of .01, and the third, below its bound of .015, brings it in again.
    assert len(check_of(0.001, 0.012, 0.013, *by_hand[3:], level=0.05).in_doubt) == 3
    # By the level alone four would fail: .026 is above .02, and so is the last of those that stay.
    some = check_of(0.001, 0.009, 0.026, 0.027, *by_hand[5:], 1.0, level=0.05)
    assert (len(some.failed), len(some.in_doubt)) == (4, 2)
    assert some.fails("B", "A")


def test_nothing_is_in_doubt_that_the_level_does_not_reject():
    check = check_of(*[0.02] * 10)
    assert (check.failed, check.in_doubt, check.fits) == ((), (), True)
    assert check_of().fits


def test_rejections_that_chance_gives_are_no_doubt():
    rng = np.random.default_rng(0)
    check = check_of(0.0011, 0.0035, 0.0062, 0.0099, *rng.uniform(0.01, 1, size=391))
    assert (len(check.failed), round(check.expected)) == (4, 4)
    assert check.in_doubt == ()
    assert check.fits
    assert not check.fails("A", "B")
    assert check.worst() == []
    assert str(check) == "The data reject 4 of 395 implied independences at 0.01 (4 expected by chance)."
    one = check_of(1e-5, *[one.pvalue for one in check.implied[1:]])
    assert [implied.pvalue for implied in one.in_doubt] == [1e-5]
    assert one.worst() == ["A and B given nothing: p = 1e-05"]


def test_where_the_graph_is_right_doubt_is_rarer_than_its_share():
    rng = np.random.default_rng(1)
    doubted = sum(not check_of(*rng.uniform(size=40)).fits for _ in range(500))
    assert doubted <= 40  # .05 of 500 are 25, and more than 40 have a chance of .001


@pytest.mark.parametrize("cut", list(Cut))
def test_what_ended_a_check_is_kept_in_a_file(cut):
    pag = PAG.from_edges("A o-o B", "B o-o C")
    check = ModelCheck(0.01, (Implied("A", "C", frozenset("B"), 0.2),), 1, cut=cut)
    plain = encode_check(check, pag)
    assert ("cut" in plain) == (cut is not Cut.NONE)
    assert decode_check(plain, pag) == check
    with pytest.raises(ValueError, match="soon"):
        decode_check({**plain, "cut": "soon"}, pag)


def test_the_words_of_a_check_are_singular_where_there_is_one():
    none = ModelCheck(0.01, (), 0)
    assert str(none) == "The graph implies no independence that could be tested."
    two = ModelCheck(0.05, (Implied("A", "B", frozenset(), 0.2), Implied("A", "C", frozenset(), 0.3)), 2)
    assert str(two) == "The data reject 0 of 2 implied independences at 0.05 (0.1 expected by chance)."
    one = ModelCheck(0.05, two.implied[:1], 1)
    assert str(one) == "The data reject 0 of 1 implied independence at 0.05 (0.05 expected by chance)."
