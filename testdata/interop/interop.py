#!/usr/bin/env python3
"""The round trip with other engines: what deltasql writes they read, what they write deltasql reads and goes on with.

    interop.py --deltasql ./deltasql --shared ../shared [--work FOLDER] [--steps ...] [--engines ...] [--only PATTERN]

    oracle   the oracle's scripts run through deltasql, their tables are kept, and every engine reads them
    make     tables of every type and feature, of tables.py, are written
    read     every engine reads those, and its rows are compared with those that deltasql reads
    change   Spark and delta-rs append to copies of them, update, delete, optimize, vacuum and checkpoint them; deltasql reads
             the copies and appends; they read again
    adopt    deltasql appends to copies of tables that Spark wrote and adds a column; Spark reads them
    evolve   random lives of a table, of evolve.py; Spark and delta-rs read it after each statement

Needs Python alone for itself, and the engines of SHARED/peers. What an engine refuses is listed and not counted; rows that
differ, and statements of deltasql that fail where they must not, are. Exit status 1 if there is any.
"""

import argparse
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ENGINES = ("duckdb", "delta-rs", "polars", "spark")
WRITERS = ("delta-rs", "spark")
STEPS = ("oracle", "make", "read", "change", "adopt", "evolve")
LIVES, LIFE = 12, 25  # random lives, and the statements of each
# Rows are compared after each group, and not after each act: reads are most of the time.
CHANGES = (("append",), ("update", "delete"), ("optimize", "vacuum", "checkpoint"))


class Run:
    def __init__(self, args: argparse.Namespace) -> None:
        self.binary, self.shared, self.work = os.path.abspath(args.deltasql), os.path.abspath(args.shared), os.path.abspath(args.work)
        self.engines, self.only = args.engines, re.compile(args.only)
        self.made, self.records = os.path.join(self.work, "made"), os.path.join(self.work, "records")
        self.equal = self.wrong = 0
        self.refused: dict[str, int] = {}

    def say_wrong(self, label: str, text: str) -> None:
        self.wrong += 1
        print(f"WRONG {label}: {text}", flush=True)

    def say_refused(self, who: str, label: str, message: str) -> None:
        self.refused[who] = self.refused.get(who, 0) + 1
        print(f"refused by {who} {label}: {message.splitlines()[0][:200] if message else ''}", flush=True)

    def compare(self, label: str, ours: dict, theirs: dict) -> None:
        """Rows of one table as deltasql and another engine read them; a refusal of theirs was listed already."""
        if "error" in ours or "rows" not in ours:
            self.say_wrong(label, f"deltasql cannot read it: {_error(ours)}")
        elif oracle.equal_rows(plain(ours["rows"]), plain(theirs["rows"]), False):
            self.equal += 1
        else:
            self.say_wrong(label, _difference(plain(ours["rows"]), plain(theirs["rows"])))

    def run(self, catalog: str, *statements: str) -> list[dict]:
        """Outcomes of statements in one process, in the session's first database."""
        outcomes = check.run_deltasql(self.binary, catalog, "".join(s + ";\n" for s in statements), {}, 120)
        return outcomes + [{"error": {"class": "NO_OUTCOME", "message": "the process ended before"}}] * (len(statements) - len(outcomes))


class Peer:
    """An engine that stays up and answers one request after the other."""

    def __init__(self, run: Run, engine: str) -> None:
        self.run, self.engine = run, engine
        path = os.pathsep.join([os.path.join(run.shared, "peers"), os.environ.get("PYTHONPATH", "")])
        self._log = open(os.path.join(run.work, f"{engine}.log"), "a", encoding="utf-8")
        self._process = subprocess.Popen(
            [sys.executable, os.path.join(HERE, "peer.py"), engine],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._log, text=True, env={**os.environ, "PYTHONPATH": path},
        )

    def ask(self, label: str, act: str, path: str, columns: list[str] = ()) -> dict | None:
        """The answer; None for a refusal, which is listed."""
        self._process.stdin.write(json.dumps({"act": act, "path": path, "columns": list(columns)}) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"{self.engine} ended at {act} of {label}; see {self._log.name}")
        answer = json.loads(line)
        if "refused" in answer:
            self.run.say_refused(self.engine, f"{act} {label}", answer["refused"])
            return None
        return answer

    def __enter__(self) -> "Peer":
        return self

    def __exit__(self, *_: object) -> None:
        self._process.stdin.close()
        self._process.wait(60)
        self._log.close()


