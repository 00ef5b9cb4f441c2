"""The tables that deltasql writes for the round trip: statements by area and name, each over one table `t`.

Every table has a column `id INT` with distinct values, by which another engine updates and deletes rows, and nothing else
is promised. Every statement must succeed.
"""

import itertools

NESTED = (
    "id INT, s STRUCT<a: INT, b_c: STRUCT<d: STRING, e: ARRAY<INT>>>, l ARRAY<STRUCT<x: INT, y: STRING>>, "
    "m MAP<STRING, STRUCT<v: BIGINT>>, ll ARRAY<ARRAY<INT>>, mm MAP<INT, MAP<STRING, DATE>>"
)
NESTED_ROWS = [
    "1, named_struct('a', 1, 'b_c', named_struct('d', 'x', 'e', array(1, NULL, 3))), array(named_struct('x', 1, 'y', 'one'), NULL), "
    "map('k', named_struct('v', 7L), 'n', NULL), array(array(1), array(), NULL), map(1, map('d', DATE '2024-02-29'), 2, NULL)",
    "2, NULL, NULL, NULL, NULL, NULL",
    "3, named_struct('a', NULL, 'b_c', NULL), array(), map(), array(), map()",
    "4, named_struct('a', 4, 'b_c', named_struct('d', NULL, 'e', array())), array(named_struct('x', NULL, 'y', NULL)), map('', named_struct('v', NULL)), "
    "array(array(NULL)), map(0, map())",
]


def _create(columns: str, tail: str = "", **properties: object) -> str:
    """Properties are named with _ for the dot after `delta`."""
    pairs = ", ".join(f"'delta.{k.replace('_', '.')}' = '{v}'" for k, v in properties.items())
    return f"CREATE TABLE t ({columns}) USING delta {tail}" + (f" TBLPROPERTIES ({pairs})" if pairs else "")


def _insert(*rows: str) -> str:
    return "INSERT INTO t SELECT " + " UNION ALL SELECT ".join(rows)


def _nested(*more: str, tail: str = "", **properties: object) -> list[str]:
    return [_create(NESTED, tail, **properties), _insert(*NESTED_ROWS[:2]), _insert(*NESTED_ROWS[2:]), *more]


