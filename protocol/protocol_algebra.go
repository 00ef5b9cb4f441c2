package protocol

import (
	"maps"
	"slices"
)

// implicitFeatures are the legacy features that a version pair implies; none once the writer version has lists.
func implicitFeatures(reader, writer int) []string {
	if writer >= 7 {
		return nil
	}
	var names []string
	for _, f := range features {
		if f.Legacy() && f.LegacyReader <= reader && f.LegacyWriter <= writer {
			names = append(names, f.Name)
		}
	}
	slices.Sort(names)
	return names
}

// Features are the names of all features the protocol supports, listed or implied, sorted; names we do not know included.
func (p Protocol) Features() []string {
	names := slices.Concat(p.ReaderFeatures, p.WriterFeatures, implicitFeatures(p.MinReaderVersion, p.MinWriterVersion))
	slices.Sort(names)
	return slices.Compact(names)
}

// Supports says that the feature is listed or implied. An alias counts as what it means.
func (p Protocol) Supports(name string) bool {
	listed := func(names []string) bool {
		return slices.ContainsFunc(names, func(n string) bool { return n == name || featureAliases[n] == name })
	}
	if listed(p.ReaderFeatures) || listed(p.WriterFeatures) {
		return true
	}
	f, ok := featureByName[name]
	return ok && f.Legacy() && p.MinWriterVersion < 7 &&
		f.LegacyReader <= p.MinReaderVersion && f.LegacyWriter <= p.MinWriterVersion
}

// Equal compares versions and lists, the lists as sets; an absent list equals an empty one.
func (p Protocol) Equal(o Protocol) bool {
	set := func(names []string) map[string]bool {
		m := map[string]bool{}
		for _, n := range names {
			m[n] = true
		}
		return m
	}
	return p.MinReaderVersion == o.MinReaderVersion && p.MinWriterVersion == o.MinWriterVersion &&
		maps.Equal(set(p.ReaderFeatures), set(o.ReaderFeatures)) && maps.Equal(set(p.WriterFeatures), set(o.WriterFeatures))
}

// protocolOf lists features at the least versions that can list them. The names must be known.
func protocolOf(names []string) Protocol {
	p := Protocol{MinReaderVersion: 1, MinWriterVersion: 7, WriterFeatures: slices.Compact(slices.Sorted(slices.Values(names)))}
	if p.WriterFeatures == nil {
		p.WriterFeatures = []string{}
	}
	for _, name := range p.WriterFeatures {
		reader, _ := featureByName[name].minVersions()
		p.MinReaderVersion = max(p.MinReaderVersion, reader)
	}
	if p.MinReaderVersion == 3 {
		p.ReaderFeatures = []string{}
		for _, name := range p.WriterFeatures {
			if featureByName[name].Kind == ReaderWriterFeature {
				p.ReaderFeatures = append(p.ReaderFeatures, name)
			}
		}
	}
	return p
}

// allKnown says that the algebra may rewrite the protocol: it would lose names it cannot place.
func (p Protocol) allKnown() bool {
	return !slices.ContainsFunc(p.Features(), func(name string) bool { _, ok := featureByName[name]; return !ok })
}

// Denormalize spells a legacy protocol with lists; one with lists is its own answer, and so is one with unknown names.
func (p Protocol) Denormalize() Protocol {
	if p.MinWriterVersion >= 7 || !p.allKnown() {
		return p
	}
	return protocolOf(p.Features())
}

// Normalize gives the weakest protocol that supports the same features (invariant P1): plain versions where they imply
// exactly this set, else lists. A protocol with a name we do not know comes back unchanged, so that no name is lost.
func (p Protocol) Normalize() Protocol {
	if !p.allKnown() {
		return p
	}
	p = p.Denormalize()
	names := p.Features()
	for i, name := range names {
		names[i] = featureByName[name].Name // aliases are never written
	}
	names = slices.Compact(slices.Sorted(slices.Values(names)))
	reader, writer := 1, 1
	for _, name := range names {
		r, w := featureByName[name].minVersions()
		reader, writer = max(reader, r), max(writer, w)
	}
	if slices.Equal(implicitFeatures(reader, writer), names) {
		return Protocol{MinReaderVersion: reader, MinWriterVersion: writer}
	}
	return protocolOf(names)
}

