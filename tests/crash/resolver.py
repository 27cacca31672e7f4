"""A long-lived process that answers waits: a key a line in, what came of it a line out."""

import json
import sys
from pathlib import Path

from tests.crash import waiter


def main(store: Path, name: str) -> None:
    """Answer with this process's own name, and never with a yes."""
    with waiter.runtime(store) as rt:
        print("ready", flush=True)
        for key in sys.stdin:
            got = rt.resolve_sync(key.strip(), {"by": name})
            print(json.dumps([got.first, got.resolution.word, got.resolution.value]), flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
