package protocol

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// LogFileKind tells the files of _delta_log apart (protocol, "Delta Log Entries", "Checkpoints").
type LogFileKind uint8

// The kinds.
const (
	LogCommit              LogFileKind = iota + 1 // v.json
	LogStagedCommit                               // _staged_commits/v.<uuid>.json
	LogCompaction                                 // x.y.compacted.json
	LogCheckpoint                                 // v.checkpoint.parquet
	LogMultipartCheckpoint                        // v.checkpoint.<part>.<parts>.parquet
	LogUUIDCheckpoint                             // v.checkpoint.<uuid>.parquet or .json
	LogSidecar                                    // _sidecars/<name>.parquet
	LogChecksum                                   // v.crc
	LogLastCheckpoint                             // _last_checkpoint
)

// LogFile is what a name in _delta_log says.
type LogFile struct {
	Kind        LogFileKind
	Version     int64  // of the commit, checkpoint or checksum; the first of a compaction
	EndVersion  int64  // the last of a compaction, else Version
	Part, Parts int    // LogMultipartCheckpoint: from 1
	UUID        string // LogStagedCommit, LogUUIDCheckpoint
	JSON        bool   // LogUUIDCheckpoint: its format is JSON rather than Parquet
}

// The fixed names.
const (
	LogFolder          = "_delta_log"
	LastCheckpointName = "_last_checkpoint"
	SidecarFolder      = "_sidecars"
	StagedFolder       = "_staged_commits"
)

const versionDigits = 20

// ParseLogFile reads a name relative to _delta_log; false for anything that is not part of the log.
func ParseLogFile(name string) (LogFile, bool) {
	if name == LastCheckpointName {
		return LogFile{Kind: LogLastCheckpoint}, true
	}
	if rest, ok := strings.CutPrefix(name, SidecarFolder+"/"); ok {
		return LogFile{Kind: LogSidecar}, strings.HasSuffix(rest, ".parquet") && !strings.Contains(rest, "/")
	}
	name, staged := strings.CutPrefix(name, StagedFolder+"/")
	head, rest, ok := strings.Cut(name, ".")
	version, good := parseVersion(head)
	if !ok || !good {
		return LogFile{}, false
	}
	f := LogFile{Version: version, EndVersion: version}
	if staged {
		id, ok := strings.CutSuffix(rest, ".json")
		f.Kind, f.UUID = LogStagedCommit, id
		return f, ok && isFileID(id)
	}
	switch rest {
	case "json":
		f.Kind = LogCommit
		return f, true
	case "crc":
		f.Kind = LogChecksum
		return f, true
	case "checkpoint.parquet":
		f.Kind = LogCheckpoint
		return f, true
	}
	if end, ok := strings.CutSuffix(rest, ".compacted.json"); ok {
		last, good := parseVersion(end)
		f.Kind, f.EndVersion = LogCompaction, last
		return f, good && last > version
	}
	tail, ok := strings.CutPrefix(rest, "checkpoint.")
	if !ok {
		return LogFile{}, false
	}
	if id, ok := strings.CutSuffix(tail, ".json"); ok {
		f.Kind, f.UUID, f.JSON = LogUUIDCheckpoint, id, true
		return f, isFileID(id)
	}
	id, ok := strings.CutSuffix(tail, ".parquet")
	if !ok {
		return LogFile{}, false
	}
	if part, parts, two := strings.Cut(id, "."); two {
		f.Kind = LogMultipartCheckpoint
		var ok1, ok2 bool
		f.Part, ok1 = parsePart(part)
		f.Parts, ok2 = parsePart(parts)
		return f, ok1 && ok2 && f.Part >= 1 && f.Part <= f.Parts
	}
	f.Kind, f.UUID = LogUUIDCheckpoint, id
	return f, isFileID(id)
}

// parseVersion reads exactly twenty digits of a number that is less than the largest int64, so that it has a successor.
func parseVersion(text string) (int64, bool) {
	if len(text) != versionDigits {
		return 0, false
	}
	v, err := strconv.ParseUint(text, 10, 64)
	return int64(v), err == nil && v < math.MaxInt64
}

func parsePart(text string) (int, bool) {
	if len(text) != 10 {
		return 0, false
	}
	v, err := strconv.ParseUint(text, 10, 31)
	return int(v), err == nil
}

// isFileID accepts UUIDs and, since writers were free in it, any other id of their characters.
func isFileID(id string) bool {
	for i := range len(id) {
		b := id[i]
		if b != '-' && b != '_' && (b < '0' || b > '9') && (b|0x20 < 'a' || b|0x20 > 'z') {
			return false
		}
	}
	return id != ""
}

// VersionName is a version as file names spell it.
func VersionName(version int64) string { return fmt.Sprintf("%020d", version) }

// CommitName is the name of a version's commit file.
func CommitName(version int64) string { return VersionName(version) + ".json" }

// ChecksumName is the name of a version's checksum file.
func ChecksumName(version int64) string { return VersionName(version) + ".crc" }

// CheckpointName is the classic name of a version's checkpoint.
func CheckpointName(version int64) string { return VersionName(version) + ".checkpoint.parquet" }

// MultipartCheckpointName is the name of one part, counted from 1, of a multi-part checkpoint.
func MultipartCheckpointName(version int64, part, parts int) string {
	return fmt.Sprintf("%020d.checkpoint.%010d.%010d.parquet", version, part, parts)
}

// UUIDCheckpointName is the name of a V2 checkpoint; extension is "parquet" or "json".
func UUIDCheckpointName(version int64, uuid, extension string) string {
	return VersionName(version) + ".checkpoint." + uuid + "." + extension
}

// CompactionName is the name of the compacted commits from one version to another.
func CompactionName(from, to int64) string {
	return VersionName(from) + "." + VersionName(to) + ".compacted.json"
}