def oracle_step(run: Run) -> None:
    kept = os.path.join(run.work, "kept")
    with open(os.path.join(run.work, "oracle.log"), "w", encoding="utf-8") as out:
        command = [sys.executable, os.path.join(run.shared, "oracle", "check.py"), "--deltasql", run.binary, "--keep", kept]
        subprocess.run(command, stdout=out)
    print("oracle:", open(out.name, encoding="utf-8").read().strip().splitlines()[-1], "(scripts; see oracle.log)", flush=True)
    for engine in run.engines:
        reread(run, engine, kept, None)


def make_step(run: Run) -> None:
    for area, name, statements in chosen(run):
        catalog, root = os.path.join(run.made, area), os.path.join(run.records, area)
        shutil.rmtree(os.path.join(catalog, name), ignore_errors=True)
        os.makedirs(catalog, exist_ok=True)
        os.makedirs(root, exist_ok=True)
        # Another process reads, so that nothing of the session or of a cache answers for the files.
        outcomes = run.run(catalog, f"CREATE DATABASE `{name}`", f"USE `{name}`", *statements)[2:]
        for text, outcome in zip(statements, outcomes):
            if "error" in outcome:
                run.say_wrong(f"make {area}/{name}", f"{text[:100]}: {_error(outcome)}")
        if verb := tables.LOGS.get(f"{area}/{name}"):
            relog(run, os.path.join(catalog, name, "t"), verb)
        read = run.run(catalog, f"SELECT * FROM `{name}`.t")[0]
        if "rows" not in read:
            run.say_wrong(f"make {area}/{name}", f"deltasql cannot read what it wrote: {_error(read)}")
            continue
        with open(os.path.join(root, f"{name}.sql"), "w", encoding="utf-8") as out:
            out.write("".join(s.replace("\n", " ") + ";\n" for s in statements))
        with open(os.path.join(root, f"{name}.json"), "w", encoding="utf-8") as out:
            json.dump({"tables": {"t": {"final": {"columns": read["columns"], "rows": read["rows"]}}}}, out)
    print(f"made: {len(glob.glob(os.path.join(run.records, '*', '*.json')))} tables", flush=True)


def relog(run: Run, table: str, verb: list[str]) -> None:
    done = subprocess.run(["go", "run", "./testdata/interop/relog", table, *verb], cwd=os.path.join(HERE, "..", ".."), capture_output=True, text=True)
    if done.returncode:
        run.say_wrong(f"relog {table}", done.stderr.strip()[-300:])


def read_step(run: Run) -> None:
    for engine in run.engines:
        reread(run, engine, run.made, run.records)
    if "spark" in run.engines:
        variants_step(run)


def variants_step(run: Run) -> None:
    """Tables with variants, which Spark cannot hand over as Arrow where one is NULL."""
    with Peer(run, "spark") as peer:
        for area, name, _ in chosen(run):
            path = os.path.join(run.made, area, name, "t")
            if not os.path.isdir(path) or '"variant"' not in metadata_of(path)["schemaString"]:
                continue
            if answer := peer.ask(f"{area}/{name}", "read", path):
                run.compare(f"spark read {area}/{name}", run.run(run.made, f"SELECT * FROM delta.`{path}`")[0], answer)


def reread(run: Run, engine: str, folder: str, root: str | None) -> None:
    """Counts what ../shared/peers/reread.py says of the tables in a folder."""
    command = [sys.executable, os.path.join(run.shared, "peers", "reread.py"), "--engine", engine, folder]
    done = subprocess.run(command + (["--root", root] if root else []), capture_output=True, text=True)
    last = ""
    for line in done.stdout.splitlines():
        if line.startswith("WRONG "):
            label = line[6:].split(":")[0]
            if engine == "duckdb" and loses_partitions(os.path.join(folder, label)):
                run.say_refused(engine, "read", f"{label}: its fault with partitions of mapped tables")
            else:
                run.say_wrong(f"read by {engine}", line[6:])
        elif line.startswith("refused "):
            run.say_refused(engine, "read", line[8:])
        elif found := re.match(r"\S+: (\d+) equal,", line):
            run.equal += int(found[1])
            last = line
    print(last or f"{engine}: reread.py failed: {done.stderr.strip()[-400:]}", flush=True)
    run.wrong += not last


def change_step(run: Run) -> None:
    for engine in (e for e in run.engines if e in WRITERS):
        with Peer(run, engine) as peer:
            for area, name, _ in chosen(run):
                change(run, peer, f"{area}/{name}", os.path.join(run.made, area, name, "t"))


