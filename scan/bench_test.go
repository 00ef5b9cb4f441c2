package scan

import (
	"context"
	"fmt"
	"testing"

	"deltasql/protocol"
	"deltasql/stats"
)

// BenchmarkBuild plans a scan of 20,000 files: all of them, and one that statistics leave.
func BenchmarkBuild(b *testing.B) {
	in := openInstance(b)
	table := newTable(b, in, field("id", `"long"`)+","+field("p", `"integer"`), []string{"p"}, nil)
	const files = 20_000
	lines := make([]string, 0, files)
	for i := range files {
		lines = append(lines, add(fmt.Sprintf("part-%05d.parquet", i), fmt.Sprintf(`"p":"%d"`, i%10),
			fmt.Sprintf(`,"stats":"{\"numRecords\":100,\"minValues\":{\"id\":%d},\"maxValues\":{\"id\":%d},\"nullCount\":{\"id\":0}}"`, i*100, i*100+99)))
	}
	table.commit(lines...)
	snapshot, err := table.Snapshot(context.Background())
	if err != nil {
		b.Fatal(err)
	}
	point := stats.Compare{Leaf: stats.Leaf{Path: []protocol.PhysicalName{"id"}, Type: protocol.DataType{Kind: protocol.KindLong}},
		Op: stats.Equal, Value: protocol.Value{Kind: protocol.KindLong, Int: 123_456}}
	for name, predicate := range map[string]stats.Predicate{"all": nil, "one": point} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				relation, err := Build(context.Background(), in, Request{Snapshot: snapshot, Columns: []int{0, 1}, Predicate: predicate, Skip: true})
				if err != nil {
					b.Fatal(err)
				}
				relation.Release()
			}
		})
	}
}