TYPES = {
    "integers": [
        _create("id INT, b TINYINT, s SMALLINT, i INT, l BIGINT, o BOOLEAN"),
        "INSERT INTO t VALUES (1, -128, -32768, -2147483648, -9223372036854775808, true), (2, 127, 32767, 2147483647, 9223372036854775807, false), "
        "(3, NULL, NULL, NULL, NULL, NULL), (4, 0, 0, 0, 0, true)",
    ],
    "floats": [
        _create("id INT, f FLOAT, d DOUBLE"),
        "INSERT INTO t VALUES (1, CAST('NaN' AS FLOAT), CAST('NaN' AS DOUBLE)), (2, CAST('Infinity' AS FLOAT), CAST('-Infinity' AS DOUBLE)), (3, NULL, NULL)",
        "INSERT INTO t VALUES (4, CAST(-0.0 AS FLOAT), -0.0D), (5, CAST(0.0 AS FLOAT), 0.0D)",
        "INSERT INTO t VALUES (6, CAST(3.4028235E38 AS FLOAT), 1.7976931348623157E308D), (7, CAST(1.4E-45 AS FLOAT), 4.9E-324D), (8, CAST(0.1 AS FLOAT), 0.1D)",
    ],
    "only_not_a_number": [_create("id INT, d DOUBLE"), "INSERT INTO t VALUES (1, CAST('NaN' AS DOUBLE)), (2, CAST('NaN' AS DOUBLE))"],
    "decimals": [
        _create("id INT, a DECIMAL(1,0), b DECIMAL(4,4), c DECIMAL(9,2), d DECIMAL(10,2), e DECIMAL(18,18), f DECIMAL(19,0), g DECIMAL(38,10), h DECIMAL(38,38)"),
        "INSERT INTO t VALUES (1, 9, 0.9999, 9999999.99, 99999999.99, 0.999999999999999999, 9999999999999999999, "
        "CAST('9999999999999999999999999999.9999999999' AS DECIMAL(38,10)), CAST('0.99999999999999999999999999999999999999' AS DECIMAL(38,38)))",
        "INSERT INTO t VALUES (2, -9, -0.9999, -9999999.99, -99999999.99, -0.999999999999999999, -9999999999999999999, "
        "CAST('-9999999999999999999999999999.9999999999' AS DECIMAL(38,10)), CAST('-0.00000000000000000000000000000000000001' AS DECIMAL(38,38))), "
        "(3, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL), (4, 0, 0, 0, 0, 0, 0, 0, 0)",
    ],
    "strings": [
        _create("id INT, s STRING"),
        "INSERT INTO t VALUES (1, ''), (2, ' '), (3, 'tab\\t\"quote\"\\n\\\\'), (4, NULL)",
        "INSERT INTO t SELECT 5, repeat('a', 32) UNION ALL SELECT 6, repeat('z', 33) UNION ALL SELECT 7, repeat('ü', 40)",
        "INSERT INTO t SELECT 8, concat(repeat('a', 31), '😀', 'b') UNION ALL SELECT 9, repeat('😀', 33)",
        "INSERT INTO t SELECT 10, repeat(decode(X'F48FBFBF', 'UTF-8'), 40) UNION ALL SELECT 11, repeat(decode(X'EFBFBF', 'UTF-8'), 33)",
        "INSERT INTO t SELECT 12, decode(X'6100620063', 'UTF-8') UNION ALL SELECT 13, decode(X'00', 'UTF-8')",
        "INSERT INTO t SELECT 14, repeat('long ', 100000)",
    ],
    "binary": [
        _create("id INT, b BINARY"),
        "INSERT INTO t VALUES (1, X''), (2, X'00'), (3, X'FFFEFD'), (4, NULL)",
        "INSERT INTO t SELECT 5, CAST(repeat('b', 100) AS BINARY)",
    ],
    "char_and_varchar": [
        _create("id INT, c CHAR(5), v VARCHAR(3), l ARRAY<VARCHAR(2)>, s STRUCT<c: CHAR(2)>"),
        "INSERT INTO t VALUES (1, 'ab', 'abc', array('xy', NULL), named_struct('c', 'q')), (2, 'üüüüü', '😀😀😀', array(), NULL), (3, NULL, NULL, NULL, named_struct('c', NULL))",
    ],
    "dates_and_times": [
        _create("id INT, d DATE, ts TIMESTAMP, ntz TIMESTAMP_NTZ"),
        "INSERT INTO t VALUES (1, DATE '2024-03-10', TIMESTAMP '2024-03-10 12:34:56.123456Z', TIMESTAMP_NTZ '2024-03-10 12:34:56.123456')",
        "INSERT INTO t VALUES (2, DATE '1969-12-31', TIMESTAMP '1969-12-31 23:59:59.999999Z', TIMESTAMP_NTZ '1969-12-31 23:59:59.999999'), (3, NULL, NULL, NULL)",
        "INSERT INTO t VALUES (4, DATE '1900-01-01', TIMESTAMP '1900-01-01 00:00:00.000001Z', TIMESTAMP_NTZ '1900-01-01 00:00:00.000001')",
        "INSERT INTO t VALUES (5, DATE '9999-12-31', TIMESTAMP '9999-12-31 23:59:59.999999Z', TIMESTAMP_NTZ '9999-12-31 23:59:59.999999')",
        "INSERT INTO t VALUES (6, DATE '1582-10-04', TIMESTAMP '1582-10-04 00:00:00Z', TIMESTAMP_NTZ '1582-10-04 00:00:00')",
    ],
    "year_one": [
        _create("id INT, d DATE, ts TIMESTAMP, ntz TIMESTAMP_NTZ"),
        "INSERT INTO t VALUES (1, DATE '0001-01-01', TIMESTAMP '0001-01-01 00:00:00Z', TIMESTAMP_NTZ '0001-01-01 00:00:00')",
    ],
    "nested": _nested(),
    "nested_not_null": [
        _create("id INT NOT NULL, s STRUCT<a: INT NOT NULL, b: STRING> NOT NULL, l ARRAY<INT> NOT NULL"),
        "INSERT INTO t VALUES (1, named_struct('a', 1, 'b', NULL), array(1)), (2, named_struct('a', 2, 'b', 'x'), array(NULL, 2))",
    ],
    "nested_of_every_type": [
        _create(
            "id INT, s STRUCT<b: TINYINT, sh: SMALLINT, l: BIGINT, f: FLOAT, d: DOUBLE, de: DECIMAL(20,3), st: STRING, bi: BINARY, bo: BOOLEAN, da: DATE, ts: TIMESTAMP, ntz: TIMESTAMP_NTZ>, "
            "ts ARRAY<TIMESTAMP>, ns ARRAY<TIMESTAMP_NTZ>, ds ARRAY<DECIMAL(38,2)>, bs MAP<STRING, BINARY>"
        ),
        "INSERT INTO t SELECT 1, named_struct('b', 1Y, 'sh', 2S, 'l', 3L, 'f', CAST(0.5 AS FLOAT), 'd', 2.5D, 'de', 1.125BD, 'st', 's', 'bi', X'01', 'bo', true, 'da', DATE '2020-01-01', "
        "'ts', TIMESTAMP '2020-01-01 00:00:00.5Z', 'ntz', TIMESTAMP_NTZ '2020-01-01 00:00:00.000001'), array(TIMESTAMP '2020-01-01 00:00:00Z', NULL), "
        "array(TIMESTAMP_NTZ '2020-01-01 00:00:00'), array(1.25BD), map('k', X'0102')",
        "INSERT INTO t (id) VALUES (2)",
    ],
    "void": [_create("id INT, v VOID, s STRING"), "INSERT INTO t VALUES (1, NULL, 'a'), (2, NULL, NULL)"],
    "void_by_select": ["CREATE TABLE t USING delta AS SELECT 1 AS id, NULL AS v UNION ALL SELECT 2, NULL"],
    "variant": [
        _create("id INT, v VARIANT"),
        "INSERT INTO t SELECT 1, parse_json('{\"a\": 1, \"b\": [true, null, \"x\", 1.5, {}], \"ü\": {\"c\": -12345678901}}') UNION ALL SELECT 2, NULL UNION ALL SELECT 3, parse_json('null')",
        "INSERT INTO t SELECT 4, parse_json('12.5') UNION ALL SELECT 5, parse_json('\"text\"') UNION ALL SELECT 6, parse_json('[]') UNION ALL SELECT 7, parse_json('1e300')",
    ],
    "variant_within": [
        _create("id INT, s STRUCT<v: VARIANT, n: INT>, l ARRAY<VARIANT>, m MAP<STRING, VARIANT>"),
        "INSERT INTO t SELECT 1, named_struct('v', parse_json('{\"k\": 1}'), 'n', 1), array(parse_json('1'), NULL), map('k', parse_json('\"v\"'))",
        "INSERT INTO t (id) VALUES (2)",
    ],
    "variant_shredded": [
        _create("id INT, v VARIANT", enableVariantShredding="true"),
        "INSERT INTO t SELECT CAST(id AS INT), parse_json(concat('{\"n\": ', id, ', \"s\": \"text ', id, '\", \"l\": [', id, ', 2], \"o\": {\"p\": ', id, '.5}}')) FROM range(0, 50)",
        "INSERT INTO t SELECT 100, parse_json('{\"n\": \"other\", \"z\": true}') UNION ALL SELECT 101, NULL UNION ALL SELECT 102, parse_json('7') UNION ALL SELECT 103, parse_json('null')",
    ],
    "empty": [_create("id INT, s STRING, p INT", "PARTITIONED BY (p)")],
    "no_rows_written": [_create("id INT, s STRING"), "INSERT INTO t SELECT 1, 'a' WHERE false", "INSERT INTO t VALUES (1, 'a')"],
    "all_null": [_create("id INT, s STRING, d DOUBLE, l ARRAY<INT>, st STRUCT<a: INT>"), "INSERT INTO t (id) VALUES (1), (2)"],
    "wide": [
        _create("id INT, " + ", ".join(f"c{n} {'STRING' if n % 2 else 'INT'}" for n in range(60))),
        "INSERT INTO t VALUES (1, " + ", ".join(f"'{n}'" if n % 2 else str(n) for n in range(60)) + ")",
    ],
    "odd_names": [
        _create("id INT, `a b` INT, `x,y;z` STRUCT<`p q`: INT, `r.s`: STRING>, `ü` STRING, `q``t` INT", columnMapping_mode="name"),
        "INSERT INTO t VALUES (1, 2, named_struct('p q', 3, 'r.s', 'dot'), 'umlaut', 4)",
    ],
    "dotted_name": [_create("id INT, `a.b` INT, `Ü` STRING"), "INSERT INTO t VALUES (1, 2, 'x')"],
    "many_rows": [_create("id INT, s STRING, d DOUBLE, l ARRAY<INT>"), "INSERT INTO t SELECT CAST(id AS INT), concat('row ', id % 97), id / 7.0D, array(CAST(id AS INT), NULL) FROM range(0, 20000)"],
}

