"""Tables in: any frame, array or file, validated, typed, and boiled down to its moments in one pass."""

from lmarvel.data.dataset import Dataset
from lmarvel.data.kinds import Kind

__all__ = ["Dataset", "Kind"]
