"""Statements: what is refused and how, what follows, the text forms."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lmarvel import Knowledge
from lmarvel.errors import KnowledgeError
from lmarvel.knowledge.closure import Known
from lmarvel.knowledge.contradictions import known_of

NAMES = ["age", "sex", "smoking", "bp", "lab_a", "lab_b"]


def test_patterns_stand_for_groups_and_a_name_goes_before_a_pattern():
    known = known_of(Knowledge(tiers=[["age", "lab_a"], ["lab_*"]], not_causes=[("lab_*", "sex")]), NAMES)
    assert known.tier == (1, 0, 0, 0, 1, 2)
    assert known.never[5, 0]
    assert known.never[4, 1]
    assert known.never[5, 1]
    assert not known.never[4, 0]


@pytest.mark.parametrize(
    ("said", "message"),
    [
        (
            {"tiers": [["agee"], ["bp"]]},
            "'tiers: agee < bp' names agee, which is not a variable here; did you mean age?",
        ),
        ({"exogenous": ["AGE"]}, "'AGE is exogenous' names AGE, which is not a variable here; did you mean age?"),
        (
            {"exogenous": ["x9"]},
            "'x9 is exogenous' names x9, which is not a variable here; there are age, sex, smoking,",
        ),
        ({"no_edges": [("gene_*", "bp")]}, "'no edge gene_* - bp' has the pattern gene_*, which no variable here"),
        (
            {"causes": [("lab_?", "bp")], "not_causes": [("lab_a", "bp")]},
            "contradict each other: 'lab_? causes bp' and",
        ),
        ({"tiers": [["lab_*"], ["lab_?"]]}, "lab_a matches patterns in the tiers 1 and 2: name it in one"),
        ({"causes": [("age", "bp")], "no_edges": [("age", "*")]}, "'age causes bp' and 'no edge age - *'"),
    ],
)
def test_a_table_shows_what_does_not_fit(said, message):
    with pytest.raises(KnowledgeError) as error:
        known_of(Knowledge(**said), NAMES)
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ({"tiers": "age < bp"}, "tiers must be a list, not 'age < bp'"),
        ({"tiers": [["a"], []]}, "tiers has an empty tier: leave it out"),
        ({"tiers": [["a"], ["a"]]}, "a is in two tiers: it can be in one only"),
        ({"causes": [("a",)]}, "causes must hold pairs of names, such as ('A', 'B'), not ('a',)"),
        ({"edges": [("a", "a")]}, "edges says something of a and itself: a pair needs two variables"),
        ({"exogenous": [3]}, "exogenous must hold names of variables, not 3"),
        ({"selection": 0}, "selection must be True or False, not 0"),
    ],
)
def test_what_makes_no_sense_is_refused(said, message):
    with pytest.raises(KnowledgeError) as error:
        Knowledge(**said)
    assert str(error.value) == message


def test_a_smallest_contradiction_is_named():
    loop = [("a", "b"), ("b", "c"), ("c", "d"), ("d", "a")]
    with pytest.raises(KnowledgeError, match="'a causes b', 'b causes c', 'c causes d' and 'd causes a'"):
        Knowledge(causes=[*loop, ("a", "x"), ("x", "y")])
    with pytest.raises(KnowledgeError, match=r"each other: 'a causes b' and 'b causes a'$"):
        Knowledge(causes=[*loop[1:], ("a", "b"), ("b", "a")])
    with pytest.raises(KnowledgeError, match=r"'a causes c', 'a does not cause b' and 'no edge a - c'$"):
        known_of(Knowledge(causes=[("a", "c")], no_edges=[("a", "c")], not_causes=[("a", "b")]), ["a", "b", "c"])


def test_what_follows_is_closed():
    known = Known.of(
        Knowledge(causes=[("A", "B"), ("B", "C")], not_causes=[("A", "D"), ("E", "C")]).statements, list("ABCDE")
    )
    assert {(a, b) for a, b in np.argwhere(known.causes).tolist()} == {(0, 1), (1, 2), (0, 2)}
    assert {(1, 3), (2, 3), (0, 3), (4, 0), (4, 1), (4, 2)} <= {(a, b) for a, b in np.argwhere(known.never).tolist()}
    assert known.why_never(2, 3) == ("you stated that A does not cause D and that A causes B and that B causes C")


def test_the_text_form_is_read_as_it_is_written():
    said = Knowledge(
        tiers=[["age", "blood pressure"], ["a<b", "lab_*"]],
        causes=[("age", "lab_*")],
        not_causes=[("x,y", "#z")],
        edges=[("age", "q")],
        no_edges=[("q", "r")],
        exogenous=["q"],
        randomised=["drug given"],
        apart=[["age", "a<b"], ["lab_*"]],
        unconfounded=[("age", "x,y"), ("q", "*")],
        more_tiers=[[["q"], ["r"]]],
        selection=False,
        latents=False,
    )
    assert Knowledge.parse(str(said)) == said
    assert Knowledge.from_dict(said.to_dict()) == said


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("age < smoking < bp", "tiers: age < smoking < bp"),
        ("tiers: age < {smoking, bp}", "tiers: age < smoking, bp\nsmoking, bp do not cause each other"),
        ("smoking and bp do not cause each other", "smoking, bp do not cause each other"),
        ("smoking -> bp", "smoking causes bp"),
        ("smoking --> bp", "smoking causes bp"),
        ("nothing causes age, sex", "age is exogenous\nsex is exogenous"),
        ("nothing measured causes age", "age is exogenous"),
        ("drug was randomized", "drug is randomised"),
        ("no unmeasured common cause of age and bp", "age and bp share no unmeasured cause"),
        ("no unmeasured cause of bp", "no unmeasured causes of bp"),
        ("age < sex\nsex < bp\nage < sex", "tiers: age < sex\ntiers: sex < bp"),
    ],
)
def test_wordings_that_are_understood(text, same):
    assert Knowledge.parse(text) == Knowledge.parse(same)
    assert str(Knowledge.parse(text)) == same


def test_three_variables_share_no_unmeasured_cause_pair_by_pair():
    assert len(Knowledge.parse("a, b and c share no unmeasured cause").unconfounded) == 3


def test_what_is_randomised_has_no_cause_and_shares_none():
    known = known_of(Knowledge.parse("drug is randomised"), ["age", "drug", "bp"])
    assert known.never[0, 1]
    assert known.never[2, 1]
    assert known.unconfounded[1].tolist() == known.unconfounded[:, 1].tolist() == [True, False, True]
    assert not known.unconfounded[0, 2]
    assert known.why_never(0, 1) == "you stated that drug is randomised"


def test_contradictions_about_unmeasured_causes_are_named():
    with pytest.raises(KnowledgeError, match=r"each other: 'age causes drug' and 'drug is randomised'$"):
        Knowledge.parse("age causes drug\ndrug is randomised\nsex is randomised")
    message = r"'a, b do not cause each other', 'edge a - b' and 'a and b share no unmeasured cause'"
    with pytest.raises(KnowledgeError) as error:
        Knowledge.parse("edge a - b\na, b do not cause each other\na and b share no unmeasured cause\nno selection")
    assert all(part.strip("'") in str(error.value) for part in message.replace(" and '", ", '").split("', '"))
    assert "selection" not in str(error.value)


def test_lists_comments_and_blank_lines():
    text = "\n# who\nage, sex do not cause lab_a, lab_b   # never\n\nno edge: age - sex\n"
    said = Knowledge.parse(text)
    assert len(said.not_causes) == 4
    assert said.no_edges == (("age", "sex"),)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("age causes", "line 1: cannot read 'age causes': write 'A causes B'"),
        ("no selection\ntiers: a < < b", "line 2: cannot read the tiers 'a < < b'"),
        ("tiers: a < b < a", "a is in two tiers: it can be in one only"),
        ("drug is random", "line 1: cannot read 'drug is random': write"),
        ("/knowledge\naddtemporal\nfirst a b", "line 3: cannot read 'first a b' in Tetrad's knowledge"),
    ],
)
def test_text_that_cannot_be_read(text, message):
    with pytest.raises(KnowledgeError) as error:
        Knowledge.parse(text)
    assert message in str(error.value)


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=60))
def test_any_text_is_read_or_refused(text):
    try:
        said = Knowledge.parse(text)
    except KnowledgeError:
        return
    assert Knowledge.parse(str(said)) == said


def test_tetrad_round_trip():
    text = "/knowledge\naddtemporal\n\n1 a b\n2* c d\n\nforbiddirect\na b\n\nrequiredirect\na c\n"
    said = Knowledge.parse(text)
    assert said.tiers == (("a", "b"), ("c", "d"))
    assert said.not_causes == (("a", "b"),)
    assert said.apart == (("c", "d"),)
    assert said.causes == said.edges == (("a", "c"),)
    assert Knowledge.parse(said.to_tetrad()) == said
    with pytest.raises(KnowledgeError, match="no words for 'a causes b'"):
        Knowledge(causes=[("a", "b")]).to_tetrad()
    with pytest.raises(KnowledgeError, match="cannot hold the name 'blood pressure'"):
        Knowledge(tiers=[["blood pressure"], ["b"]]).to_tetrad()


@pytest.mark.parametrize("name", ['a" < "b', 'say "<i>"', "<", 'x"', '"', "a\\", "a, b < c"])
def test_any_name_comes_back_from_the_text_of_a_statement(name: str) -> None:
    for known in (Knowledge(causes=[(name, "y")]), Knowledge(tiers=[[name], ["y"]]), Knowledge(exogenous=[name])):
        assert Knowledge.parse(str(known)) == known