_HARD_TEXTS = ["plain", "a b", "x=y", "ü/%", "100%25", "a:b", "quote''d", "<>|?*\\\\", "tab\\t.", "😀", " leading", "trailing ", "{brace}", "#hash", "a+b&c", "__", "null", "."]

PARTITIONS = {
    "texts": [
        _create("id INT, p STRING", "PARTITIONED BY (p)"),
        "INSERT INTO t VALUES " + ", ".join(f"({n}, '{text}')" for n, text in enumerate(_HARD_TEXTS, 1)),
        "INSERT INTO t VALUES (101, NULL), (102, '')",
    ],
    "names": [_create("id INT, `part of it` STRING, `Größe` INT", "PARTITIONED BY (`part of it`, `Größe`)", columnMapping_mode="name"), "INSERT INTO t VALUES (1, 'a', 1), (2, 'b/c', NULL)"],
    "integers": [
        _create("id INT, b TINYINT, s SMALLINT, l BIGINT, o BOOLEAN", "PARTITIONED BY (b, s, l, o)"),
        "INSERT INTO t VALUES (1, -128, 32767, -9223372036854775808, true), (2, NULL, NULL, NULL, NULL), (3, 127, -1, 9223372036854775807, false)",
    ],
    "floats": [_create("id INT, f FLOAT, d DOUBLE", "PARTITIONED BY (f, d)"), "INSERT INTO t VALUES (1, CAST(0.1 AS FLOAT), 0.1D), (2, CAST(-1.5E30 AS FLOAT), 1E-10D), (3, NULL, 1E7D), (4, CAST(100 AS FLOAT), 123456789.0D)"],
    "not_finite": [_create("id INT, d DOUBLE", "PARTITIONED BY (d)"), "INSERT INTO t VALUES (1, CAST('NaN' AS DOUBLE)), (2, CAST('Infinity' AS DOUBLE)), (3, CAST('-Infinity' AS DOUBLE))"],
    "decimals": [_create("id INT, a DECIMAL(5,2), b DECIMAL(38,10)", "PARTITIONED BY (a, b)"), "INSERT INTO t VALUES (1, 1.5, -0.0000000001), (2, -999.99, 1234567890123456789012345678.0123456789), (3, 0, NULL)"],
    "dates": [_create("id INT, d DATE", "PARTITIONED BY (d)"), "INSERT INTO t VALUES (1, DATE '2024-02-29'), (2, DATE '1969-12-31'), (3, DATE '9999-12-31'), (4, NULL)"],
    "times": [
        _create("id INT, ts TIMESTAMP, ntz TIMESTAMP_NTZ", "PARTITIONED BY (ts, ntz)"),
        "INSERT INTO t VALUES (1, TIMESTAMP '2024-03-10 12:34:56.123456Z', TIMESTAMP_NTZ '2024-03-10 12:34:56.123456'), (2, TIMESTAMP '1969-12-31 23:59:59Z', NULL), "
        "(3, TIMESTAMP '2024-01-01 00:00:00.5Z', TIMESTAMP_NTZ '2024-01-01 00:00:00')",
    ],
    "binary": [_create("id INT, b BINARY", "PARTITIONED BY (b)"), "INSERT INTO t VALUES (1, X'61'), (2, CAST('text' AS BINARY)), (3, NULL)"],
    "char": [_create("id INT, c CHAR(4), v VARCHAR(4)", "PARTITIONED BY (c, v)"), "INSERT INTO t VALUES (1, 'ab', 'cd'), (2, NULL, 'abcd')"],
    "overwritten": [
        _create("id INT, p STRING", "PARTITIONED BY (p)"),
        "INSERT INTO t VALUES (1, 'a'), (2, 'b'), (3, 'c')",
        "INSERT OVERWRITE t PARTITION (p = 'b') SELECT 20",
        "INSERT INTO t REPLACE WHERE p = 'c' VALUES (30, 'c'), (31, 'c')",
    ],
    "materialised": [_create("id INT, p STRING, d DATE", "PARTITIONED BY (p, d)", enableMaterializePartitionColumnsFeature="true"), "INSERT INTO t VALUES (1, 'a', DATE '2024-01-01'), (2, NULL, NULL), (3, 'x/y', DATE '2024-01-02')"],
    "deep": [_create("id INT, p1 INT, p2 STRING, p3 DATE, s STRUCT<a: INT>", "PARTITIONED BY (p3, p1, p2)", columnMapping_mode="id"), "INSERT INTO t VALUES (1, 1, 'a', DATE '2024-01-01', named_struct('a', 1)), (2, NULL, NULL, NULL, NULL)"],
}

