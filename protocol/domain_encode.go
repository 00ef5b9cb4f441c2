package protocol

import "strconv"

// ClusteringDomain is the domain that names the clustering columns by their physical paths; an empty list switches
// clustering off without dropping the feature.
func ClusteringDomain(columns [][]PhysicalName) DomainMetadata {
	text := []byte(`{"clusteringColumns":[`)
	for i, path := range columns {
		if i > 0 {
			text = append(text, ',')
		}
		text = append(text, '[')
		for j, name := range path {
			if j > 0 {
				text = append(text, ',')
			}
			text = appendJSONString(text, string(name))
		}
		text = append(text, ']')
	}
	text = append(text, `],"domainName":"`+DomainClustering+`"}`...)
	return DomainMetadata{Domain: DomainClustering, Configuration: string(text)}
}

// RowTrackingDomain is the domain that records the highest row id given out (invariant R1: it never falls).
func RowTrackingDomain(highWaterMark int64) DomainMetadata {
	return DomainMetadata{Domain: DomainRowTracking,
		Configuration: `{"rowIdHighWaterMark":` + strconv.FormatInt(highWaterMark, 10) + `,"domainName":"` + DomainRowTracking + `"}`}
}
