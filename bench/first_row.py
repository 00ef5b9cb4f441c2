#!/usr/bin/env python3
"""How long the first row of a streamed result takes: first_row.py BINARY CATALOG 'SELECT ...' [...]

Drives one `exec --format events` process through pipes and prints, a statement, the milliseconds from its newline to the first
row and to its end, three times. Standard library only.
"""
import subprocess
import sys
import time


def main() -> None:
    binary, catalog, *statements = sys.argv[1:]
    command = [binary, "exec", "--format", "events", catalog]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        for sql in ["SELECT 1", *statements]:
            for _ in range(3):
                begin, first = time.monotonic(), None
                process.stdin.write(sql.rstrip(";") + ";\n")
                process.stdin.flush()
                for line in process.stdout:
                    if line.startswith("[") and first is None:
                        first = time.monotonic() - begin
                    if line.startswith('{"statement"') and '"columns"' not in line[:40]:
                        break
                end = time.monotonic() - begin
                print(f"{(first or end) * 1000:8.1f} {end * 1000:10.1f}  {sql}", flush=True)
        process.stdin.close()


if __name__ == "__main__":
    main()
