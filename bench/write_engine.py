"""deltasql for the jobs of writing: the shared harness's adapter reads a Parquet file by a function that deltasql does not have."""

from pathlib import Path

from engines import deltasql


class DeltaSql(deltasql.DeltaSql):
    def append(self, source: Path, table: Path) -> None:
        self._execute(f"CREATE TABLE delta.`{table}` USING delta AS SELECT * FROM parquet.`{source}`")

    def merge(self, table: Path, source: Path, key: str) -> None:
        self._execute(
            f"MERGE INTO delta.`{table}` AS t USING parquet.`{source}` AS s ON t.{key} = s.{key} "
            "WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"
        )
