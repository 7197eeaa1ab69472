"""What every open window hears: progress, and that a file of the project changed. Server-sent events, one line each."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from typing import Any

from lmarvel.report.page import as_json

_WAITING = 256  # events that a window which does not listen may miss no more of
HEARTBEAT = 15.0  # seconds


class Events:
    """The windows that listen, and when the app was last used."""

    def __init__(self) -> None:
        self._windows: set[asyncio.Queue[dict[str, Any] | None]] = set()
        self.used = self.left = time.monotonic()  # the last request, and when the last window was closed
        self.closed = False

    @property
    def windows(self) -> int:
        """The number of open windows."""
        return len(self._windows)

    def touch(self) -> None:
        """Note that somebody does something."""
        self.used = time.monotonic()

    def tell(self, kind: str, **about: Any) -> None:
        """Tell all windows."""
        for window in self._windows:
            if window.full():
                window.get_nowait()
            window.put_nowait({"kind": kind, **about})

    def close(self) -> None:
        """End all streams, after what was told."""
        self.closed = True
        for window in self._windows:
            if window.full():
                window.get_nowait()
            window.put_nowait(None)

    async def stream(self) -> AsyncIterator[str]:
        """Give the events of one window, until it is closed."""
        window: asyncio.Queue[dict[str, Any] | None] = asyncio.Queue(_WAITING)
        self._windows.add(window)
        try:
            yield ": listening\n\n"
            while not self.closed or not window.empty():
                try:
                    event = await asyncio.wait_for(window.get(), HEARTBEAT)
                except (TimeoutError, asyncio.TimeoutError):
                    yield ": still here\n\n"
                    continue
                if event is None:
                    return
                yield f"data: {as_json(event)}\n\n"
        finally:
            self._windows.discard(window)
            self.left = time.monotonic()
