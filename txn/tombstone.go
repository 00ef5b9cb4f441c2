package txn

import "deltasql/protocol"

// Tombstone stages a remove for a path that is no data file, or none any more: the file of deletion vectors that removed
// files refer to. Writers that do not know such files keep, when they clean up, what a remove in the retention names.
func (tx *Transaction) Tombstone(paths ...string) error {
	return tx.change(func() error {
		for _, path := range paths {
			if err := checkPath(path); err != nil {
				return err
			}
			key := protocol.PathKey(path)
			if tx.staged.files[key] == nil {
				tx.staged.put(key, &stagedFile{remove: &protocol.RemoveFile{Path: path}})
			}
		}
		return nil
	})
}
