"""What scikit-learn asks of an estimator beyond parameters and ``fit``, for pipelines, copies and displays.

Nothing here is needed without scikit-learn, and nothing loads it: where it asks for tags, it is there already.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lmarvel.result.discovery import Discovery


def has_names(data: Any, names: Sequence[str] | None) -> bool:
    """Tell whether variables have names of their own: columns of an array, or of a list of rows, have none.

    Examples
    --------
    >>> has_names([[1, 2], [3, 4]], None), has_names([[1, 2], [3, 4]], ["A", "B"]), has_names({"A": [1, 2]}, None)
    (False, True, True)
    """
    return names is not None or not isinstance(data, np.ndarray | list | tuple)


class Conventions:
    """What a fitted estimator tells scikit-learn about itself."""

    result_: Discovery
    _has_names: bool

    @property
    def n_features_in_(self) -> int:
        """The number of variables that were learned about."""
        return len(self.result_.pag)

    @property
    def feature_names_in_(self) -> NDArray[Any]:
        """The names of the variables; there are none where the columns of an array had no names."""
        if not (self.__sklearn_is_fitted__() and self._has_names):
            raise AttributeError("feature_names_in_ is there after a fit to a table whose columns have names")
        return np.array(self.result_.pag.names, dtype=object)

    def __sklearn_is_fitted__(self) -> bool:
        return "result_" in vars(self)

    def __sklearn_tags__(self) -> Any:
        """Tell what can be learned from: tables of numbers or text, without a target."""
        from sklearn.utils import InputTags, Tags, TargetTags

        taken = InputTags(categorical=True, string=True, dict=True)
        return Tags(estimator_type=None, target_tags=TargetTags(required=False), input_tags=taken)
