package protocol

// The domains that the protocol itself defines.
const (
	DomainClustering  = "delta.clustering"
	DomainRowTracking = "delta.rowTracking"
)

// ClusteringColumns reads the configuration of the domain delta.clustering: paths of physical names. Both forms count:
// a list of paths, which the reference writes, and a list of names, which the protocol's text shows.
func ClusteringColumns(configuration string) ([][]PhysicalName, error) {
	c := jsonCursor{data: []byte(configuration)}
	paths := [][]PhysicalName{}
	err := members(&c, []string{"clusteringColumns"}, 1<<0, func(int) error {
		return c.array(func(int) error {
			if c.peek() == '"' {
				name, err := c.str()
				paths = append(paths, []PhysicalName{PhysicalName(name)})
				return err
			}
			path := []PhysicalName{}
			err := c.array(func(int) error {
				name, err := c.str()
				path = append(path, PhysicalName(name))
				return err
			})
			if err == nil && len(path) == 0 {
				err = c.fault("an empty path")
			}
			paths = append(paths, path)
			return err
		})
	})
	if err == nil {
		err = c.end()
	}
	if err != nil {
		return nil, NewError("DELTA_INVALID_LOG_FILE", "the domain %s is malformed", DomainClustering).WithCause(err)
	}
	return paths, nil
}

// RowIDHighWaterMark reads the configuration of the domain delta.rowTracking: the highest row id given out, -1 for none.
func RowIDHighWaterMark(configuration string) (int64, error) {
	c := jsonCursor{data: []byte(configuration)}
	mark := int64(-1)
	err := members(&c, []string{"rowIdHighWaterMark"}, 0, func(int) error { return c.intoInt(&mark) })
	if err == nil {
		err = c.end()
	}
	if err != nil {
		return 0, NewError("DELTA_INVALID_LOG_FILE", "the domain %s is malformed", DomainRowTracking).WithCause(err)
	}
	return mark, nil
}
