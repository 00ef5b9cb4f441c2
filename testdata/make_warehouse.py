#!/usr/bin/env python3
"""Writes testdata/warehouse anew with Spark and Delta, the reference implementation: small tables, one a feature.

Needs the peers of ../shared (see its README), and is run by hand when a table is added: the tables themselves are committed.
    PYTHONPATH=../shared/peers PEERS/venv/bin/python testdata/make_warehouse.py
"""
import os
import shutil
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "shared", "peers"))

TABLES = {
    "people": [
        "CREATE TABLE {t} (id INT NOT NULL COMMENT 'key', name STRING, born DATE, score DOUBLE) USING delta COMMENT 'who'",
        "INSERT INTO {t} VALUES (1, 'Ada', DATE '1815-12-10', 9.5), (2, 'Grace', DATE '1906-12-09', 8.25)",
        "INSERT INTO {t} VALUES (3, 'Édgar', DATE '1923-08-19', NULL), (4, NULL, NULL, -0.5)",
        "UPDATE {t} SET score = 10 WHERE id = 1",
    ],
    "parts": [
        "CREATE TABLE {t} (n INT, p STRING, d DATE) USING delta PARTITIONED BY (p, d)",
        "INSERT INTO {t} VALUES (1, 'a', DATE '2024-01-01'), (2, 'a b', DATE '2024-01-02'), (3, 'x=y', DATE '1969-12-31')",
        "INSERT INTO {t} VALUES (4, NULL, DATE '2024-01-01'), (5, 'ü/%', NULL), (6, 'a', DATE '2024-01-01'), (7, '', NULL)",
    ],
    "mapped": [
        "CREATE TABLE {t} (a INT, s STRUCT<x: INT, y: STRING>, l ARRAY<STRUCT<u: INT>>, m MAP<STRING, STRUCT<v: INT>>, p STRING) USING delta PARTITIONED BY (p) "
        "TBLPROPERTIES ('delta.columnMapping.mode' = 'name')",
        "INSERT INTO {t} SELECT 1, named_struct('x', 10, 'y', 'ten'), array(named_struct('u', 1)), map('k', named_struct('v', 7)), 'one'",
        "ALTER TABLE {t} RENAME COLUMN a TO `the a`",
        "ALTER TABLE {t} RENAME COLUMN s.x TO `x 2`",
        "ALTER TABLE {t} RENAME COLUMN l.element.u TO w",
        "ALTER TABLE {t} RENAME COLUMN p TO part",
        "ALTER TABLE {t} ADD COLUMN later STRING AFTER `the a`",
        "ALTER TABLE {t} ADD COLUMN s.z DOUBLE",
        "INSERT INTO {t} SELECT 2, 'now', named_struct('x 2', 20, 'y', 'twenty', 'z', 2.5D), array(named_struct('w', 2), NULL), map('k', NULL), 'two'",
        "ALTER TABLE {t} DROP COLUMN later",
        "ALTER TABLE {t} ADD COLUMN later INT",
        "INSERT INTO {t} SELECT 3, NULL, NULL, NULL, NULL, 33",
    ],
    "mapped_by_id": [
        "CREATE TABLE {t} (a INT, s STRUCT<x: INT>) USING delta TBLPROPERTIES ('delta.columnMapping.mode' = 'id')",
        "INSERT INTO {t} VALUES (1, named_struct('x', 10))",
        "ALTER TABLE {t} RENAME COLUMN a TO b",
        "INSERT INTO {t} VALUES (2, named_struct('x', 20))",
    ],
    "vectors": [
        "CREATE TABLE {t} (id BIGINT, v STRING) USING delta TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')",
        "INSERT INTO {t} SELECT /*+ COALESCE(1) */ id, concat('v', id) FROM range(0, 1000, 1, 1)",
        "DELETE FROM {t} WHERE id % 10 = 3",
        "DELETE FROM {t} WHERE id >= 990",
        "INSERT INTO {t} SELECT /*+ COALESCE(1) */ id, 'late' FROM range(5000, 5010, 1, 1)",
    ],
    "feed": [
        "CREATE TABLE {t} (id INT, v STRING) USING delta TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true')",
        "INSERT INTO {t} VALUES (1, 'a'), (2, 'b'), (3, 'c')",
        "UPDATE {t} SET v = 'B' WHERE id = 2",
        "DELETE FROM {t} WHERE id = 3",
        "MERGE INTO {t} USING (SELECT 1 AS id, 'A' AS v UNION ALL SELECT 9, 'i') AS s ON {t}.id = s.id "
        "WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *",
        "OPTIMIZE {t}",
    ],
    "feed_vectors": [
        "CREATE TABLE {t} (id INT, v STRING) USING delta TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true', 'delta.enableDeletionVectors' = 'true')",
        "INSERT INTO {t} SELECT /*+ COALESCE(1) */ CAST(id AS INT), 'x' FROM range(0, 6, 1, 1)",
        "DELETE FROM {t} WHERE id = 2",
        "DELETE FROM {t} WHERE id IN (4, 5)",
        "RESTORE TABLE {t} TO VERSION AS OF 2",
    ],
    "tracked": [
        "CREATE TABLE {t} (id INT, v STRING) USING delta TBLPROPERTIES ('delta.enableRowTracking' = 'true', 'delta.enableDeletionVectors' = 'false')",
        "INSERT INTO {t} SELECT /*+ COALESCE(1) */ CAST(id AS INT), 'x' FROM range(0, 4, 1, 1)",
        "UPDATE {t} SET v = 'y' WHERE id = 2",
        "INSERT INTO {t} VALUES (10, 'z')",
        "OPTIMIZE {t}",
    ],
    "widened": [
        "CREATE TABLE {t} (b TINYINT, i INT, f FLOAT, d DECIMAL(5,2), s STRUCT<n: SMALLINT>, l ARRAY<INT>) USING delta "
        "TBLPROPERTIES ('delta.enableTypeWidening' = 'true')",
        "INSERT INTO {t} VALUES (CAST(1 AS TINYINT), 2, CAST(0.1 AS FLOAT), 1.25, named_struct('n', CAST(4 AS SMALLINT)), array(5, NULL))",
        "ALTER TABLE {t} CHANGE COLUMN b TYPE INT",
        "ALTER TABLE {t} CHANGE COLUMN i TYPE BIGINT",
        "ALTER TABLE {t} CHANGE COLUMN f TYPE DOUBLE",
        "ALTER TABLE {t} CHANGE COLUMN d TYPE DECIMAL(12,4)",
        "ALTER TABLE {t} CHANGE COLUMN s.n TYPE BIGINT",
        "ALTER TABLE {t} CHANGE COLUMN l.element TYPE BIGINT",
        "INSERT INTO {t} VALUES (1000000, 5000000000, 0.1D, 12345678.1234, named_struct('n', 5000000000L), array(5000000000L))",
    ],
    "moments": [
        "CREATE TABLE {t} (ts TIMESTAMP, ntz TIMESTAMP_NTZ, d DATE) USING delta",
        "INSERT INTO {t} VALUES (TIMESTAMP '2024-03-10 12:34:56.123456Z', TIMESTAMP_NTZ '2024-03-10 12:34:56.123456', DATE '2024-03-10')",
        "INSERT INTO {t} VALUES (TIMESTAMP '1969-12-31 23:59:59.999999Z', TIMESTAMP_NTZ '1900-01-01 00:00:00.000001', DATE '0001-01-01'), (NULL, NULL, NULL)",
    ],
    "variants": [
        "CREATE TABLE {t} (id INT, v VARIANT) USING delta",
        "INSERT INTO {t} SELECT 1, parse_json('{{\"a\": 1, \"b\": [true, null, \"x\"]}}')",
        "INSERT INTO {t} SELECT 2, parse_json('12.5') UNION ALL SELECT 3, NULL UNION ALL SELECT 4, parse_json('null')",
    ],
    "checkpoints": [
        "CREATE TABLE {t} (n INT, p STRING) USING delta PARTITIONED BY (p) TBLPROPERTIES ('delta.checkpointInterval' = '3')",
        *[f"INSERT INTO {{t}} VALUES ({n}, 'p{n % 3}')" for n in range(1, 9)],
        "DELETE FROM {t} WHERE n = 4",
    ],
    "checkpoints_v2": [
        "CREATE TABLE {t} (n INT, s STRING) USING delta TBLPROPERTIES ('delta.checkpointPolicy' = 'v2', 'delta.checkpointInterval' = '3')",
        *[f"INSERT INTO {{t}} VALUES ({n}, 's{n}')" for n in range(1, 9)],
        "DELETE FROM {t} WHERE n = 4",
    ],
    "timed": [
        "CREATE TABLE {t} (n INT) USING delta TBLPROPERTIES ('delta.enableInCommitTimestamps' = 'true')",
        "INSERT INTO {t} VALUES (1)",
        "INSERT INTO {t} VALUES (2)",
    ],
    "clustered": [
        "CREATE TABLE {t} (a INT, b STRING) USING delta CLUSTER BY (a)",
        "INSERT INTO {t} VALUES (1, 'x'), (2, 'y')",
    ],
    "guarded": [
        "CREATE TABLE {t} (id BIGINT GENERATED BY DEFAULT AS IDENTITY (START WITH 10 INCREMENT BY 5), a INT, b INT GENERATED ALWAYS AS (a + 1), c STRING DEFAULT 'none') "
        "USING delta TBLPROPERTIES ('delta.feature.allowColumnDefaults' = 'supported')",
        "ALTER TABLE {t} ADD CONSTRAINT positive CHECK (a > 0)",
        "INSERT INTO {t} (a) VALUES (1), (2)",
    ],
    "nested": [
        "CREATE TABLE {t} (id INT, s STRUCT<a: INT, t: STRUCT<b: STRING, c: ARRAY<INT>>>, l ARRAY<STRUCT<x: INT, y: STRING>>, m MAP<STRING, ARRAY<INT>>) USING delta",
        "INSERT INTO {t} SELECT 1, named_struct('a', 1, 't', named_struct('b', 'x', 'c', array(1, NULL, 3))), "
        "array(named_struct('x', 1, 'y', 'one'), named_struct('x', NULL, 'y', NULL)), map('k', array(1, 2), 'e', CAST(array() AS ARRAY<INT>))",
        "INSERT INTO {t} SELECT 2, NULL, NULL, NULL",
        "INSERT INTO {t} SELECT 3, named_struct('a', NULL, 't', NULL), CAST(array() AS ARRAY<STRUCT<x: INT, y: STRING>>), CAST(map() AS MAP<STRING, ARRAY<INT>>)",
    ],
    "scalars": [
        "CREATE TABLE {t} (id INT, bo BOOLEAN, by TINYINT, sh SMALLINT, i INT, l BIGINT, f FLOAT, d DOUBLE, de DECIMAL(38,10), st STRING, bi BINARY) USING delta",
        "INSERT INTO {t} VALUES (1, true, CAST(-128 AS TINYINT), CAST(-32768 AS SMALLINT), -2147483648, CAST('-9223372036854775808' AS BIGINT), CAST('-Infinity' AS FLOAT), "
        "CAST('NaN' AS DOUBLE), CAST('-9999999999999999999999999999.9999999999' AS DECIMAL(38,10)), 'tab\\t\"quote\"\\n\\\\', X'00FF')",
        "INSERT INTO {t} VALUES (2, false, CAST(127 AS TINYINT), CAST(32767 AS SMALLINT), 2147483647, 9223372036854775807, CAST(3.4028235E38 AS FLOAT), 1.7976931348623157E308D, "
        "CAST('9999999999999999999999999999.9999999999' AS DECIMAL(38,10)), '', X'')",
        "INSERT INTO {t} VALUES (3, NULL, NULL, NULL, NULL, NULL, CAST(-0.0 AS FLOAT), -0.0D, NULL, '😀', NULL)",
    ],
    "evolved": [
        "CREATE TABLE {t} (a INT) USING delta",
        "INSERT INTO {t} VALUES (1)",
        "ALTER TABLE {t} ADD COLUMNS (b STRING FIRST, s STRUCT<x: INT>)",
        "INSERT INTO {t} VALUES ('two', 2, named_struct('x', 2))",
        "ALTER TABLE {t} ADD COLUMN s.y STRING",
        "INSERT INTO {t} VALUES ('three', 3, named_struct('x', 3, 'y', 'y3'))",
    ],
    "empty": ["CREATE TABLE {t} (a INT, p STRING) USING delta PARTITIONED BY (p)"],
    "many_files": [
        "CREATE TABLE {t} (id BIGINT, uri STRING, day DATE) USING delta",
        *[
            f"INSERT INTO {{t}} SELECT /*+ COALESCE(1) */ id, concat('s3://bucket/', lpad(id, 6, '0')), date_add(DATE '2024-01-01', CAST(id / 100 AS INT)) "
            f"FROM range({k * 100}, {k * 100 + 100}, 1, 1)"
            for k in range(12)
        ],
    ],
}


def main() -> None:
    import spark  # the peers' session()

    warehouse = os.path.join(HERE, "warehouse")
    shutil.rmtree(warehouse, ignore_errors=True)
    session = spark.session()
    session.conf.set("spark.sql.session.timeZone", "UTC")
    session.conf.set("spark.sql.shuffle.partitions", "1")
    for name, statements in TABLES.items():
        table = f"delta.`{warehouse}/default/{name}`"
        for number, statement in enumerate(statements):
            text = statement.replace("ON {t}.id", "ON target.id").replace("MERGE INTO {t}", "MERGE INTO {t} AS target")
            session.sql(text.format(t=table)).collect()
            time.sleep(0.002)
        print(name)
    session.stop()
    for folder, _, files in os.walk(warehouse):
        for file in files:
            if file.endswith(".crc") and file.startswith("."):
                os.remove(os.path.join(folder, file))


if __name__ == "__main__":
    main()
