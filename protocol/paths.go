package protocol

import (
	"path"
	"strings"
)

// DecodePath turns a path of the log (a URI reference, RFC 2396) into a file's name: percent-encoding is undone exactly once.
// A relative path is relative to the table's root. An absolute one is a plain path for file: and for no scheme ("/a/b"),
// else scheme://authority/path with the path decoded. Opaque URIs ("a:b"), other hosts than this one in file: URIs, bad
// encoding and relative paths that leave the table's folder are DELTA_CANNOT_RECONSTRUCT_PATH_FROM_URI.
func DecodePath(uri string) (path string, absolute bool, err error) {
	if uri == "" {
		return "", false, badPath(uri, "it is empty")
	}
	scheme, rest := splitScheme(uri)
	if scheme == "" {
		decoded, ok := percentDecode(uri)
		if !ok {
			return "", false, badPath(uri, "its percent-encoding is malformed or it holds a NUL character")
		}
		if decoded[0] == '/' {
			return collapseSlashes(decoded), true, nil
		}
		if escapesRoot(decoded) {
			return "", false, badPath(uri, "it leaves the table's folder")
		}
		if strings.Trim(decoded, "./") == "" {
			return "", false, badPath(uri, "it names no file")
		}
		return decoded, false, nil
	}
	if !strings.HasPrefix(rest, "/") {
		return "", false, badPath(uri, "it is an opaque URI")
	}
	authority := ""
	if after, ok := strings.CutPrefix(rest, "//"); ok {
		authority, rest = after, "/"
		if slash := strings.IndexByte(after, '/'); slash >= 0 {
			authority, rest = after[:slash], after[slash:]
		}
	}
	decoded, ok := percentDecode(rest)
	if !ok {
		return "", false, badPath(uri, "its percent-encoding is malformed or it holds a NUL character")
	}
	decoded = collapseSlashes(decoded)
	if scheme == "file" {
		if authority != "" && !strings.EqualFold(authority, "localhost") {
			return "", false, badPath(uri, "it names another host")
		}
		return decoded, true, nil
	}
	if authority == "" {
		return "", false, badPath(uri, "it has no authority")
	}
	return scheme + "://" + authority + decoded, true, nil
}

// CanonicalPath is the key under which log replay keeps a file: the decoded path with one spelling for what is the same
// file ("file:/a//b", "file:///a/b" and "/a/b"; "a/b", "a//b" and "a/./b"). For the usual path it is the argument itself.
func CanonicalPath(uri string) (string, error) {
	if plainPath(uri) {
		return uri, nil
	}
	decoded, _, err := DecodePath(uri)
	if err != nil {
		return "", err
	}
	if scheme, rest, remote := strings.Cut(decoded, "://"); remote {
		return scheme + "://" + path.Clean(rest), nil
	}
	return path.Clean(decoded), nil
}

// PathKey is CanonicalPath for keys of maps: a path that has no canonical form is its own key, and whoever opens the file reports it.
func PathKey(uri string) string {
	if canonical, err := CanonicalPath(uri); err == nil {
		return canonical
	}
	return uri
}

// plainPath says that a path has nothing to decode or to canonicalise.
func plainPath(uri string) bool {
	previous := byte('/')
	for i := 0; i < len(uri); i++ {
		b := uri[i]
		if b == '%' || b == ':' || (b == '/' || b == '.') && previous == '/' || b == 0 {
			return false
		}
		previous = b
	}
	return previous != '/'
}

func badPath(uri, why string) *Error {
	return NewError("DELTA_CANNOT_RECONSTRUCT_PATH_FROM_URI", "the path %q cannot be used: %s", shorten(uri), why)
}

// splitScheme gives the scheme in lower case and what follows its colon, or "" where the text has none.
func splitScheme(uri string) (scheme, rest string) {
	for i := 0; i < len(uri); i++ {
		switch b := uri[i]; {
		case b == ':' && i > 0:
			return strings.ToLower(uri[:i]), uri[i+1:]
		case b|0x20 >= 'a' && b|0x20 <= 'z':
		case i > 0 && (b >= '0' && b <= '9' || b == '+' || b == '-' || b == '.'):
		default:
			return "", uri
		}
	}
	return "", uri
}

// percentDecode undoes the encoding once; false where it is malformed or a NUL comes out, which no file name can hold.
func percentDecode(text string) (string, bool) {
	if strings.IndexByte(text, 0) >= 0 {
		return "", false
	}
	at := strings.IndexByte(text, '%')
	if at < 0 {
		return text, true
	}
	out := append(make([]byte, 0, len(text)), text[:at]...)
	for i := at; i < len(text); i++ {
		b := text[i]
		if b == '%' {
			if i+2 >= len(text) {
				return "", false
			}
			high, low := unhex(text[i+1]), unhex(text[i+2])
			if high < 0 || low < 0 {
				return "", false
			}
			b = byte(high<<4 | low)
			i += 2
		}
		if b == 0 {
			return "", false
		}
		out = append(out, b)
	}
	return string(out), true
}

func unhex(b byte) int {
	switch {
	case b >= '0' && b <= '9':
		return int(b - '0')
	case b >= 'a' && b <= 'f':
		return int(b - 'a' + 10)
	case b >= 'A' && b <= 'F':
		return int(b - 'A' + 10)
	}
	return -1
}

// EncodePath is the inverse of DecodePath for a relative name or a plain absolute path: everything that Java's URI class
// quotes is percent-encoded, and so are '%' and the characters that delimit a URI's parts.
func EncodePath(name string) string {
	const safe = "/-_.!~*'()=&$+,;@"
	var out []byte
	for i := 0; i < len(name); i++ {
		b := name[i]
		plain := b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || strings.IndexByte(safe, b) >= 0
		if plain && out != nil {
			out = append(out, b)
		}
		if !plain {
			if out == nil {
				out = append(make([]byte, 0, len(name)+8), name[:i]...)
			}
			out = append(out, '%', upperHex[b>>4], upperHex[b&15])
		}
	}
	if out == nil {
		return name
	}
	return string(out)
}

func collapseSlashes(path string) string {
	if !strings.Contains(path, "//") {
		return path
	}
	out := make([]byte, 0, len(path))
	for i := 0; i < len(path); i++ {
		if path[i] != '/' || i == 0 || path[i-1] != '/' {
			out = append(out, path[i])
		}
	}
	return string(out)
}

// escapesRoot says that a relative path climbs above where it starts.
func escapesRoot(path string) bool {
	depth := 0
	for segment := range strings.SplitSeq(path, "/") {
		switch segment {
		case "", ".":
		case "..":
			if depth--; depth < 0 {
				return true
			}
		default:
			depth++
		}
	}
	return false
}
