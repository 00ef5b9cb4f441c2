"""Random lives of a table: rows and columns change while features come and go.

A life is a list of statements over a table `t` with a column `id INT`. A statement may fail, because it is drawn without
regard to what the table is by then; it then must leave the table as it was.
"""

import random

CREATE = "CREATE TABLE t (id INT, n SMALLINT, s STRING, p STRUCT<x: INT, y: STRING>) {clause}"
CLAUSES = ("", "", "PARTITIONED BY (n)", "CLUSTER BY (id)", "TBLPROPERTIES ('delta.columnMapping.mode' = 'name')", "TBLPROPERTIES ('delta.columnMapping.mode' = 'id')")

SWITCHES = (
    "enableDeletionVectors", "enableChangeDataFeed", "enableRowTracking", "enableInCommitTimestamps", "enableTypeWidening", "appendOnly",
)  # fmt: skip
FEATURES = (
    "deletionVectors", "changeDataFeed", "rowTracking", "inCommitTimestamp", "typeWidening", "columnMapping", "v2Checkpoint", "checkConstraints",
    "clustering", "domainMetadata", "appendOnly", "timestampNtz", "generatedColumns", "allowColumnDefaults", "checkpointProtection", "vacuumProtocolCheck",
)  # fmt: skip


def life(seed: int, length: int) -> list[str]:
    """The statements after CREATE, which is the first."""
    draw = random.Random(seed)
    out, ids, added = [CREATE.format(clause=draw.choice(CLAUSES))], 0, 0
    while len(out) <= length:
        act = draw.random()
        if act < 0.25:
            rows = []
            for _ in range(draw.randint(1, 3)):
                ids += 1
                n, s = draw.choice(("1", "2", "-3", "NULL")), draw.choice(("'a'", "'ü\"'", "''", "NULL"))
                rows.append(f"{ids} AS id, CAST({n} AS SMALLINT) AS n, {s} AS s")
            out.append("INSERT INTO t BY NAME " + " UNION ALL SELECT ".join(["SELECT " + rows[0]] + rows[1:]))
        elif act < 0.40:
            some = draw.randint(1, max(ids, 1))
            out.append(draw.choice((f"DELETE FROM t WHERE id = {some}", f"UPDATE t SET s = 'u{some}' WHERE id <= {some}", f"UPDATE t SET p = named_struct('x', {some}, 'y', 'z') WHERE id = {some}")))
        elif act < 0.55:
            switch = draw.choice(SWITCHES)
            out.append(f"ALTER TABLE t SET TBLPROPERTIES ('delta.{switch}' = '{'true' if draw.random() < (0.3 if switch == 'appendOnly' else 0.7) else 'false'}')")
        elif act < 0.75:
            out.append(f"ALTER TABLE t DROP FEATURE {draw.choice(FEATURES)}{draw.choice(('', ' TRUNCATE HISTORY'))}")
        elif act < 0.95:
            added += 1
            out.append(
                draw.choice((
                    f"ALTER TABLE t ADD COLUMN a{added} {draw.choice(('INT', 'STRING', 'TIMESTAMP_NTZ', 'ARRAY<INT>'))}",
                    f"ALTER TABLE t ADD COLUMN p.a{added} BIGINT",
                    "ALTER TABLE t ALTER COLUMN n TYPE INT", "ALTER TABLE t ALTER COLUMN p.x TYPE BIGINT",
                    "ALTER TABLE t SET TBLPROPERTIES ('delta.columnMapping.mode' = 'name')", "ALTER TABLE t SET TBLPROPERTIES ('delta.columnMapping.mode' = 'none')",
                    f"ALTER TABLE t RENAME COLUMN a{draw.randint(1, added)} TO b{added}", f"ALTER TABLE t DROP COLUMN a{draw.randint(1, added)}",
                    "ALTER TABLE t RENAME COLUMN p.y TO z", "ALTER TABLE t RENAME COLUMN p.z TO y",
                    "ALTER TABLE t ADD CONSTRAINT positive CHECK (id > 0)", "ALTER TABLE t DROP CONSTRAINT IF EXISTS positive",
                    "ALTER TABLE t CLUSTER BY (id)", "ALTER TABLE t CLUSTER BY NONE",
                    "ALTER TABLE t SET TBLPROPERTIES ('delta.checkpointPolicy' = 'v2')", "ALTER TABLE t SET TBLPROPERTIES ('delta.checkpointPolicy' = 'classic')",
                    "ALTER TABLE t ALTER COLUMN s SET DEFAULT 'd'", "ALTER TABLE t SET TBLPROPERTIES ('delta.feature.allowColumnDefaults' = 'supported')",
                    "ALTER TABLE t ALTER COLUMN s FIRST", "ALTER TABLE t SET TBLPROPERTIES ('delta.dropFeatureTruncateHistory.retentionDuration' = 'interval 0 hours')",
                ))  # fmt: skip
            )
        else:
            out.append(draw.choice(("OPTIMIZE t", "OPTIMIZE t FULL", "REORG TABLE t APPLY (PURGE)", "CHECKPOINT TABLE t")))
    return out
