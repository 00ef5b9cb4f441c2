package protocol

import (
	"encoding/json"
	"slices"
)

// fileMembers are the members of a file value, in the order in which this product writes them. They are never renamed, and every one
// may be NULL. The last holds the bytes themselves: it is stored with the value, but no statement can name it.
var fileMembers = []Field{
	{Name: "uri", Type: DataType{Kind: KindString}, Nullable: true}, {Name: "offset", Type: DataType{Kind: KindLong}, Nullable: true},
	{Name: "size", Type: DataType{Kind: KindLong}, Nullable: true}, {Name: "content_type", Type: DataType{Kind: KindString}, Nullable: true},
	{Name: "checksum", Type: DataType{Kind: KindString}, Nullable: true}, {Name: "inline", Type: DataType{Kind: KindBinary}, Nullable: true},
}

// FileMembers are all members of a file value, the private one last.
func FileMembers() []Field { return slices.Clone(fileMembers) }

// FileLeaves are the members of a file value that statements may name; those are the ones with statistics.
func FileLeaves() []Field { return slices.Clone(fileLeaves) }

var fileLeaves = fileMembers[:len(fileMembers)-1]

// The storage modes of a file column, DataType.Parameter of KindFile. They say who looks after the files and change nothing here; a
// column without one has none in the schema.
const (
	FileManaged  = "MANAGED"
	FileExternal = "EXTERNAL"
	FileUnknown  = "UNKNOWN"
)

// applyFileModes sets the storage mode of the file types that __FILE_TYPE_MODE of the nearest field names by path ("f", "f.element",
// "f.value").
func applyFileModes(t *DataType, path string, modes map[string]string) {
	switch t.Kind {
	case KindFile:
		if mode := modes[path]; mode == FileManaged || mode == FileExternal || mode == FileUnknown {
			t.Parameter = mode
		}
	case KindArray:
		applyFileModes(t.Element, path+".element", modes)
	case KindMap:
		applyFileModes(t.Key, path+".key", modes)
		applyFileModes(t.Value, path+".value", modes)
	}
}

// fileModes collects what applyFileModes sets.
func fileModes(t *DataType, path string, into map[string]string) {
	switch t.Kind {
	case KindFile:
		if t.Parameter != "" {
			into[path] = t.Parameter
		}
	case KindArray:
		fileModes(t.Element, path+".element", into)
	case KindMap:
		fileModes(t.Key, path+".key", into)
		fileModes(t.Value, path+".value", into)
	}
}

// storedMetadata are the field's metadata as the schema keeps them: the storage modes of its type are among them, under the name that
// the field has now.
func (f *Field) storedMetadata() FieldMetadata {
	modes := map[string]string{}
	fileModes(&f.Type, string(f.Name), modes)
	if len(modes) == 0 {
		return f.Metadata
	}
	text, err := json.Marshal(modes)
	if err != nil {
		return f.Metadata
	}
	return f.Metadata.with(metaFileModes, text)
}
