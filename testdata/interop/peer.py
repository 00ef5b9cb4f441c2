#!/usr/bin/env python3
"""One engine as a servant of interop.py: a JSON request a line on standard input, a JSON answer a line on standard output.

    peer.py ENGINE        with ../shared/peers on PYTHONPATH; continues under the engine's interpreter

Requests are {"act", "path", "columns"}; answers {"rows"}, {"done"} or {"refused": message}. A row whose value stands for
another type in the engine's hands is encoded as deltasql's event stream does it.
"""

import json
import os
import sys
from typing import TYPE_CHECKING

import read
from failure import message_of
from locate import reexec_for

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

READERS = {"spark": read._spark, "delta-rs": read._delta_rs, "polars": read._polars, "duckdb": read._duckdb}


def main() -> None:
    engine = sys.argv[1]
    reexec_for(engine)
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # an engine's own words go to standard error
    for line in sys.stdin:
        try:
            answer = _answer(engine, json.loads(line))
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException as error:  # a panic inside an engine is not an Exception
            answer = {"refused": message_of(error)}
        print(json.dumps(answer), file=answers, flush=True)


def _answer(engine: str, request: dict) -> dict:
    path, act = request["path"], request["act"]
    if act == "read":
        return {"rows": _read(engine, path)}
    if engine == "delta-rs":
        _delta_rs(path, act, request["columns"])
    else:
        _spark(path, act, request["columns"])
    return {"done": True}


def _read(engine: str, path: str) -> list:
    from values import encode_rows

    if engine == "spark":
        frame = _session().read.format("delta").load(path)
        if "variant" in frame.schema.simpleString():
            return [[_variants(value) for value in row] for row in frame.collect()]
    if engine == "spark":
        return encode_rows(frame.toArrow())
    return encode_rows(READERS[engine](path, None)[1])


def _session() -> "SparkSession":
    """Spark, which lists a folder by 10,000 tasks for VACUUM unless it is told that these are small."""
    from spark import session

    return session(**{"spark.sql.sources.parallelPartitionDiscovery.parallelism": "2", "spark.databricks.delta.vacuum.parallelDelete.parallelism": "1"})


def _variants(value: object) -> object:
    """A value of Spark's own rows: its Arrow cannot carry a variant that is NULL."""
    from pyspark.sql import Row
    from pyspark.sql.types import VariantVal

    if isinstance(value, VariantVal):
        return {"$variant": json.loads(value.toJson())}
    if isinstance(value, Row):
        return {name: _variants(inner) for name, inner in value.asDict().items()}
    if isinstance(value, dict):
        return [[key, _variants(inner)] for key, inner in sorted(value.items())]
    if isinstance(value, list):
        return [_variants(inner) for inner in value]
    if value is None or isinstance(value, (int, str)):
        return value
    raise TypeError(f"a {type(value).__name__} beside a variant")


def _delta_rs(path: str, act: str, columns: list[str]) -> None:
    import pyarrow as pa
    from deltalake import DeltaTable, QueryBuilder, write_deltalake

    table = DeltaTable(path)
    if act == "append":
        names = ", ".join('"' + c.replace('"', '""') + '"' for c in columns)
        rows = QueryBuilder().register("t", table).execute(f"select {names} from t")
        write_deltalake(path, pa.RecordBatchReader.from_stream(rows).read_all(), mode="append")
    elif act == "update":
        table.update({"id": "id + 1000"}, predicate="id = 1")
    elif act == "delete":
        table.delete("id = 2")
    elif act == "optimize":
        table.optimize.compact()
    elif act == "vacuum":
        table.vacuum(retention_hours=0, dry_run=False, enforce_retention_duration=False)
    elif act == "checkpoint":
        table.create_checkpoint()
    else:
        raise ValueError(f"delta-rs is not asked to {act}")


def _spark(path: str, act: str, columns: list[str]) -> None:
    spark = _session()
    t = f"delta.`{path}`"
    names = ", ".join("`" + c.replace("`", "``") + "`" for c in columns)
    texts = {
        "append": [f"INSERT INTO {t} ({names}) SELECT {names} FROM {t}"],
        "update": [f"UPDATE {t} SET id = id + 1000 WHERE id = 1"],
        "delete": [f"DELETE FROM {t} WHERE id = 2"],
        "optimize": [f"OPTIMIZE {t}"],
        "vacuum": ["SET spark.databricks.delta.retentionDurationCheck.enabled = false", f"VACUUM {t} RETAIN 0 HOURS"],
        "checkpoint": [],
    }
    for text in texts[act]:
        spark.sql(text).collect()
    if act == "checkpoint":
        java = spark._jvm
        java.org.apache.spark.sql.delta.DeltaLog.forTable(spark._jsparkSession, path).checkpoint()


if __name__ == "__main__":
    main()