_RENAMES = [
    "ALTER TABLE t RENAME COLUMN s.a TO `a 2`",
    "ALTER TABLE t RENAME COLUMN m TO `the map`",
    "ALTER TABLE t ADD COLUMN later STRING AFTER id",
    "ALTER TABLE t ADD COLUMN s.z DOUBLE",
    "INSERT INTO t (id, later) VALUES (5, 'now')",
    "ALTER TABLE t DROP COLUMN later",
    "ALTER TABLE t ADD COLUMN later INT",
    "INSERT INTO t (id, later) VALUES (6, 66)",
]

FEATURES = {
    "mapping_name": _nested(*_RENAMES, columnMapping_mode="name"),
    "mapping_id": _nested(*_RENAMES, columnMapping_mode="id"),
    "mapping_upgraded": _nested(
        "ALTER TABLE t SET TBLPROPERTIES ('delta.columnMapping.mode' = 'name')", *_RENAMES
    ),
    "vectors": [
        _create("id INT, v STRING", enableDeletionVectors="true"),
        "INSERT INTO t SELECT CAST(id AS INT), concat('v', id) FROM range(0, 1000)",
        "DELETE FROM t WHERE id % 10 = 3",
        "DELETE FROM t WHERE id >= 990",
        "UPDATE t SET v = 'changed' WHERE id IN (1, 500)",
        "INSERT INTO t SELECT CAST(id AS INT), 'late' FROM range(5000, 5010)",
    ],
    "rewritten": [
        _create("id INT, v STRING", enableDeletionVectors="false"),
        "INSERT INTO t SELECT CAST(id AS INT), concat('v', id) FROM range(0, 100)",
        "DELETE FROM t WHERE id % 10 = 3",
        "UPDATE t SET v = 'changed' WHERE id IN (1, 50)",
        "MERGE INTO t USING (SELECT 2 AS id, 'two' AS v UNION ALL SELECT 1000, 'new') s ON t.id = s.id WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *",
    ],
    "change_feed": [
        _create("id INT, v STRING, p STRING", "PARTITIONED BY (p)", enableChangeDataFeed="true"),
        "INSERT INTO t VALUES (1, 'a', 'x'), (2, 'b', 'y'), (3, 'c', 'x')",
        "UPDATE t SET v = 'B' WHERE id = 2",
        "DELETE FROM t WHERE id = 3",
        "MERGE INTO t USING (SELECT 1 AS id, 'A' AS v, 'x' AS p UNION ALL SELECT 9, 'i', 'z') s ON t.id = s.id WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *",
    ],
    "row_tracking": [
        _create("id INT, v STRING", enableRowTracking="true"),
        "INSERT INTO t SELECT CAST(id AS INT), 'x' FROM range(0, 10)",
        "UPDATE t SET v = 'y' WHERE id = 2",
        "INSERT INTO t VALUES (10, 'z')",
        "DELETE FROM t WHERE id = 5",
    ],
    "row_tracking_later": [_create("id INT, v STRING"), "INSERT INTO t VALUES (1, 'a'), (2, 'b')", "ALTER TABLE t SET TBLPROPERTIES ('delta.enableRowTracking' = 'true')", "INSERT INTO t VALUES (3, 'c')"],
    "commit_times": [_create("id INT", enableInCommitTimestamps="true"), "INSERT INTO t VALUES (1)", "INSERT INTO t VALUES (2)"],
    "commit_times_later": [_create("id INT"), "INSERT INTO t VALUES (1)", "ALTER TABLE t SET TBLPROPERTIES ('delta.enableInCommitTimestamps' = 'true')", "INSERT INTO t VALUES (2)"],
    "widening": [
        _create("id INT, b TINYINT, i INT, f FLOAT, d DECIMAL(5,2), s STRUCT<n: SMALLINT>, l ARRAY<INT>, dt DATE", enableTypeWidening="true", feature_timestampNtz="supported"),
        "INSERT INTO t VALUES (1, 1, 2, CAST(0.1 AS FLOAT), 1.25, named_struct('n', 4), array(5, NULL), DATE '2024-01-01')",
        "ALTER TABLE t ALTER COLUMN b TYPE INT",
        "ALTER TABLE t ALTER COLUMN i TYPE BIGINT",
        "ALTER TABLE t ALTER COLUMN f TYPE DOUBLE",
        "ALTER TABLE t ALTER COLUMN d TYPE DECIMAL(12,4)",
        "ALTER TABLE t ALTER COLUMN s.n TYPE BIGINT",
        "ALTER TABLE t ALTER COLUMN l.element TYPE BIGINT",
        "ALTER TABLE t ALTER COLUMN dt TYPE TIMESTAMP_NTZ",
        "INSERT INTO t VALUES (2, 1000000, 5000000000, 0.1D, 12345678.1234, named_struct('n', 5000000000L), array(5000000000L), TIMESTAMP_NTZ '2024-01-01 01:02:03.000004')",
    ],
    "clustered": [_create("id INT, s STRUCT<a: INT>, v STRING", "CLUSTER BY (id, s.a)"), "INSERT INTO t VALUES (1, named_struct('a', 1), 'x'), (2, NULL, 'y')", "ALTER TABLE t CLUSTER BY (v)", "INSERT INTO t VALUES (3, NULL, 'z')"],
    "clustered_mapped": [_create("id INT, v STRING", "CLUSTER BY (v)", columnMapping_mode="name"), "INSERT INTO t VALUES (1, 'x')", "ALTER TABLE t RENAME COLUMN v TO w", "INSERT INTO t VALUES (2, 'y')"],
    "identity": [
        _create("id INT, a BIGINT GENERATED ALWAYS AS IDENTITY, b BIGINT GENERATED BY DEFAULT AS IDENTITY (START WITH -5 INCREMENT BY -3)"),
        "INSERT INTO t (id) VALUES (1), (2), (3)",
        "INSERT INTO t (id, b) VALUES (4, -100)",
        "INSERT INTO t (id) VALUES (5)",
    ],
    "generated": [
        _create(
            "id INT, ts TIMESTAMP, d DATE GENERATED ALWAYS AS (CAST(ts AS DATE)), y INT GENERATED ALWAYS AS (year(ts)), n BIGINT GENERATED ALWAYS AS (CAST(id AS BIGINT) * 10)",
            "PARTITIONED BY (d)",
        ),
        "INSERT INTO t (id, ts) VALUES (1, TIMESTAMP '2024-03-10 23:59:59Z'), (2, NULL)",
    ],
    "defaults": [
        _create("id INT, s STRING DEFAULT 'it''s', n INT DEFAULT 6 * 7, d DATE DEFAULT DATE '2024-01-01'", feature_allowColumnDefaults="supported"),
        "INSERT INTO t (id) VALUES (1)",
        "INSERT INTO t VALUES (2, DEFAULT, NULL, DEFAULT)",
    ],
    "checks": [
        _create("id INT NOT NULL, a INT, b STRING"),
        "ALTER TABLE t ADD CONSTRAINT positive CHECK (a > 0)",
        "ALTER TABLE t ADD CONSTRAINT `named oddly` CHECK (length(b) < 10 OR b IS NULL)",
        "INSERT INTO t VALUES (1, 1, 'x'), (2, 2, NULL)",
    ],
    "append_only": [_create("id INT", appendOnly="true"), "INSERT INTO t VALUES (1)", "INSERT INTO t VALUES (2)"],
    "everything_guarded": [
        _create(
            "id INT NOT NULL, i BIGINT GENERATED BY DEFAULT AS IDENTITY, a INT, g INT GENERATED ALWAYS AS (a + 1), c STRING DEFAULT 'none', p INT",
            "PARTITIONED BY (p)", feature_allowColumnDefaults="supported", columnMapping_mode="name", enableRowTracking="true", enableChangeDataFeed="true", enableInCommitTimestamps="true",
        ),
        "ALTER TABLE t ADD CONSTRAINT positive CHECK (a > 0)",
        "INSERT INTO t (id, a, p) VALUES (1, 1, 1), (2, 2, NULL)",
        "UPDATE t SET a = 20 WHERE id = 2",
    ],
    "iceberg_v1": [_create("id INT, s STRUCT<a: INT>, p STRING", "PARTITIONED BY (p)", columnMapping_mode="name", enableIcebergCompatV1="true", enableDeletionVectors="false"), "INSERT INTO t VALUES (1, named_struct('a', 1), 'x'), (2, NULL, NULL)"],
    "iceberg_v2": _nested(columnMapping_mode="name", enableIcebergCompatV2="true", enableDeletionVectors="false"),
    "iceberg_v3": _nested("DELETE FROM t WHERE id = 1", columnMapping_mode="name", enableIcebergCompatV3="true", enableRowTracking="true", enableDeletionVectors="true"),
    "stats_few": [_create("id INT, a STRING, b INT, s STRUCT<x: INT, y: INT>", dataSkippingNumIndexedCols="2"), "INSERT INTO t VALUES (1, 'a', 1, named_struct('x', 1, 'y', 2))"],
    "stats_none": [_create("id INT, a STRING", dataSkippingNumIndexedCols="0"), "INSERT INTO t VALUES (1, 'a'), (2, 'b')"],
    "stats_chosen": [_create("id INT, a STRING, s STRUCT<x: INT, y: INT>", dataSkippingStatsColumns="id,s.y"), "INSERT INTO t VALUES (1, 'a', named_struct('x', 1, 'y', 2))"],
    "replaced": [
        _create("id INT, v STRING", columnMapping_mode="name"),
        "INSERT INTO t VALUES (1, 'a')",
        "CREATE OR REPLACE TABLE t (id INT, w DOUBLE, p INT) USING delta PARTITIONED BY (p)",
        "INSERT INTO t VALUES (2, 2.5, 1)",
    ],
    "by_select": ["CREATE TABLE t USING delta PARTITIONED BY (p) TBLPROPERTIES ('delta.enableDeletionVectors' = 'true') AS SELECT CAST(id AS INT) AS id, concat('s', id) AS s, CAST(id % 3 AS INT) AS p FROM range(0, 100)"],
    "evolved": [_create("id INT"), "INSERT INTO t VALUES (1)", "INSERT WITH SCHEMA EVOLUTION INTO t BY NAME SELECT 2 AS id, 'new' AS s, named_struct('x', 1) AS st", "INSERT WITH SCHEMA EVOLUTION INTO t BY NAME SELECT 3 AS id, named_struct('x', 1, 'y', 2) AS st"],
    "like": ["CREATE TABLE source (id INT, s STRUCT<a: INT>, p STRING) USING delta PARTITIONED BY (p) TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true')", "CREATE TABLE t LIKE source", "INSERT INTO t VALUES (1, NULL, 'a')"],
    "dropped_feature": [_create("id INT", enableInCommitTimestamps="true"), "INSERT INTO t VALUES (1)", "ALTER TABLE t DROP FEATURE inCommitTimestamp", "INSERT INTO t VALUES (2)"],
    "truncated": [_create("id INT, p INT", "PARTITIONED BY (p)", enableDeletionVectors="true"), "INSERT INTO t VALUES (1, 1), (2, 2)", "TRUNCATE TABLE t", "INSERT INTO t VALUES (3, 3)"],
}

