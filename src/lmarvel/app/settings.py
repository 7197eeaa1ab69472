"""The settings of a project: what is said of the table, and how to learn. They come from a browser, and are checked.

A settings file is TOML. Every value is data: a name of a column, a number, or one of a few words.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

from lmarvel.ci.registry import TESTS
from lmarvel.data.view import MISSING
from lmarvel.errors import ParameterError, SettingsError
from lmarvel.estimators import METHODS, Auto, PagEstimator
from lmarvel.estimators.tuning import AUTO
from lmarvel.knowledge import Knowledge
from lmarvel.text import did_you_mean

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

LEARNERS: Mapping[str, type[PagEstimator]] = {"auto": Auto, **METHODS}
LONGEST, MOST = 10_000, 100_000  # letters of a name, and names in a list
MOST_RESAMPLES = 100_000


@dataclass(frozen=True)
class TableSettings:
    """What is said of the columns of a table, as :meth:`lmarvel.Dataset.of` takes it.

    Examples
    --------
    >>> said = TableSettings.of({"drop": ["id"], "na": {"age": ["-9"]}, "missing": "em"})
    >>> said.options
    {'drop': ['id'], 'missing': 'em', 'na': {'age': ['-9']}}
    """

    drop: tuple[str, ...] = ()
    categorical: tuple[str, ...] = ()
    ordinal: Mapping[str, tuple[str, ...] | None] = field(default_factory=dict)
    missing: str = "auto"
    weights: str | None = None
    cluster: str | None = None
    na: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @classmethod
    def of(cls, plain: Any) -> TableSettings:
        """Return the settings that plain data hold; anything else is refused."""
        given = _known(plain, cls, "table")
        missing = given.get("missing", "auto")
        if missing not in MISSING:
            raise SettingsError(f"missing must be one of {', '.join(MISSING)}, not {missing!r}")
        ordinal = _mapping(given.get("ordinal", {}), "ordinal")
        return cls(
            _names(given.get("drop", ()), "drop"),
            _names(given.get("categorical", ()), "categorical"),
            {name: _names(order or (), "ordinal") or None for name, order in ordinal.items()},
            missing,
            _name(given.get("weights"), "weights"),
            _name(given.get("cluster"), "cluster"),
            {name: _names(values, "na") for name, values in _mapping(given.get("na", {}), "na").items()},
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the settings as plain data, also those left at their default."""
        return {
            "drop": list(self.drop),
            "categorical": list(self.categorical),
            "ordinal": {name: list(order or ()) for name, order in self.ordinal.items()},
            "missing": self.missing,
            "weights": self.weights,
            "cluster": self.cluster,
            "na": {name: list(values) for name, values in self.na.items()},
        }

    @property
    def options(self) -> dict[str, Any]:
        """The settings that differ from their default, by the names of Python and of the command line."""
        ordinal = {name: None if order is None else list(order) for name, order in self.ordinal.items()}
        plain = self.to_dict() | {"ordinal": ordinal, "missing": None if self.missing == "auto" else self.missing}
        return {name: value for name, value in plain.items() if value not in (None, [], {})}

    def kept(self, names: Sequence[str]) -> list[str]:
        """Return the columns that are learned from."""
        gone = {*self.drop, self.weights, self.cluster}
        return [name for name in names if name not in gone]


