"""Tables in: any frame, array or file, validated, typed, and boiled down to its moments in one pass."""

from lmarvel.data.columns import Kind
from lmarvel.data.dataset import Dataset

__all__ = ["Dataset", "Kind"]
