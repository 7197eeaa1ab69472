"""The grade of a claim is that of the weakest part it needs: against brute force on small graphs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import combinations, pairwise, permutations
from typing import Any

import numpy as np
import pytest

from lmarvel import PAG, Discovery, GraphError, Knowledge, Lift, LMarvel, ParameterError, causes, effect
from lmarvel.deferred import Deferred
from lmarvel.effects.claims import Claims
from lmarvel.effects.pag_index import Prepared, selection_near
from lmarvel.graph.marks import ARROW, CIRCLE, NONE, TAIL
from lmarvel.result.support.check import Implied
from lmarvel.result.support.grades import FIRM, GRADES, LIKELY, OPEN, STATED
from lmarvel.result.support.grounds import Bend, Grounds
from tests.effects.graded import graded, random_result
from tests.effects.models import random_model

LEVELS = (OPEN, LIKELY, FIRM, STATED)


def claims_of(result: Discovery) -> Claims:
    return Claims.of(result, Prepared(result.pag))


def results(seed: int, count: int, **options: Any) -> Iterator[Discovery]:
    rng = np.random.default_rng(seed)
    return (random_result(rng, **options) for _ in range(count))


def without_caps(claims: Claims, x: int, y: int) -> int:
    """The grade of a claim before rejected independences lower it."""
    claims._rejected = {}
    claims._known.clear()
    return claims.on(y)[x].level


# --- "does not cause" -------------------------------------------------------------------------------------


def reaches(marks: np.ndarray, x: int, y: int) -> bool:
    """Whether a path without an arrowhead at the start of an edge leads from x to y."""
    seen, stack = {x}, [x]
    while stack:
        v = stack.pop()
        for w in range(len(marks)):
            if w not in seen and marks[v, w] != NONE and marks[w, v] != ARROW:
                seen.add(w)
                stack.append(w)
    return y in seen


def broken(result: Discovery, x: int, y: int, level: int) -> bool:
    """Whether a part below a grade could break that x does not cause y: any missing edge, or arrowheads together."""
    marks, grades = result.pag.marks, result.grades
    circled = np.where((marks == ARROW) & (grades.marks < level), CIRCLE, marks)
    if reaches(circled, x, y):
        return True
    for u, v in combinations(range(len(marks)), 2):
        if marks[u, v] == NONE and grades.gaps[u, v] < level:
            joined = marks.copy()
            joined[u, v] = joined[v, u] = CIRCLE
            if reaches(joined, x, y):
                return True
    return False


@pytest.mark.parametrize("selection", [0, 1])
def test_a_negative_claim_is_as_firm_as_what_could_break_it(selection: int) -> None:
    seen: Counter[int] = Counter()
    for result in results(selection, 60, selection=selection):
        claims = claims_of(result)
        for x, y in permutations(range(len(result.pag)), 2):
            if claims.on(y)[x].status == "impossible":
                level = without_caps(claims, x, y)
                seen[level] += 1
                assert [level >= one for one in LEVELS] == [not broken(result, x, y, one) for one in LEVELS]
    assert min(seen[level] for level in (OPEN, LIKELY, FIRM)) > 20


def test_one_arrowhead_alone_breaks_it_as_well() -> None:
    """The rule for one arrowhead at a time follows from the rule for all weak ones together."""
    for result in results(2, 30):
        claims, marks = claims_of(result), result.pag.marks
        for x, y in permutations(range(len(result.pag)), 2):
            if claims.on(y)[x].status == "impossible":
                level = without_caps(claims, x, y)
                for end in np.argwhere((marks == ARROW) & (result.grades.marks < level)).tolist():
                    circled = marks.copy()
                    circled[tuple(end)] = CIRCLE
                    assert not reaches(circled, x, y)


# --- "causes" ---------------------------------------------------------------------------------------------


def paths(x: int, ends: set[int], n: int) -> Iterator[list[int]]:
    """All paths from x to the first node in ``ends``."""
    stack = [[x]]
    while stack:
        path = stack.pop()
        for w in range(n):
            if w not in path:
                if w in ends:
                    yield [*path, w]
                else:
                    stack.append([*path, w])


def certain(result: Discovery, y: int, level: int) -> set[int]:
    """The causes of y by parts of at least a grade, from all paths."""
    marks, grades, n = result.pag.marks, result.grades, len(result.pag)

    def good(v: int, w: int, kinds: tuple[int, ...]) -> bool:
        return marks[v, w] in kinds and (marks[v, w] == CIRCLE or grades.marks[v, w] >= level)

    def apart(v: int, w: int) -> bool:
        return v != w and marks[v, w] == NONE and grades.gaps[v, w] >= level

    def directed(path: list[int]) -> bool:
        return all(good(v, w, (ARROW,)) and good(w, v, (TAIL,)) for v, w in pairwise(path))

    def way(path: list[int]) -> bool:
        steps = all(good(v, w, (ARROW, CIRCLE)) and good(w, v, (TAIL, CIRCLE)) for v, w in pairwise(path))
        return steps and all(apart(u, w) for u, w in zip(path, path[2:], strict=False))

    found = {y}
    while True:
        more = set(found)
        for x in set(range(n)) - found:
            every = list(paths(x, found, n))
            firsts = {path[1] for path in every if way(path)}
            if any(map(directed, every)) or any(apart(u, w) for u, w in combinations(firsts, 2)):
                more.add(x)
        if more == found:
            return found
        found = more


def test_a_positive_claim_is_as_firm_as_its_best_ground() -> None:
    seen: Counter[int] = Counter()
    for result in results(3, 400, observed=5):
        claims = claims_of(result)
        for y in range(len(result.pag)):
            if selection_near(result.pag, 1 << y) is not None:
                continue
            at = {level: certain(result, y, level) for level in (0, *LEVELS)}
            for x in set(range(len(result.pag))) - {y}:
                assert (claims.on(y)[x].status == "definite") == (x in at[0])
                if x in at[0]:
                    level = without_caps(claims, x, y)
                    seen[level] += 1
                    assert [level >= one for one in LEVELS] == [x in at[one] for one in LEVELS]
    assert min(seen[level] for level in (OPEN, LIKELY, FIRM)) > 10


def test_two_ways_need_the_missing_edge_between_their_first_nodes() -> None:
    """W causes M or D, because it is not a collider between them; which of the two, the graph leaves open."""
    pag = PAG.from_edges("W o-o M", "W o-o D", "M --> H", "D --> H")
    joined = PAG.from_edges("W o-o M", "W o-o D", "M --> H", "D --> H", "M o-o D", nodes=pag.names)
    firm, likely, weak = (causes(graded(pag, [pag] * k + [joined] * (20 - k)), "H")["W"] for k in (20, 17, 10))
    assert [one.grade for one in (firm, likely, weak)] == ["firm", "likely", "open"]
    ways = "W has two unshielded ways to H, and at least one of them is causal"
    assert firm.sentence == f"W causes H: {ways}"
    assert weak.sentence == f"W may cause H (in the learned graph {ways})"


def test_of_two_paths_the_better_supported_counts_and_is_shown() -> None:
    edges = ["A o-> X", "B o-> X", "X --> M", "M --> Y", "X --> N", "N --> Y"]
    pag = PAG.from_edges(*edges)
    weak = PAG.from_edges(*edges[:3], "M o-> Y", *edges[4:], nodes=pag.names)
    cause = causes(graded(pag, [pag] * 10 + [weak] * 10), "Y")["X"]
    assert (cause.grade, cause.path, cause.sentence) == ("firm", ("X", "N", "Y"), "X causes Y: X --> N --> Y")
    assert causes(graded(pag, [pag] * 10 + [weak] * 10), "Y")["M"].sentence == (
        "M may cause Y (the learned graph has M --> Y)"
    )


# --- caps -------------------------------------------------------------------------------------------------

CHAIN = PAG.from_edges("A o-> X", "B o-> X", "X --> Y")


def test_a_rejected_independence_lowers_the_claims_on_its_pair() -> None:
    found = graded(CHAIN, [CHAIN] * 20, (Implied("A", "B", frozenset(), 3e-45),))
    cause = causes(found, "B")["A"]
    assert (cause.status, cause.grade) == ("possible", "open")
    sentence = "A and B are associated (p = 3e-45), but the learned graph has no path from A to B: do not conclude"
    assert cause.sentence == sentence
    assert "the data reject that A and B are independent (p = 3e-45)" in cause.cautions
    told = effect(found, "A", "B")
    assert told.sentence == f"{sentence}."
    assert (told.grade, told.value, told.badge) == ("open", None, "Not established")


MEDIATED = PAG.from_edges("A o-> X", "B o-> X", "X --> M", "M --> Y")
UNRELATED = tuple(Implied("A", "B", frozenset(), 0.9) for _ in range(9))


def test_a_rejection_beside_a_path_is_a_caution() -> None:
    """One independence in ten is rejected, which chance may do: the path stays likely."""
    found = graded(MEDIATED, [MEDIATED] * 20, (Implied("X", "Y", frozenset("M"), 0.008), *UNRELATED))
    rejected = "the data reject that X and Y are independent given M (p = 0.008)"
    cause = causes(found, "Y")["X"]
    assert (cause.status, cause.grade, cause.cautions) == ("definite", "likely", (rejected,))
    assert f"X probably causes Y: X --> M --> Y. Caution: {rejected}" in str(causes(found, "Y"))
    told = effect(found, "X", "Y")
    assert (told.badge, told.cautions) == ("Probably identified", (rejected,))
    assert told.sentence.startswith(f"Caution: {rejected}. The effect of X on Y is probably identified")


def test_a_graph_that_does_not_fit_makes_an_effect_unreliable() -> None:
    found = graded(MEDIATED, [MEDIATED] * 20, (Implied("X", "Y", frozenset("M"), 1e-9), *UNRELATED))
    rejected = "the data reject that X and Y are independent given M (p = 1e-09)"
    told = effect(found, "X", "Y")
    assert told.badge == "Identified, but unreliable"
    assert told.sentence.startswith(f"Identified, but unreliable: {rejected}. ")
    misfit = "the graph does not fit (the data reject 1 of 10 implied independences, 0.1 expected by chance)"
    assert effect(found, "M", "A").cautions[0] == misfit  # the pair is another one


def test_relations_that_bend_are_named() -> None:
    grounds = Grounds(bends=(Bend("A", "B", 0.4, 1e-9), Bend("X", "Y", 0.3, 1e-8)))
    found = graded(CHAIN, [CHAIN] * 20, later_grounds=Deferred.of(grounds))
    cause = causes(found, "Y")["X"]
    assert cause.status == "possible"
    assert cause.cautions[0] == "relations are not straight lines (such as that of X and Y)"


def test_an_illegal_pag_makes_no_claim() -> None:
    illegal = PAG.from_edges("A --> B", "B --> C", "A <-> C", "nodes: A B C D")
    found = graded(illegal, [illegal] * 20)
    answer = causes(found, "C")
    assert {one.grade for one in answer} == {"open"}  # also of D, which rests on missing edges alone
    assert answer.definite == answer.impossible == ()
    assert answer["A"].sentence == "A may cause C (the learned graph has A --> B --> C)"
    caution = "the tests contradict each other, and no causal graph has exactly these marks"
    assert answer.cautions == (caution,)
    assert str(answer).count("The tests contradict") + str(answer).count("the tests contradict") == 1
    with pytest.raises(GraphError, match="no effect can be read from this PAG"):
        effect(found, "A", "C")


def test_what_is_stated_is_said_to_be() -> None:
    known = Knowledge(tiers=[["A", "B", "X"], ["Y"]])
    weak = PAG.from_edges("A o-> X", "B o-> X", "A o-o Y", nodes=CHAIN.names)
    found = graded(CHAIN, [CHAIN] * 5 + [weak] * 15, knowledge=known, unaided=CHAIN)
    assert causes(found, "A")["Y"].grade == "stated"
    assert "Y does not cause A, as you stated" in causes(found, "A").listed(all=True)
    assert effect(found, "Y", "A").sentence.startswith("Y does not affect A, as you stated: ")
    assert causes(found, "B")["A"].grade == "firm"


def test_pairs_that_the_search_left_out_are_not_checked() -> None:
    found = graded(CHAIN, [CHAIN] * 20, undecided=[("A", "B")])
    assert causes(found, "B")["A"].grade == "unchecked"
    assert causes(found, "B")["A"].sentence == "no path from A to B in the learned graph, but this was not checked"


def test_a_graph_alone_has_no_grades() -> None:
    assert {one.grade for one in causes(CHAIN, "Y")} == {None}
    exact = Discovery(CHAIN, {}, {}, graded(CHAIN, [CHAIN]).stats)
    assert str(causes(exact, "Y")) == str(causes(CHAIN, "Y"))
    assert effect(exact, "X", "Y").grade is None


# --- causes and effect agree ------------------------------------------------------------------------------


@pytest.mark.parametrize("selection", [0, 1])
def test_causes_and_effect_never_contradict_each_other(selection: int) -> None:
    seen: Counter[tuple[str, str | None]] = Counter()
    for result in results(4 + selection, 30, selection=selection):
        for y in result.pag.names:
            answer = causes(result, y)
            for cause in answer:
                told = effect(result, cause.name, y, most=1)
                seen[told.status, told.grade] += 1
                assert told.identified.cause == cause.learned
                if told.status == "none" or (told.status, cause.learned) == ("not identified", "definite"):
                    assert told.grade == cause.grade
                    assert told.reliable == (cause.status == cause.learned)
                if told.status == "none":
                    assert ("does not affect" in told.sentence) == ("does not cause" in cause.sentence)
                    assert ("probably" in told.sentence) == ("probably" in cause.sentence)
                    assert ("do not conclude" in told.sentence) == ("do not conclude" in cause.sentence)
                if told.status == "adjustment" and cause.learned == "definite":
                    assert told.grade is not None
                    assert cause.grade is not None
                    assert GRADES.index(told.grade) <= GRADES.index(cause.grade)
                    assert told.sentence.startswith("Identified, but unreliable: ") == (not told.reliable)
                if not told.reliable:
                    assert told.cautions or told.status == "not identified"
    assert seen["none", "firm"] > 20
    assert seen["none", "open"] > 20
    assert selection or seen["adjustment", "open"] > 5


@pytest.mark.parametrize("method", [Lift, LMarvel])
def test_they_agree_where_something_was_stated(method: type[Lift] | type[LMarvel]) -> None:
    """Causes and effects are read from the same graph, with what was stated: neither denies the other."""
    rng = np.random.default_rng(8)
    seen: Counter[tuple[str, str | None]] = Counter()
    for number in range(8):
        model = random_model(rng, 7)
        names = model.pag.names
        rows = rng.multivariate_normal(np.zeros(len(names)), model.covariance, 400)
        more = [
            {},
            {"randomised": names[:1]},
            {"unconfounded": [(names[0], names[1]), (names[-1], "*")], "selection": False},
            {"latents": False, "selection": False},
        ]
        known = Knowledge(tiers=[names[:2], names[2:]], **more[number % 4])
        found = method(knowledge=known).fit(rows, names=names).result_
        for x, y in permutations(names, 2):
            cause = causes(found, y)[x]
            try:
                told = effect(found, x, y, most=1)
            except GraphError:  # an illegal PAG has no effects
                continue
            seen[told.status, told.grade] += 1
            if told.status == "none":
                assert (cause.learned, cause.grade) == ("impossible", told.grade)
            if cause.status == "impossible":
                assert told.status == "none" or "selected" in told.identified.because
            elif told.identified.cause == "definite":
                assert cause.learned == "definite"
    assert seen["none", "stated"] > 5
    assert seen["adjustment", "stated"] + seen["adjustment", "open"] > 2, seen


def test_given_something_a_rejected_pair_has_a_caution() -> None:
    implied = Implied("A", "Y", frozenset("X"), 0.008), *(Implied("A", "B", frozenset(), 0.9) for _ in range(9))
    found = graded(CHAIN, [CHAIN] * 20, implied)
    assert found.check is not None
    assert not found.check.in_doubt  # one of ten falls below the level by chance, and still it is said
    told = effect(found, "Y", "A", given="B")
    assert (told.status, told.grade) == ("none", "open")
    assert told.cautions == ("the data reject that A and Y are independent given X (p = 0.008)",)


def test_no_claim_on_a_rejected_pair_is_without_caution() -> None:
    rejected = 0
    for result in results(6, 80):
        check = result.check
        assert check is not None
        for one in check.failed:
            for x, y in ((one.x, one.y), (one.y, one.x)):
                cause, told = causes(result, y)[x], effect(result, x, y, most=1)
                if cause.learned != "possible":
                    rejected += 1
                    assert cause.grade != "firm"
                    assert any(f"{one.x} and {one.y} are independent" in caution for caution in cause.cautions)
                if cause.learned == "impossible":
                    assert cause.status == "possible"
                    assert "do not conclude" in cause.sentence
                    assert told.value is None
    assert rejected > 20


# --- what is shown ----------------------------------------------------------------------------------------


def test_marks_choose_the_claims_that_are_made() -> None:
    weak = PAG.from_edges("A o-> X", "B o-> X", "X o-> Y")
    found = graded(CHAIN, [CHAIN] * 18 + [weak] * 2)
    by = {marks: causes(found, "Y", marks)["X"] for marks in ("all", "supported", "firm")}  # type: ignore[arg-type]
    assert {one.grade for one in by.values()} == {"likely"}
    assert [one.status for one in by.values()] == ["definite", "definite", "possible"]
    assert by["all"].sentence == "X probably causes Y: X --> Y (likely)"
    assert by["supported"].sentence == "X probably causes Y: X --> Y"
    assert by["firm"].sentence == "X may cause Y (the learned graph has X --> Y)"
    rare = graded(CHAIN, [CHAIN] * 5 + [weak] * 15)
    assert causes(rare, "Y", "all")["X"].sentence == "X causes Y in the learned graph: X --> Y (open)"
    assert causes(rare, "Y")["A"].sentence == "A may cause Y: no edge of A o-> X o-> Y points back"
    with pytest.raises(ParameterError, match="marks must be one of all, supported, firm, not 'some'"):
        causes(found, "Y", "some")  # type: ignore[arg-type]


def test_what_would_have_been_missed_is_said_of_pairs_without_an_edge() -> None:
    found = graded(CHAIN, [CHAIN] * 20)
    missed = "an effect below a partial correlation of about 0.11 would have been missed"
    assert causes(found, "A")["Y"].sentence == (
        f"Y does not cause A: no path from Y to A in the learned graph; {missed}"
    )
    assert causes(found, "X")["Y"].sentence == "Y does not cause X: no path from Y to X in the learned graph"


def test_the_answer_on_many_variables_fits_a_screen() -> None:
    names = [f"V{i}" for i in range(198)]
    pag = PAG.from_edges(*(f"{name} o-> V0" for name in names[1:60]), nodes=names)
    answer = causes(graded(pag, [pag] * 2), "V0")
    lines = str(answer).splitlines()
    assert len(lines) == 23
    assert lines[20] == "39 more variables may cause V0; list them with listed(all=True)"
    assert lines[21] == "138 variables: no path to V0 in the learned graph (138 firm); list them with listed(all=True)"
    assert len(answer.listed(all=True).splitlines()) == 198
    assert len(answer.to_dict()["causes"]) == 197  # type: ignore[arg-type]