def change(run: Run, peer: Peer, label: str, source: str) -> None:
    if not os.path.isdir(source):
        return
    catalog = os.path.join(run.work, "changed", peer.engine)
    table = os.path.join(catalog, label, "t")
    shutil.rmtree(table, ignore_errors=True)
    shutil.copytree(source, table)
    columns, name = writable_columns(table), f"delta.`{table}`"
    os.makedirs(catalog, exist_ok=True)
    read, listed = f"SELECT * FROM {name}", ", ".join(f"`{c.replace('`', '``')}`" for c in columns)
    before, done = run.run(catalog, read)[0], set()
    if peer.ask(label, "read", table) is None:
        return  # listed; an engine that cannot read a table is not asked to write it
    for group in CHANGES:
        acts = [act for act in group if peer.ask(label, act, table, columns) is not None]
        if not acts:
            continue
        done.update(acts)
        ours, text = run.run(catalog, read)[0], f"{peer.engine} {', '.join(acts)} {label}"
        if answer := peer.ask(label, "read", table):
            run.compare(text, ours, answer)
        if acts == ["append"] and "rows" in ours and len(ours["rows"]) != 2 * len(before["rows"]):
            run.say_wrong(text, f"{len(before['rows'])} rows became {len(ours['rows'])}")
    if done:
        appended, ours = run.run(catalog, f"INSERT INTO {name} ({listed}) SELECT {listed} FROM {name}", read)
        if "error" in appended:
            run.say_wrong(f"append after {peer.engine} {label}", _error(appended))
        elif answer := peer.ask(label, "read", table):
            run.compare(f"append after {peer.engine} {label}", ours, answer)


def adopt_step(run: Run) -> None:
    if "spark" not in run.engines:
        return
    catalog = os.path.join(run.work, "adopted")
    os.makedirs(catalog, exist_ok=True)
    sources = {f"warehouse/{os.path.basename(p)}": p for p in sorted(glob.glob(os.path.join(HERE, "..", "warehouse", "default", "*")))}
    root = os.path.join(run.shared, "oracle-tables")
    sources |= {os.path.relpath(p, root): p for p in sorted(glob.glob(os.path.join(root, "*", "*", "*")))}
    with Peer(run, "spark") as peer:
        for label, source in sources.items():
            if run.only.search(label) and os.path.isdir(os.path.join(source, "_delta_log")):
                adopt(run, peer, label, source, catalog)


def adopt(run: Run, peer: Peer, label: str, source: str, catalog: str) -> None:
    table = os.path.join(catalog, label)
    shutil.rmtree(table, ignore_errors=True)
    shutil.copytree(source, table)
    columns, name = writable_columns(table), f"delta.`{table}`"
    listed, read = ", ".join(f"`{c.replace('`', '``')}`" for c in columns), f"SELECT * FROM {name}"
    outcomes = run.run(
        catalog, f"INSERT INTO {name} ({listed}) SELECT {listed} FROM {name}", f"ALTER TABLE {name} ADD COLUMN added_by_interop INT",
        f"INSERT INTO {name} ({listed}, added_by_interop) SELECT {listed}, 7 FROM {name}", read,
    )
    for act, outcome in zip(("append", "add column", "append again"), outcomes):
        if "error" in outcome:
            run.say_refused("deltasql", f"{act} {label}", _error(outcome))
    answer = peer.ask(label, "read", table)
    if answer is None and "rows" in outcomes[-1] and any("error" not in o for o in outcomes[:-1]):
        run.say_wrong(f"adopt {label}", "Spark cannot read what deltasql made of its table")
    elif answer:
        run.compare(f"adopt {label}", outcomes[-1], answer)


def evolve_step(run: Run) -> None:
    failed = 0
    for engine in (e for e in run.engines if e in WRITERS):
        with Peer(run, engine) as peer:
            for seed in range(LIVES):
                if run.only.search(f"evolve/{seed}"):
                    failed += evolve(run, peer, seed)
    print(f"evolve: {failed} statements were refused by deltasql, which is no fault", flush=True)


def evolve(run: Run, peer: Peer, seed: int) -> int:
    """One life: deltasql and the peer read the same rows after each statement, and one that fails changes none."""
    catalog = os.path.join(run.work, "evolved", peer.engine, str(seed))
    shutil.rmtree(catalog, ignore_errors=True)
    os.makedirs(catalog)
    failed, before = 0, None
    for number, statement in enumerate(evolving.life(seed, LIFE)):
        label = f"evolve/{seed} after {number} ({statement[:80]})"
        done = run.run(catalog, statement)[0]
        now = run.run(catalog, "SELECT * FROM t")[0]
        if "error" in done:
            failed += 1
            if number == 0 or done["error"].get("class", "").startswith(("INTERNAL", "NO_OUTCOME")):
                run.say_wrong(label, _error(done))
            if before is not None and (now.get("columns") != before.get("columns") or not oracle.equal_rows(now.get("rows", []), before.get("rows", []), False)):
                run.say_wrong(label, f"it failed and changed the table: {_error(done)}")
        before = now
        if answer := peer.ask(label, "read", os.path.join(catalog, "default", "t")):
            run.compare(f"{peer.engine} {label}", now, answer)
    return failed


