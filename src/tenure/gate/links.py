"""Links among a job's inputs: whoever reads a link reads what it leads to.

A file is led to as itself, of a directory everything below it. What lies outside of the tree is
not seen, as nothing there is.
"""

import os
from collections.abc import Callable, Mapping, Sequence

from tenure.gate.objects import LINK, Entry

Matches = Callable[[bytes], bool]

#: Links on one way beyond which it leads nowhere, as for the kernel.
_LONGEST_WAY = 40


def read_links(top: str, entries: Sequence[Entry]) -> dict[bytes, bytes]:
    """What each link of a tree says, as it lies in the checkout at `top`."""
    found: dict[bytes, bytes] = {}
    for mode, _, path in entries:
        if mode == LINK:
            try:
                found[path] = os.readlink(os.path.join(os.fsencode(top), path))
            except OSError:
                pass  # edited away: whoever looks at the checkout says so
    return found


def followed(matches: Matches, links: Mapping[bytes, bytes]) -> Matches:
    """Which paths are inputs, with all that the `links` among them lead to."""
    led_to: set[bytes] = set()  #: and everything below
    on_the_way: set[bytes] = set()
    waiting = [path for path in links if matches(path)]
    while waiting:
        over, target = _way(waiting.pop(), links)
        on_the_way |= over
        if target is not None and target not in led_to:
            led_to.add(target)
            waiting += [link for link in links if link.startswith(target + b"/")]
    if b"." in led_to:
        return lambda path: True
    if not led_to and not on_the_way:
        return matches
    whole = led_to | on_the_way
    roots = tuple(target + b"/" for target in led_to)
    return lambda path: matches(path) or path in whole or path.startswith(roots)


def _way(link: bytes, links: Mapping[bytes, bytes]) -> tuple[set[bytes], bytes | None]:
    """The links that a link leads over, and where to; None if that is nowhere in the tree."""
    over: set[bytes] = set()
    path = link
    for _ in range(_LONGEST_WAY):
        at = next((part for part in _parts(path) if part in links), None)
        if at is None:
            return over, path
        over.add(at)
        rest = path[len(at) + 1 :]
        path = os.path.normpath(os.path.join(os.path.dirname(at), links[at], rest))
        if path.startswith((b"/", b"../")) or path == b"..":
            break
    return over, None


def _parts(path: bytes) -> list[bytes]:
    """The path's own beginnings, the shortest first, and the path."""
    names = path.split(b"/")
    return [b"/".join(names[:count]) for count in range(1, len(names) + 1)]
