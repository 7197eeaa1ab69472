"""The pages of the site that nobody writes: the API by its docstrings, the commands as the program declares them."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Iterator
from typing import Any, NamedTuple

import lmarvel

INNER = ("learn", "for_engine", "resolved", "needs_boundaries", "check_parameters")  # what fit asks of a method
OTHERS = ("measures", "is_left_open", "instead", "that_learned", "uses_boundaries")  # what methods ask of each other
OWN = ("PagEstimator", "Estimator", "MixedGraph")  # whose members are shown with them, not with their subclasses
BUILT_IN = ("object", "tuple", "str", "int", "Enum", "IntEnum", "Protocol", "Generic")


class Group(NamedTuple):
    """A page of the API reference: its place, its title, what is on it."""

    page: str
    title: str
    about: str
    names: tuple[str, ...]


GROUPS = (
    Group(
        "methods",
        "Estimators and tuning",
        "Every method is an estimator: parameters by name, `fit`, and what was found in `result_`. "
        "[Methods](../methods.md) says when to use which.",
        (
            *("tune", "TuningPath", "learn_many", "Replicates"),
            "estimators.PagEstimator",
        ),
    ),
    Group(
        "tables",
        "Datasets and moments",
        "What a method is given. [Your table](../guide.md#your-table) is the guide.",
        ("Dataset", "Kind", "Moments", "moments_of", "datasets.CARS", "datasets.HEART", "datasets.HEART_TRUTH"),
    ),
    Group(
        "results",
        "Result objects",
        "What a method hands back: the graph, what speaks for it, how firm it is, and whether the data bear it out.",
        ("Discovery", "Statistics", "Explanation", "Reason", "Stability", "ModelCheck"),
    ),
    Group("knowledge", "Knowledge statements", "What is [known already](../knowledge.md).", ("Knowledge",)),
    Group(
        "effects",
        "Functions for causes and effects",
        "Questions to a result or a PAG, and the answers. [From the graph to the effect](../effects.md) is the guide.",
        (
            *("causes", "effect", "settle", "mediation", "all_effects", "effect_learned_again", "effect_spread"),
            *("adjustment_set", "adjustment_sets", "is_valid_adjustment"),
            *("effects.Causes", "effects.Cause", "effects.Effect", "effects.Estimate", "effects.Range"),
            *("effects.Spread", "effects.Identified", "effects.Verdict", "effects.optimal_adjustment"),
            *("effects.Settling", "effects.Way", "effects.Mediation"),
        ),
    ),
    Group(
        "tests",
        "Test objects",
        "Tests of conditional independence, and what a test of your own has to be. [The tests](../tests.md) by name.",
        ("CITest", "FunctionTest", "FisherZ", "MSeparation", "find_sepset", "SepsetQuery", "SepsetAnswer"),
    ),
    Group(
        "graphs",
        "Graph classes",
        "Graphs of marks, what separates what in them, and their classes. [Theory](../theory.md) has the vocabulary.",
        (
            *("MixedGraph", "DAG", "MAG", "PAG", "ADMG", "Edge", "Mark"),
            *("mag_to_pag", "pag_to_mag", "markov_equivalent", "explain_invalid", "is_chordal_undirected"),
            *("removable", "why_not_removable", "NotRemovable"),
        ),
    ),
    Group(
        "scores",
        "Scores and bounds",
        "How close a graph is to the truth, how well it fits, and how many tests it takes to learn one.",
        (
            "bic",
            *(
                "graph.metrics.compare_graphs",
                "graph.metrics.compare_boundaries",
                "graph.metrics.structural_hamming_distance",
            ),
            *("graph.metrics.Scores", "graph.metrics.Rate"),
            *("experiments.bounds.upper_bound", "experiments.bounds.lower_bound", "experiments.bounds.bounds_of"),
            *("experiments.bounds.UpperBound", "experiments.bounds.LowerBound"),
            *("estimators.compare.compare", "estimators.compare.Comparison"),
        ),
    ),
    Group(
        "simulate",
        "Simulation of graphs and tables",
        "Graphs, models and tables whose truth is known.",
        (
            *("simulate.Study", "simulate.hide"),
            *("simulate.LinearSEM", "simulate.AdditiveSEM", "simulate.DiscreteNetwork", "simulate.MixedSEM"),
            *("simulate.erdos_renyi", "simulate.bounded_parents", "simulate.scale_free", "simulate.cliques"),
            *("simulate.load_network", "simulate.networks.NETWORKS", "simulate.Ranges", "simulate.sem.RANGES"),
        ),
    ),
    Group(
        "files",
        "Pictures, reports and graph files",
        "Graphs drawn, reported, and in the formats of other programs.",
        (
            *("drawing.draw", "drawing.to_svg", "report.write_report"),
            *("interchange.registry.read_graph", "interchange.registry.write_graph"),
            *("interchange.registry.loads", "interchange.registry.dumps"),
            *("interchange.networkx_graph.to_networkx", "interchange.networkx_graph.from_networkx"),
            *("interchange.causallearn.to_causallearn", "interchange.causallearn.from_causallearn"),
        ),
    ),
    Group(
        "errors",
        "Exceptions and warnings",
        "Bad input is one of these, with a message that names the culprit.",
        ("LMarvelError", "ParameterError", "DataError", "GraphError", "CITestError", "LMarvelWarning"),
    ),
)


ESTIMATORS = ("Auto", "Lift", "LMarvel", "FCI", "RFCI", "MBCS", "M3HC")  # each has a page with its fit and parameters
API = (*(f"api/{name}" for name in ESTIMATORS), *(f"api/{group.page}" for group in GROUPS))


def missing_names() -> set[str]:
    """Return what the package offers and no page has."""
    return set(lmarvel.__all__) - {name for group in GROUPS for name in group.names} - set(ESTIMATORS)


def api_pages() -> dict[str, str]:
    """Return the pages of the API reference, by their place in the site."""
    if missing_names():
        raise ValueError(f"no page of the API reference has {', '.join(sorted(missing_names()))}: see {__file__}")
    lines = [f"- [{group.title}]({group.page}.md): {', '.join(map(_linked, group.names))}" for group in GROUPS]
    inner = "Names without a dot are imported from `lmarvel` itself, the others from the module that is named."
    table = ["| estimator | what it does |", "|---|---|"]
    table += [f"| [{name}]({name}.md) | {_summary(getattr(lmarvel, name))} |" for name in ESTIMATORS]
    estimators = "## Estimators\n\nEach page has the parameters, `fit`, and what is there after it."
    parts = ["# API", inner, estimators, "\n".join(table), "## Everything else", "\n".join(lines)]
    pages = {"api/index.md": "\n\n".join(parts) + "\n"}
    for name in ESTIMATORS:
        options = {"members": "", "inherited-members": "object", "exclude-members": ", ".join((*INNER, *OTHERS))}
        entry = "\n".join(
            [f".. autoclass:: lmarvel.{name}", *(f"   :{key}: {value}" for key, value in options.items())]
        )
        about = "[Methods](../methods.md) says when to use which."
        pages[f"api/{name}.md"] = f"# {name} (estimator)\n\n{about}\n\n```{{eval-rst}}\n{entry}\n```\n"
    for group in GROUPS:
        entries = "\n\n".join(_entry(name) for name in group.names)
        pages[f"api/{group.page}.md"] = f"# {group.title}\n\n{group.about}\n\n```{{eval-rst}}\n{entries}\n```\n"
    return pages


def _summary(documented: type) -> str:
    """Return the first sentence of a docstring."""
    return " ".join((inspect.getdoc(documented) or "").split("\n\n")[0].split())


def _linked(name: str) -> str:
    return f"{{py:obj}}`{name} <lmarvel.{name}>`"


def _entry(name: str) -> str:
    """Return the directive that documents a name; what a class inherits from a public one is shown there."""
    module, _, last = f"lmarvel.{name}".rpartition(".")
    documented = vars(importlib.import_module(module))[last]
    if not inspect.isclass(documented):
        return f".. auto{'function' if callable(documented) else 'data'}:: lmarvel.{name}"
    if issubclass(documented, Exception):
        return f".. autoexception:: lmarvel.{name}"
    elsewhere = BUILT_IN if documented.__name__ in OWN else (*OWN, *BUILT_IN)
    options = {"members": "", "inherited-members": ", ".join(elsewhere), "exclude-members": ", ".join(INNER)}
    return "\n".join([f".. autoclass:: lmarvel.{name}", *(f"   :{key}: {value}" for key, value in options.items())])


def command_page() -> str:
    """Return the page of all commands with their arguments and options, as the command line itself declares them."""
    import typer

    from lmarvel.cli import app

    program: Any = typer.main.get_command(app)
    parts = [
        "# Commands and options",
        f"{program.help} The exit code is 0 on success, 2 for bad input or usage, 3 if a limit ended the search early "
        "(what was found is still printed), 130 if interrupted. `lmarvel COMMAND --help` shows the same as here.",
    ]
    for name, command in _walk("lmarvel", program):
        context = command.make_context(name, [], resilient_parsing=True)
        entries = [entry for entry in (p.get_help_record(context) for p in command.params) if entry is not None]
        arguments = [entry for entry in entries if not entry[0].startswith("-")]
        options = [entry for entry in entries if entry[0].startswith("-")]
        usage = " ".join([name, *(a.split()[0].upper() for a, _ in arguments), "[OPTIONS]" * bool(options)])
        parts += [f"## {name.removeprefix('lmarvel ')}", command.help, f"```text\n{usage.strip()}\n```"]
        parts += [_table(kind, rows) for kind, rows in (("argument", arguments), ("option", options)) if rows]
    return "\n\n".join(parts) + "\n"


def _walk(name: str, command: Any) -> Iterator[tuple[str, Any]]:
    """Yield every command that does something, by the words that call it."""
    inner = vars(command).get("commands")
    if inner is None:
        yield name, command
    else:
        for word in sorted(inner):
            yield from _walk(f"{name} {word}", inner[word])


def _table(kind: str, rows: list[tuple[str, str]]) -> str:
    head = [f"| {kind} | what it is |", "|---|---|"]
    return "\n".join([*head, *(f"| `{_cell(name)}` | {_text(_cell(text))} |" for name, text in rows)])


def _cell(text: str) -> str:
    """Return text on one line that does not end a cell."""
    return " ".join(text.split()).replace("|", "\\|")


def _text(text: str) -> str:
    """Return text with nothing that Markdown takes for more than letters."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace("*", "\\*").replace("_", "\\_")