_HISTORY = [
    *(f"INSERT INTO t VALUES ({n}, 's{n}', named_struct('a', {n}), DATE '2024-01-0{n}', {n % 3})" for n in range(1, 8)),
    "DELETE FROM t WHERE id = 4",
    "INSERT INTO t VALUES (8, NULL, NULL, NULL, NULL)",
]


def _checkpointed(**properties: object) -> list[str]:
    return [_create("id INT, v STRING, s STRUCT<a: INT>, d DATE, p INT", "PARTITIONED BY (p)", **properties), *_HISTORY]


CHECKPOINTS = {
    "every_commit": _checkpointed(checkpointInterval=1),
    "every_second": _checkpointed(checkpointInterval=2),
    "v2": _checkpointed(checkpointInterval=1, checkpointPolicy="v2"),
    "v2_every_third": _checkpointed(checkpointInterval=3, checkpointPolicy="v2"),
    "stats_as_struct": _checkpointed(checkpointInterval=1, checkpoint_writeStatsAsStruct="true", checkpoint_writeStatsAsJson="false"),
    "stats_both": _checkpointed(checkpointInterval=1, checkpoint_writeStatsAsStruct="true", checkpoint_writeStatsAsJson="true"),
    "stats_nowhere": _checkpointed(checkpointInterval=1, checkpoint_writeStatsAsStruct="false", checkpoint_writeStatsAsJson="false"),
    "struct_mapped": _checkpointed(checkpointInterval=1, checkpoint_writeStatsAsStruct="true", columnMapping_mode="name", enableDeletionVectors="true"),
    "v2_to_classic": [*_checkpointed(checkpointInterval=1, checkpointPolicy="v2"), "ALTER TABLE t SET TBLPROPERTIES ('delta.checkpointPolicy' = 'classic')", "INSERT INTO t (id) VALUES (9)"],
    "with_everything": _checkpointed(checkpointInterval=1, checkpointPolicy="v2", enableDeletionVectors="true", enableRowTracking="true", enableInCommitTimestamps="true", columnMapping_mode="id"),
    "types_as_struct": [
        _create("id INT, f DOUBLE, de DECIMAL(38,10), ts TIMESTAMP, ntz TIMESTAMP_NTZ, d DATE, b BINARY, l ARRAY<INT>, o BOOLEAN", checkpointInterval=1, checkpoint_writeStatsAsStruct="true"),
        "INSERT INTO t VALUES (1, CAST('NaN' AS DOUBLE), 1.5, TIMESTAMP '2024-01-01 00:00:00.123456Z', TIMESTAMP_NTZ '1969-12-31 23:59:59.999999', DATE '2024-01-01', X'00', array(1), true), "
        "(2, -0.0D, NULL, NULL, NULL, NULL, NULL, NULL, NULL)",
        "INSERT INTO t (id) VALUES (3)",
    ],
    # These logs are then given other files by the program log/ beside this one.
    "json_manifest": _checkpointed(checkpointPolicy="v2"),
    "sidecars": _checkpointed(checkpointPolicy="v2"),
    "compacted": _checkpointed(),
}
LOGS = {
    "checkpoints/json_manifest": ["checkpoint", "-json"],
    "checkpoints/sidecars": ["checkpoint", "-sidecar-actions", "2"],
    "checkpoints/compacted": ["compact", "1", "6"],
}

