"""Run experiments and write their tables and figures; the paper's with its figures beside ours.

All experiments stand here by name: to add one, write it as data and list it. The paper's figures have the paper's
numbers. Before, they were numbered without the drawing of the removability conditions, which is the paper's second:
what was "figure2" is "figure3", and what was "figure3" is "figure4". The first old name still works, with a note. The
second is taken now, so that it comes with a note on what it means. Names without a number cannot be confused.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from lmarvel.errors import DataError, ParameterError
from lmarvel.experiments.figures import check_matplotlib, has_matplotlib, write_figure
from lmarvel.experiments.methods import METHODS
from lmarvel.experiments.paper import FIGURE3, FIGURE4, TABLE1, TABLE2
from lmarvel.experiments.peers import Peer
from lmarvel.experiments.plan import Experiment, Job, jobs_of
from lmarvel.experiments.run import Limits, available_cores, connect, run_all
from lmarvel.experiments.store import Store
from lmarvel.experiments.studies import STUDIES
from lmarvel.experiments.summary import summary_of
from lmarvel.experiments.sweep import Sweep
from lmarvel.experiments.tables import tables
from lmarvel.files import write_text
from lmarvel.graph.kinds import DAG
from lmarvel.simulate.networks import NETWORKS, load_network
from lmarvel.text import did_you_mean
from lmarvel.version import __version__

Progress = Callable[[str, int, int], None]
PAPER: Mapping[str, Experiment] = {e.name: e for e in (TABLE1, TABLE2, FIGURE3, FIGURE4)}
EXPERIMENTS: Mapping[str, Experiment] = {**PAPER, **{e.name: e for e in STUDIES}}
ALIASES: Mapping[str, str] = {"random-graphs": "figure3", "sample-size": "figure4", "figure2": "figure3"}
_NOTES = {
    "figure2": "figure2 is now figure3: the paper's number of the figure on random graphs, which is run",
    "figure3": "figure3 is the paper's Figure 3, on random graphs; the one on sample sizes, which had this name before,"
    " is figure4",
}
_CHOICE = ", ".join((*PAPER, "all", *(name for name in EXPERIMENTS if name not in PAPER), "sweep"))
_MOST_REPS = 100_000
LIMITS = Limits(tests=20_000_000, seconds=120.0)


def notes_on(names: Sequence[str]) -> list[str]:
    """Return what there is to say about names that had another meaning before.

    Examples
    --------
    >>> print(*notes_on(["table1", "figure2"]))
    figure2 is now figure3: the paper's number of the figure on random graphs, which is run
    """
    return [_NOTES[name] for name in names if name in _NOTES]


@dataclass(frozen=True)
class Request:
    """What was asked for, checked before any work.

    Parameters
    ----------
    experiments : sequence of str
        "table1", "table2", "figure3", "figure4", or "all" of these, which are the paper's; "accuracy"; "bounds",
        "boundaries", "conditions", "rates", "random-selection"; "sweep".
    out : Path
        The results directory; runs that are finished there are not done again.
    methods : sequence of str, optional
        Which methods to run; by default those of each experiment.
    reps : int, optional
        Repetitions; by default the number of each experiment, which is the paper's.
    workers : int, optional
        Processes; all cores by default.
    networks : Path, optional
        A directory with structures that the package does not have (carpo.csv).
    dask : str, optional
        The address of a Dask scheduler to run on.
    sweep : Sweep, optional
        What the experiment "sweep" varies.
    """

    experiments: Sequence[str]
    out: Path
    methods: Sequence[str] | None = None
    reps: int | None = None
    workers: int | None = None
    networks: Path | None = None
    dask: str | None = None
    seed: int = 2021
    limits: Limits = LIMITS
    without: Sequence[str] = ()
    sweep: Sweep | None = None

    def check(self) -> list[Experiment]:
        """Return the experiments, or refuse what cannot be run."""
        if self.methods is not None:
            _check_methods(self.methods)
        for name, value in (("reps", self.reps), ("jobs", self.workers), ("the limit of tests", self.limits.tests)):
            if value is not None and value < 1:
                raise ParameterError(f"must be at least 1, not {value}", parameter=name)
        if self.reps is not None and self.reps > _MOST_REPS:
            raise ParameterError(f"must be at most {_MOST_REPS:,}: the repetitions of each setting", parameter="reps")
        if not self.limits.seconds > 0:
            raise ParameterError(f"the limit of seconds must be positive, not {self.limits.seconds:g}")
        if self.seed < 0:
            raise ParameterError(f"the seed must not be negative, and is {self.seed}")
        if not self.experiments:
            raise ParameterError(f"no experiment to run: choose from {_CHOICE}")
        chosen = [self._experiment(name) for name in _names(self.experiments)]
        if self.sweep is not None and "sweep" not in self.experiments:
            raise ParameterError(f"what to vary is for sweep, not for {', '.join(self.experiments)}: leave it out")
        known = {s.structure for experiment in chosen for s in experiment.settings}
        for name in self.without:
            if name not in known:
                raise ParameterError(f"cannot leave out {name!r}: the structures are {', '.join(sorted(known))}")
        return [experiment.without([*self.without, *self._not_at_hand(experiment)]) for experiment in chosen]

    def _not_at_hand(self, experiment: Experiment) -> tuple[str, ...]:
        return experiment.optional if self.networks is None else ()

    def _experiment(self, name: str) -> Experiment:
        if name == "sweep":
            return (self.sweep or Sweep()).experiment(lambda structure: len(_load(structure, self.networks)))
        if name not in EXPERIMENTS:
            raise ParameterError(f"unknown experiment {name!r}: choose from {_CHOICE}{did_you_mean(name, EXPERIMENTS)}")
        return EXPERIMENTS[name]

    def methods_of(self, experiment: Experiment) -> Sequence[str]:
        """Return the methods to run."""
        return experiment.methods if self.methods is None else self.methods

    def reps_of(self, experiment: Experiment) -> int:
        """Return the number of repetitions."""
        return self.reps or experiment.reps


def reproduce(request: Request, progress: Progress | None = None) -> list[Path]:
    """Do what is asked, and return the files that were written.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> request = Request(["table2"], folder, methods=["lmarvel"], reps=1, workers=1)
    >>> [path.name for path in reproduce(request)]
    ['runs.csv', 'table2.csv', 'table2.md']
    """
    experiments = request.check()
    if any(not experiment.has_table for experiment in experiments):
        check_matplotlib()  # tables can do without figures
    structures = load_structures(experiments, request.networks)
    if request.dask is not None:
        connect(request.dask).close()
    with Store(request.out, _settings(request, structures)) as store:
        for experiment in experiments:
            planned = jobs_of(experiment, request.methods_of(experiment), request.reps_of(experiment))
            jobs = [job for job in planned if job.key not in store.done]
            _run(experiment, jobs, request, structures, store, progress or _silent)
        return [store.path, *(path for e in experiments for path in _write(e, request, store))]


def _settings(request: Request, structures: Mapping[str, str]) -> dict[str, str | int | float]:
    """Return what runs depend on: those of other settings must not be mixed."""
    digests = {f"the structure {k}": hashlib.sha256(v.encode()).hexdigest()[:16] for k, v in structures.items()}
    limits = {"max_tests": request.limits.tests, "max_seconds": request.limits.seconds}
    return {"lmarvel": __version__, "seed": request.seed, **limits, **digests}


def _run(
    experiment: Experiment,
    jobs: Sequence[Job],
    request: Request,
    structures: dict[str, str],
    store: Store,
    progress: Progress,
) -> None:
    if not jobs:
        return
    workers = request.workers or available_cores()
    progress(experiment.name, 0, len(jobs))
    rows = run_all(jobs, request.seed, request.limits, structures, workers, request.dask)
    with closing(rows):  # an interruption ends the workers here, not some time later
        for done, row in enumerate(rows, 1):
            store.add(row)
            progress(experiment.name, done, len(jobs))


def _write(experiment: Experiment, request: Request, store: Store) -> list[Path]:
    """Write the tables and figures of an experiment."""
    summary = summary_of(experiment, store.frame(), request.methods_of(experiment), request.reps_of(experiment))
    paths = [request.out / f"{experiment.name}.csv"]
    write_text(paths[0], summary.csv())
    if experiment.has_table:
        paths.append(request.out / f"{experiment.name}.md")
        write_text(paths[1], tables(summary))
    plan = experiment.figure
    shown = plan is not None and any(plan.among(experiment.settings, panel) for panel in plan.panels)
    if plan is not None and shown and has_matplotlib():
        paths += write_figure(summary, plan, request.out)
    return paths


def load_structures(experiments: Sequence[Experiment], folder: Path | None) -> dict[str, str]:
    """Return the text of every structure that the experiments need.

    Those of the package are always its own: another copy may list the nodes in another order, which the draws follow.
    """
    names = list(dict.fromkeys(name for experiment in experiments for name in experiment.structures()))
    _check_folder(folder, names)
    texts = {}
    for name in names:
        dag = _load(name, folder)
        _check_size(name, len(dag), experiments)
        texts[name] = str(dag)
    return texts


def _check_folder(folder: Path | None, names: Sequence[str]) -> None:
    """Refuse a directory that is none, and say what of the structures that are asked for it should hold."""
    if folder is not None and not folder.is_dir():
        wanted = ", ".join(f"{name}.csv" for name in names if name not in NETWORKS)
        holds = wanted or "structures that are not part of the package"
        raise DataError(f"there is no directory {folder}: --networks names one that holds {holds}")


def _load(name: str, folder: Path | None) -> DAG:
    """Return a network of the package, or of the user's directory."""
    _check_folder(folder, [name])
    candidates = [folder / f"{name}{ending}" for ending in (".csv", ".bif", ".bif.gz")] if folder else []
    path = None if name in NETWORKS else next((path for path in candidates if path.exists()), None)
    if path is None and name not in NETWORKS:
        where = f"{folder} has no {name}.csv" if folder else f"the structure {name} is not part of the package"
        raise DataError(
            f"{where}: give --networks a directory with {name}.csv (an edge list, see the"
            f" Bayesian network repository), or leave it out with --without {name}"
        )
    return load_network(name if path is None else path)


def _check_size(name: str, nodes: int, experiments: Sequence[Experiment]) -> None:
    expected = next(s.variables for e in experiments for s in e.settings if s.structure == name)
    if nodes != expected:
        raise DataError(f"the structure {name} has {nodes} nodes, and the paper's has {expected}: is it another one?")


def _names(names: Sequence[str]) -> list[str]:
    chosen = (experiment for name in names for experiment in (PAPER if name == "all" else [ALIASES.get(name, name)]))
    return list(dict.fromkeys(chosen))


def _check_methods(methods: Sequence[str]) -> None:
    if len(set(methods)) < len(methods):
        raise ParameterError(f"a method is named twice: {', '.join(methods)}")
    if not methods:
        raise ParameterError(f"no method to run: choose from {', '.join(METHODS)}")
    for name in methods:
        if name not in METHODS:
            raise ParameterError(
                f"unknown method {name!r}: choose from {', '.join(METHODS)}{did_you_mean(name, METHODS)}"
            )
        model = METHODS[name].make()
        if isinstance(model, Peer):
            model.check_installed()


def _silent(phase: str, done: int, total: int) -> None:
    """Report nothing."""
