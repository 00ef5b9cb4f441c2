"""Jobs of writing that the shared harness does not have; they are added to its own by import."""

import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from engines.base import Engine
from jobs import JOBS, append, steps
from locate import python_for
from measure import Stopwatch
from model import Job, Measure, Scale, Spec
from store import Store

_MEMORY = "1GB"

_SUMMARY = (
    "SELECT count(*), sum(l_orderkey), sum(l_partkey), sum(l_extendedprice), min(l_shipdate), max(l_shipdate), min(l_comment), max(l_comment) FROM t"
)


def _prepare(store: Store, scale: Scale) -> Spec:
    """The rows of TPC-H's lineitem as one Parquet file, made once."""
    sf = scale.pick(0.01, 1)
    files = list(store.need("tpch", sf=sf)["lineitem"].files)
    folder = store.folder("lineitem", sf=sf)
    source, tiny = folder / "lineitem.parquet", folder / "tiny.parquet"
    if not tiny.exists():
        folder.mkdir(exist_ok=True)
        copies = "".join(
            f"duckdb.execute(\"copy (from read_parquet({files}){limit}) to '{path}' (format parquet)\")\n"
            for path, limit in ((source, ""), (tiny, " limit 1000"))
        )
        subprocess.run([str(python_for("raw")), "-c", f"import duckdb\n{copies}"], check=True)
    return Spec(values={"lineitem": str(source), "tiny": str(tiny)})


def _run(engine: Engine, spec: Spec, part: str) -> Iterator[Measure]:
    target = engine.options.scratch / "default" / "lineitem"
    target.parent.mkdir()
    try:
        engine.append(Path(spec.values["tiny"]), target.with_name("tiny"))
        with Stopwatch() as watch:
            engine.append(Path(spec.values["lineitem"]), target)
    except BaseException as error:
        yield steps.failed("ctas", error)
        return
    yield Measure("ctas", watch.wall, watch.cpu, check=steps.check_of(target, _SUMMARY), extra=steps.written(target, frozenset()))


def _prepare_limited(store: Store, scale: Scale) -> Spec:
    return replace(append.APPEND.prepare(store, scale), memory=_MEMORY)


CTAS = Job(
    name="ctas",
    engines=("raw", "delta-rs", "polars", "spark", "deltasql"),
    reference="delta-rs",
    truth="raw",
    prepare=_prepare,
    run=_run,
)

LIMITED = replace(append.APPEND, name="append-limited", engines=("raw", "deltasql"), prepare=_prepare_limited)
LIMITED_BYTES = 1_000_000_000

JOBS |= {job.name: job for job in (CTAS, LIMITED)}