_FACTORS = {
    "mapping": ("none", "name", "id"),
    "vectors": ("true", "false"),
    "tracking": ("true", "false"),
    "feed": ("true", "false"),
    "times": ("true", "false"),
    "widening": ("true", "false"),
    "policy": ("classic", "v2"),
    "interval": ("1", "2", "100"),
    "layout": ("plain", "partitioned", "clustered"),
}


def _pairs(choice: tuple[str, ...]) -> set[tuple[int, str, int, str]]:
    return {(i, choice[i], j, choice[j]) for i, j in itertools.combinations(range(len(choice)), 2)}


def _pairwise() -> list[tuple[str, ...]]:
    """A few of all combinations of the factors, such that each pair of values stands in one of them."""
    everything = list(itertools.product(*_FACTORS.values()))
    missing = set().union(*map(_pairs, everything))
    chosen = []
    while missing:
        best = max(everything, key=lambda choice: len(_pairs(choice) & missing))
        chosen.append(best)
        missing -= _pairs(best)
    return chosen


def _combination(choice: tuple[str, ...]) -> list[str]:
    values = dict(zip(_FACTORS, choice))
    tail = {"plain": "", "partitioned": "PARTITIONED BY (p)", "clustered": "CLUSTER BY (id, p)"}[values["layout"]]
    create = _create(
        "id INT, v STRING, n INT, s STRUCT<a: INT, b: STRING>, p STRING", tail,
        columnMapping_mode=values["mapping"], enableDeletionVectors=values["vectors"], enableRowTracking=values["tracking"], enableChangeDataFeed=values["feed"],
        enableInCommitTimestamps=values["times"], enableTypeWidening=values["widening"], checkpointPolicy=values["policy"], checkpointInterval=values["interval"],
    )
    rows = "SELECT CAST(id AS INT), concat('v', id), CAST(id * 2 AS INT), named_struct('a', CAST(id AS INT), 'b', 'x'), CASE WHEN id % 4 = 3 THEN NULL ELSE concat('p ', id % 4) END FROM range"
    statements = [create, f"INSERT INTO t {rows}(0, 20)", f"INSERT INTO t {rows}(20, 40)", "DELETE FROM t WHERE id % 7 = 5", "UPDATE t SET v = 'updated', p = 'p 9' WHERE id IN (1, 22, 33)"]
    if values["widening"] == "true":
        statements.append("ALTER TABLE t ALTER COLUMN n TYPE BIGINT")
    if values["mapping"] != "none":
        statements += ["ALTER TABLE t RENAME COLUMN v TO `v 2`", "ALTER TABLE t RENAME COLUMN s.a TO c"]
    statements += ["ALTER TABLE t ADD COLUMN more ARRAY<STRING>", "INSERT INTO t (id, n, more) VALUES (100, 5, array('m')), (101, NULL, NULL)"]
    statements.append("MERGE INTO t USING (SELECT 2 AS k UNION ALL SELECT 200) q ON t.id = q.k WHEN MATCHED THEN UPDATE SET n = 77 WHEN NOT MATCHED THEN INSERT (id, n) VALUES (k, 78)")
    return statements


COMBINATIONS = {"_".join(choice).replace("true", "yes").replace("false", "no"): _combination(choice) for choice in _pairwise()}

AREAS = {"types": TYPES, "partitions": PARTITIONS, "features": FEATURES, "checkpoints": CHECKPOINTS, "combinations": COMBINATIONS}