def loses_partitions(table: str) -> bool:
    """DuckDB's delta 1.5.5 gives NULL for partition columns of a mapped table, of those that Spark wrote as well."""
    metadata = metadata_of(table)
    return bool(metadata["partitionColumns"]) and metadata["configuration"].get("delta.columnMapping.mode", "none") != "none"


def writable_columns(table: str) -> list[str]:
    """The columns that a writer may name: not those that are generated, nor those of a type without values."""
    given = ("delta.generationExpression", "delta.identity.start")
    fields = json.loads(metadata_of(table)["schemaString"])["fields"]
    return [f["name"] for f in fields if f["type"] != "void" and not any(key in f["metadata"] for key in given)]


def metadata_of(table: str) -> dict:
    """The newest metadata that a commit still holds."""
    metadata = {"schemaString": '{"fields":[]}', "partitionColumns": [], "configuration": {}}
    for path in sorted(glob.glob(os.path.join(glob.escape(table), "_delta_log", "*.json"))):
        if re.fullmatch(r"\d{20}\.json", os.path.basename(path)):
            for line in open(path, encoding="utf-8"):
                metadata = json.loads(line).get("metaData", metadata)
    return metadata


def chosen(run: Run):
    for area, made in tables.AREAS.items():
        for name, statements in made.items():
            if run.only.search(f"{area}/{name}"):
                yield area, name, statements


def plain(value: object) -> object:
    """Structs with sorted keys, strings without trailing blanks, which only some engines keep of a CHAR."""
    if isinstance(value, dict):
        return {k: plain(v) for k, v in sorted(value.items())}
    if isinstance(value, list):
        return [plain(v) for v in value]
    return value.rstrip(" ") if isinstance(value, str) else value


def _difference(ours: list, theirs: list) -> str:
    texts = [sorted(json.dumps(row, sort_keys=True, ensure_ascii=False) for row in rows) for rows in (ours, theirs)]
    only = [[row for row in a if row not in set(b)][:3] for a, b in (texts, texts[::-1])]
    return f"{len(ours)} rows in deltasql, {len(theirs)} there; only ours {str(only[0])[:400]}; only theirs {str(only[1])[:400]}"


def _error(outcome: dict) -> str:
    return outcome.get("error", {}).get("message") or json.dumps(outcome)[:200]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--deltasql", required=True, metavar="PATH")
    parser.add_argument("--shared", required=True, metavar="FOLDER", help="the folder with oracle, oracle-tables and peers")
    parser.add_argument("--work", metavar="FOLDER", help="keep the tables and the engines' words here (default: a temporary folder)")
    parser.add_argument("--steps", nargs="+", choices=STEPS, default=STEPS, metavar="STEP")
    parser.add_argument("--engines", nargs="+", choices=ENGINES, default=ENGINES, metavar="ENGINE")
    parser.add_argument("--only", default="", metavar="PATTERN", help="a regular expression over AREA/NAME of generated and adopted tables")
    args = parser.parse_args()
    temporary = None if args.work else tempfile.mkdtemp(prefix="interop-")
    args.work = args.work or temporary
    os.makedirs(args.work, exist_ok=True)
    sys.path.insert(0, os.path.join(os.path.abspath(args.shared), "oracle"))
    global check, evolving, oracle, tables
    import check
    import evolve as evolving
    import oracle
    import tables

    run = Run(args)
    steps = {"oracle": oracle_step, "make": make_step, "read": read_step, "change": change_step, "adopt": adopt_step, "evolve": evolve_step}
    for step in STEPS:
        if step in args.steps:
            print(f"== {step}", flush=True)
            steps[step](run)
    print(f"{run.equal} equal, {run.wrong} wrong; refused: " + (", ".join(f"{n} by {who}" for who, n in sorted(run.refused.items())) or "none"))
    if temporary:
        shutil.rmtree(temporary, ignore_errors=True)
    sys.exit(run.wrong > 0)


if __name__ == "__main__":
    main()
