"""The shared harness's worker, with the jobs of writing and deltasql's adapter for them."""

import os
import sys

sys.path.insert(0, os.environ["DELTASQL_BENCH_HARNESS"])
sys.path.insert(1, os.path.dirname(os.path.abspath(__file__)))

import engines  # noqa: E402
import worker  # noqa: E402
import write_jobs  # noqa: E402, F401

for name, (_, adapter, settings) in list(engines._ADAPTERS.items()):
    if name.startswith("deltasql"):
        engines._ADAPTERS[name] = ("write_engine", adapter, settings)

if __name__ == "__main__":  # delta-rs starts its writers as copies of this program
    worker.main()