@dataclass(frozen=True)
class LearnSettings:
    """The method and its parameters; None leaves one to the method.

    Examples
    --------
    >>> LearnSettings.of({"method": "fci", "alpha": 0.05}).estimator(None)
    FCI(alpha=0.05)
    >>> LearnSettings.of({"method": "fci", "penalty": 3}).estimator(None)
    Traceback (most recent call last):
    ...
    lmarvel.errors.ParameterError: penalty is not a parameter of fci: leave it empty
    """

    method: str = "auto"
    alpha: float | str | None = None
    penalty: float | str | None = None
    test: str | None = None
    max_conditioning: int | None = None
    max_tests: int | None = None
    max_seconds: float | None = None
    bootstrap: int | None = None
    seed: int | None = None

    @classmethod
    def of(cls, plain: Any) -> LearnSettings:
        """Return the settings that plain data hold; anything else is refused."""
        given = _known(plain, cls, "learn")
        method, test = given.get("method", "auto"), given.get("test")
        if method not in tuple(LEARNERS):
            raise SettingsError(f"method must be one of {', '.join(LEARNERS)}, not {method!r}")
        if test is not None and test not in (AUTO, *TESTS):
            raise SettingsError(f"test must be one of auto, {', '.join(TESTS)}, not {test!r}")
        numbers: dict[str, Any] = {name: _number(given.get(name), name) for name in ("alpha", "penalty", "max_seconds")}
        whole = {name: _whole(given.get(name), name) for name in ("max_conditioning", "max_tests", "bootstrap", "seed")}
        if (whole["bootstrap"] or 0) > MOST_RESAMPLES:
            raise SettingsError(f"bootstrap must be at most {MOST_RESAMPLES:,} resamples")
        return cls(method=method, test=test, **numbers, **whole)

    def to_dict(self) -> dict[str, Any]:
        """Return the settings as plain data, also those left at their default."""
        return {one.name: vars(self)[one.name] for one in fields(self)}

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters of the method that were given, without those of the bootstrap."""
        own = LEARNERS[self.method]._defaults()
        given = {name: value for name, value in self.to_dict().items() if value is not None}
        gone = {"method", "bootstrap"} | ({"seed"} if self.bootstrap is not None and "seed" not in own else set())
        return {name: value for name, value in given.items() if name not in gone}

    @property
    def resampling(self) -> dict[str, Any]:
        """The arguments of ``fit`` for a bootstrap; empty without one."""
        return {} if self.bootstrap is None else {"bootstrap": self.bootstrap, "seed": self.seed or 0}

    def estimator(self, knowledge: Knowledge | None) -> PagEstimator:
        """Return the method with its parameters, checked."""
        own = LEARNERS[self.method]._defaults()
        for name in self.parameters:
            if name not in own:
                raise ParameterError(f"{name} is not a parameter of {self.method}: leave it empty")
        model = LEARNERS[self.method](**self.parameters, knowledge=knowledge)
        model.check_parameters()
        return model


@dataclass(frozen=True)
class Settings:
    """The settings of a project: the table (its file in the folder, and its name), and how to learn."""

    file: str | None = None
    name: str = ""
    table: TableSettings = field(default_factory=TableSettings)
    learn: LearnSettings = field(default_factory=LearnSettings)

    def to_toml(self) -> str:
        """Return the text of a settings file."""
        head = {"format": 1} | ({} if self.file is None else {"file": self.file, "name": self.name})
        table, learn = self.table.to_dict(), self.learn.to_dict()
        parts = [_lines(head), "", "[table]", _lines(table)]
        parts += [f"\n[table.{part}]\n{_lines(table[part])}" for part in ("ordinal", "na") if table[part]]
        return "\n".join([*parts, "", "[learn]", _lines(learn), ""])

    @classmethod
    def from_toml(cls, text: str) -> Settings:
        """Return the settings of a text; what does not fit is refused.

        Examples
        --------
        >>> settings = Settings("001.csv", 'a "b".csv', TableSettings(drop=("x, y",)), LearnSettings(alpha=0.05))
        >>> Settings.from_toml(settings.to_toml()) == settings
        True
        """
        try:
            plain = tomllib.loads(text)
        except (ValueError, RecursionError) as error:
            raise SettingsError(f"settings.toml is not TOML: {error}") from None
        if plain.get("format") != 1:
            raise SettingsError("settings.toml has no 'format = 1': it is not the file of a project")
        file = plain.get("file")
        if file is not None and (not isinstance(file, str) or not is_table_file(file)):
            raise SettingsError(f"settings.toml names the table {file!r}, which is not a file of a project")
        table, learn = TableSettings.of(plain.get("table", {})), LearnSettings.of(plain.get("learn", {}))
        return cls(file, _name(plain.get("name"), "name") or "", table, learn)


def is_table_file(name: str) -> bool:
    """Tell whether a name is one that this program gives to tables: a number, and an ending."""
    number, dot, ending = name.partition(".")
    return number.isdecimal() and number.isascii() and dot == "." and ending.replace(".", "").isalnum()


def _lines(plain: Mapping[str, Any]) -> str:
    """Return key = value, a line each; None, and mappings, which are tables of their own, are left out."""
    shown = {key: value for key, value in plain.items() if value is not None and not isinstance(value, Mapping)}
    return "\n".join(f"{_text(key)} = {_value(value)}" for key, value in shown.items())


def _value(value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    return _text(value) if isinstance(value, str) else repr(value)


def _text(text: str) -> str:
    """Return a text in double quotes, as TOML has it, which forbids one character more than JSON."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


# --- what comes from outside --------------------------------------------------------------------------------


def _known(plain: Any, kind: type, what: str) -> Mapping[str, Any]:
    names = [one.name for one in fields(kind)]
    if not isinstance(plain, Mapping):
        raise SettingsError(f"the settings of [{what}] must be a table of names and values")
    for name in plain:
        if name not in names:
            raise SettingsError(f"[{what}] has no setting {name!r}{did_you_mean(str(name), names)}")
    return plain


def _mapping(value: Any, what: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping) or len(value) > MOST:
        raise SettingsError(f"{what} must be a table of columns and lists")
    for name in value:
        _name(name, what)
    return value


def _names(value: Any, what: str) -> tuple[str, ...]:
    if not isinstance(value, list | tuple) or len(value) > MOST:
        raise SettingsError(f"{what} must be a list of texts")
    names = [_name(name, what) for name in value]
    if None in names:
        raise SettingsError(f"{what} must hold texts")
    return tuple(dict.fromkeys(name for name in names if name is not None))


def _name(value: Any, what: str) -> str | None:
    if value is not None and not (isinstance(value, str) and len(value) <= LONGEST and _encodable(value)):
        raise SettingsError(f"{what} must be a text of at most {LONGEST:,} characters")
    return value or None


def _encodable(text: str) -> bool:
    return not any("\ud800" <= letter <= "\udfff" for letter in text)


def _number(value: Any, what: str) -> float | str | None:
    if value is None or (value == AUTO and what != "max_seconds"):
        return AUTO if value == AUTO else None
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise SettingsError(f"{what} must be a number")
    return value


def _whole(value: Any, what: str) -> int | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**53:
        raise SettingsError(f"{what} must be a whole number of at least 0")
    return value
