package filetype

import (
	"path"
	"strings"
)

// contentTypes are the media types of common endings of names. The list is part of the product, so that the same name has the same type
// on every machine.
var contentTypes = map[string]string{
	".aac": "audio/aac", ".avi": "video/x-msvideo", ".avif": "image/avif", ".avro": "application/avro", ".bmp": "image/bmp", ".bz2": "application/x-bzip2",
	".css": "text/css", ".csv": "text/csv", ".docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document", ".epub": "application/epub+zip",
	".flac": "audio/flac", ".gif": "image/gif", ".gz": "application/gzip", ".heic": "image/heic", ".html": "text/html", ".ico": "image/vnd.microsoft.icon",
	".jpeg": "image/jpeg", ".jpg": "image/jpeg", ".js": "text/javascript", ".json": "application/json", ".jsonl": "application/jsonl", ".m4a": "audio/mp4",
	".md": "text/markdown", ".mkv": "video/matroska", ".mov": "video/quicktime", ".mp3": "audio/mpeg", ".mp4": "video/mp4", ".mpeg": "video/mpeg",
	".ogg": "audio/ogg", ".opus": "audio/opus", ".parquet": "application/vnd.apache.parquet", ".pdf": "application/pdf", ".png": "image/png",
	".pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation", ".rtf": "application/rtf", ".svg": "image/svg+xml", ".tar": "application/x-tar",
	".tif": "image/tiff", ".tiff": "image/tiff", ".tsv": "text/tab-separated-values", ".txt": "text/plain", ".wav": "audio/wav", ".webm": "video/webm",
	".webp": "image/webp", ".xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", ".xml": "application/xml", ".yaml": "application/yaml",
	".yml": "application/yaml", ".zip": "application/zip", ".zst": "application/zstd",
}

// ContentType is the media type that a file's name tells, "" where it tells none.
func ContentType(name string) string { return contentTypes[strings.ToLower(path.Ext(name))] }
