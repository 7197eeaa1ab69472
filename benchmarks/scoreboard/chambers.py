"""The causal chambers' simulators (Gamella et al. 2025), from the package ``causalchamber``: light and wind tunnel.

Sensors follow from actuators by the formulas of the simulators, and have noise of 5 % of their spread. So an actuator
is a direct cause of each sensor that its formula has it in, and sensors cause nothing. Some actuators are hidden.
The parameters of the light tunnel are those of its tutorial; those of the wind tunnel are plausible ones.
"""

from __future__ import annotations

import contextlib
import io

import numpy as np

from lmarvel import DAG
from lmarvel.orient.study import Study

NOISE = 0.05
COLOURS, POLARISERS = ("red", "green", "blue"), ("pol_1", "pol_2")
LIGHT = {
    "S": np.array([[4.34165202, 2.8594438, 1.91565691], [0.89410569, 1.58679242, 2.68477163]]),
    "d1": 0.1,
    "d2": 0.17,
    "d3": 0.25,
    "Ts": np.array([0.42685688, 0.41231782, 0.46652526]),
    "Tp": np.array([0.2909342, 0.29624314, 0.30526271]),
    "Tc": np.array([0.00431032, 0.01447611, 0.02041075]),
    "Q": np.array([0.12834946, 0.12870338, 0.13078523]),
    "C0": 58.13307318503893,
    "A": 1.42261211,
    "a1": 506.8049747171294,
    "a2": 510.98343062774353,
}
WIND = {
    "L_min": 0.1,
    "omega_max": 3000.0,
    "S_max": 74.82,
    "Q_max": 0.052,
    "r_0": 0.7,
    "beta": 0.003,
    "barometer_error": 0.0,
    "barometer_precision": 0.1,
}
HIDDEN = {
    "light": ((), POLARISERS, ("red",), COLOURS, (*COLOURS, *POLARISERS)),
    "wind": ((), ("load_in",), ("load_in", "load_out"), ("hatch",), ("pressure_ambient", "hatch")),
}


def light(rows: int, rng: np.random.Generator) -> tuple[dict[str, np.ndarray], dict[str, tuple[str, ...]]]:
    """Return the columns of the light tunnel, and the causes of each sensor."""
    import pandas as pd
    from causalchamber.simulators.lt import Deterministic

    frame = pd.DataFrame({name: rng.uniform(0, 255, rows) for name in COLOURS})
    for name in POLARISERS:
        frame[name] = rng.uniform(0, 60, rows)
    for name in Deterministic.inputs_names:
        if name not in frame:
            frame[name] = 5.0 if name.startswith("v_") else 1
    sensors = Deterministic(**LIGHT).simulate_from_inputs(frame)
    causes = dict.fromkeys(("ir_1", "vis_1", "ir_2", "vis_2", "current"), COLOURS)
    causes |= dict.fromkeys(("ir_3", "vis_3"), (*COLOURS, *POLARISERS))
    causes |= {"angle_1": ("pol_1",), "angle_2": ("pol_2",)}
    columns = {name: frame[name].to_numpy() for name in (*COLOURS, *POLARISERS)}
    return columns | dict(zip(Deterministic.outputs_names, map(np.ravel, sensors), strict=True)), causes


def wind(rows: int, rng: np.random.Generator) -> tuple[dict[str, np.ndarray], dict[str, tuple[str, ...]]]:
    """Return the columns of the wind tunnel, and the causes of each sensor."""
    import pandas as pd
    from causalchamber.simulators.wt import SimA1C3

    columns = {name: rng.uniform(0.1, 1, rows) for name in ("load_in", "load_out")}
    columns |= {"hatch": rng.uniform(0, 45, rows), "pressure_ambient": rng.normal(95_000, 20, rows)}
    made = SimA1C3(**WIND, random_state=int(rng.integers(2**31))).simulate_from_inputs(pd.DataFrame(columns))
    causes = {"pressure_downwind": tuple(columns), "rpm_in": ("load_in",), "rpm_out": ("load_out",)}
    return columns | dict(zip(SimA1C3.outputs_names, made, strict=True)), causes


def draw(number: int, rows: int, rng: np.random.Generator) -> tuple[Study, dict[str, np.ndarray]]:
    """Draw a table of a tunnel with some actuators hidden."""
    tunnel = ("light", "wind")[number % 2]
    with contextlib.redirect_stdout(io.StringIO()):  # the package greets
        columns, causes = {"light": light, "wind": wind}[tunnel](rows, rng)
    for name in causes:
        columns[name] = columns[name] + NOISE * columns[name].std() * rng.normal(size=rows)
    arrows = [f"{cause} --> {sensor}" for sensor, parents in causes.items() for cause in parents]
    dag = DAG.from_edges(*arrows, nodes=list(columns))
    return Study(dag, latent=HIDDEN[tunnel][number // 2]), columns