// Merge gives the weakest protocol that supports what any of its arguments does.
func (p Protocol) Merge(others ...Protocol) Protocol {
	merged := Protocol{MinReaderVersion: p.MinReaderVersion, MinWriterVersion: 7, WriterFeatures: p.Features(), ReaderFeatures: p.ReaderFeatures}
	for _, o := range others {
		merged.MinReaderVersion = max(merged.MinReaderVersion, o.MinReaderVersion)
		merged.ReaderFeatures = slices.Concat(merged.ReaderFeatures, o.ReaderFeatures)
		merged.WriterFeatures = slices.Concat(merged.WriterFeatures, o.Features())
	}
	// Plain versions imply more together than apart: (1,5) and (2,1) make (2,5), which has column mapping.
	plain := Protocol{}
	for _, o := range append(others, p) {
		if o.MinWriterVersion < 7 {
			plain.MinReaderVersion = max(plain.MinReaderVersion, o.MinReaderVersion)
			plain.MinWriterVersion = max(plain.MinWriterVersion, o.MinWriterVersion)
		}
	}
	merged.WriterFeatures = slices.Concat(merged.WriterFeatures, plain.Features())
	slices.Sort(merged.WriterFeatures)
	merged.WriterFeatures = slices.Compact(merged.WriterFeatures)
	slices.Sort(merged.ReaderFeatures)
	merged.ReaderFeatures = slices.Compact(merged.ReaderFeatures)
	if merged.MinReaderVersion < 3 {
		merged.ReaderFeatures = nil
	}
	return merged.Normalize()
}

// FeatureClosure is the feature with everything it requires, sorted.
func FeatureClosure(names ...string) ([]string, error) {
	seen := map[string]bool{}
	var add func(name string) error
	add = func(name string) error {
		f, ok := featureByName[name]
		if !ok {
			return NewError("DELTA_UNSUPPORTED_FEATURES_IN_CONFIG", "there is no table feature %q", name)
		}
		if seen[f.Name] {
			return nil
		}
		seen[f.Name] = true
		for _, r := range f.Requires {
			if err := add(r); err != nil {
				return err
			}
		}
		return nil
	}
	for _, name := range names {
		if err := add(name); err != nil {
			return nil, err
		}
	}
	return slices.Sorted(maps.Keys(seen)), nil
}

// WithFeatures adds features and what they require, and normalises. What is supported already stays as it is.
func (p Protocol) WithFeatures(names ...string) (Protocol, error) {
	closure, err := FeatureClosure(names...)
	if err != nil {
		return Protocol{}, err
	}
	missing := slices.DeleteFunc(closure, p.Supports)
	if len(missing) == 0 {
		return p, nil
	}
	return p.Merge(protocolOf(missing)), nil
}

// WithoutFeature takes one feature away and normalises; what other features require of it is the caller's to check.
func (p Protocol) WithoutFeature(name string) Protocol {
	p = p.Denormalize()
	drop := func(n string) bool { return n == name || featureAliases[n] == name }
	p.ReaderFeatures = slices.DeleteFunc(slices.Clone(p.ReaderFeatures), drop)
	p.WriterFeatures = slices.DeleteFunc(slices.Clone(p.WriterFeatures), drop)
	return p.Normalize()
}

// CanUpgradeTo says that nothing is lost on the way to the new protocol.
func (p Protocol) CanUpgradeTo(to Protocol) bool {
	return isSubset(p.Features(), to.Features())
}

// CanDowngradeTo says that the new protocol is this one without the dropped feature; checkpointProtection may come in.
func (p Protocol) CanDowngradeTo(to Protocol, dropped string) bool {
	const protection = "checkpointProtection"
	left := slices.DeleteFunc(p.Features(), func(n string) bool { return n == dropped })
	now := to.Features()
	if !p.Supports(protection) {
		now = slices.DeleteFunc(now, func(n string) bool { return n == protection })
	}
	return slices.Equal(left, now)
}

func isSubset(a, b []string) bool {
	return !slices.ContainsFunc(a, func(n string) bool { _, found := slices.BinarySearch(b, n); return !found })
}
