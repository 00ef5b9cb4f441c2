#!/usr/bin/env python3
"""How fast rows are written, against the bars that this product has set itself.

    writing.py --deltasql ./deltasql --shared ../shared [JOB ...] [--scale small|full] [--repetitions N] [--engines A,B] [--json FILE]

    append           a Parquet file's rows into a new table, against DuckDB's plain COPY of the same rows
    append-limited   the same under a memory limit of 1 GB: the peak must stay below it
    ctas             CREATE TABLE AS SELECT of TPC-H's lineitem, against every other engine
    commits          eight writers of single rows to one table: connections to one process of ours, processes of delta-rs
    dml              DELETE, UPDATE and MERGE of 1 row in 100, with deletion vectors and by rewriting

The engines, data, clocks and checks of answers are those of SHARED/peers/bench, whose README says how fairness is kept. A
ratio is the median over repetitions of two times taken in the same repetition. Exit status 1 if a bar is missed or a
figure that a bar needs is not there; at --scale small start-up costs more than the work, and the bars say nothing.
"""

import argparse
import json
import os
import statistics
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
# (job, measure, ours, the other's engine, most that ours may take of its time)
BARS = [
    ("append", "append", "deltasql", "raw", 1.15),
    ("ctas", "ctas", "deltasql", "delta-rs", 1.0),
    ("ctas", "ctas", "deltasql", "polars", 1.0),
    ("ctas", "ctas", "deltasql", "spark", 1.0),
    ("commits", "commit", "deltasql", "delta-rs", 1 / 3),
    ("dml", "delete", "deltasql-dv", "delta-rs", 0.1),
    ("dml", "update", "deltasql-dv", "delta-rs", 0.2),
    ("dml", "merge", "deltasql-dv", "delta-rs", 0.3),
    ("dml", "delete", "deltasql", "raw", 1.15),
    ("dml", "update", "deltasql", "raw", 1.15),
    ("dml", "merge", "deltasql", "raw", 1.15),
]
# (job, ours, the other's engine) whose peak memory ours must stay below
MEMORY = [("dml", "deltasql", "delta-rs"), ("dml", "deltasql-dv", "delta-rs")]
# Eight writers at once need the server; everything else is driven through pipes, so that no client's decoding counts.
DOORS = {"commits": "serve"}
JOB_NAMES = ("append", "append-limited", "ctas", "commits", "dml")


def main() -> None:
    args = _arguments()
    harness = Path(args.shared).resolve() / "peers" / "bench"
    if not (harness / "bench.py").exists():
        sys.exit(f"writing.py: there is no harness in {harness}")
    os.environ["DELTASQL_BENCH_HARNESS"] = str(harness)
    sys.path[:0] = [str(harness), str(harness.parent), str(HERE)]
    import report
    import write_jobs
    from bench import Runner
    from jobs import JOBS
    from model import Scale
    from store import Store

    class Writing(Runner):
        """The harness's runner, whose workers know the jobs of this folder."""

        def _worker(self, engine, command, value, scratch):
            import bench

            bench.HERE, kept = _Workers(harness), bench.HERE
            try:
                yield from super()._worker(engine, command, value, scratch)
            finally:
                bench.HERE = kept

    print(f"load {os.getloadavg()[0]:.1f}, {len(os.sched_getaffinity(0))} processors, scale {args.scale}", flush=True)
    missed, figures = 0, {}
    for name in args.jobs or JOB_NAMES:
        job = JOBS[name]
        engines = [e for e in job.engines if not args.engines or e in args.engines]
        runner = Writing(Store(Path(args.work).resolve()), str(Path(args.deltasql).resolve()), DOORS.get(name, "exec"), args.timeout)
        outcome = runner.run(job, Scale(full=args.scale == "full"), engines, args.repetitions)
        print(f"\n{name} ({args.scale}): median ms, ratio to {job.reference} (of CPU time)\n{report.tables(outcome, engines)}", flush=True)
        figures[name] = {"figures": outcome.figures(), "peak_memory_bytes": outcome.memory, "load": os.getloadavg()[0]}
        missed += _bars(name, engines, outcome, write_jobs.LIMITED_BYTES)
        if args.json:
            Path(args.json).write_text(json.dumps(figures, indent=1))
    sys.exit(missed > 0)


class _Workers:
    """Stands for the harness's own folder: only the worker's file is another one."""

    def __init__(self, harness: Path) -> None:
        self._harness, self.parent = harness, harness.parent

    def __truediv__(self, name: str) -> Path:
        return HERE / "write_worker.py" if name == "worker.py" else self._harness / name


def _bars(job: str, engines: list[str], outcome, limit: int) -> int:
    """Prints which bars of a job hold; how many do not."""
    status = {(f["measure"], f["engine"]): f["status"] for f in outcome.figures()}
    missed = 0
    for of, measure, ours, other, bar in BARS:
        if of != job or ours not in engines or other not in engines:
            continue
        bad = [f"{e}: {status.get((measure, e), 'no figure')}" for e in (ours, other) if status.get((measure, e)) != "ok"]
        if bad:
            missed += 1
            print(f"bar {job}/{measure} {ours} against {other}: NO FIGURE, {'; '.join(bad)}")
            continue
        pairs = zip(outcome.samples[measure][ours].measures, outcome.samples[measure][other].measures)
        ratio = statistics.median(a.wall / b.wall for a, b in pairs)
        missed += ratio > bar
        print(f"bar {job}/{measure} {ours} against {other}: {ratio:.3f}x, at most {bar:.3f}x: {'holds' if ratio <= bar else 'MISSED'}")
    for of, ours, other in MEMORY:
        if of == job and ours in engines and other in engines:
            a, b = (max(by_engine.get(e, 0) for by_engine in outcome.memory.values()) for e in (ours, other))
            missed += a >= b
            print(f"bar {job} memory {ours} against {other}: {a >> 20} MiB, below {b >> 20} MiB: {'holds' if a < b else 'MISSED'}")
    if job == "append-limited" and "deltasql" in engines:
        peak = max(by_engine.get("deltasql", 0) for by_engine in outcome.memory.values())
        missed += peak >= limit
        print(f"bar {job} memory: {peak >> 20} MiB, below {limit >> 20} MiB: {'holds' if peak < limit else 'MISSED'}")
    return missed


def _arguments() -> argparse.Namespace:
    cache = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache"))
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("jobs", nargs="*", metavar="JOB", help=f"of {', '.join(JOB_NAMES)}; default: all")
    parser.add_argument("--deltasql", required=True, metavar="PATH")
    parser.add_argument("--shared", required=True, metavar="FOLDER")
    parser.add_argument("--scale", choices=("small", "full"), default="small")
    parser.add_argument("--repetitions", type=int, default=3, metavar="N")
    parser.add_argument("--engines", type=lambda text: text.split(","), metavar="A,B")
    parser.add_argument("--work", default=cache / "deltasql-bench", help="folder of the data")
    parser.add_argument("--timeout", type=int, default=900, metavar="SECONDS", help="of one process")
    parser.add_argument("--json", metavar="FILE", help="write all figures here, after each job")
    args = parser.parse_args()
    if unknown := set(args.jobs) - set(JOB_NAMES):
        parser.error(f"there is no job {', '.join(sorted(unknown))}; they are {', '.join(JOB_NAMES)}")
    return args


if __name__ == "__main__":
    main()
