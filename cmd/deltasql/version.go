package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"deltasql/protocol"
	"deltasql/scan/duck"
	"deltasql/sqlengine"
)

func versionCommand() *cobra.Command {
	var asJSON bool
	command := &cobra.Command{
		Use:   "version",
		Short: "print the versions and the table features that can be read and written",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			about := struct {
				Version        string   `json:"version"`
				DuckDB         string   `json:"duckdb"`
				ReaderFeatures []string `json:"readerFeatures"`
				WriterFeatures []string `json:"writerFeatures"`
			}{sqlengine.Version, duck.Version(), featureNames(func(f *protocol.Feature) bool { return f.Reads }),
				featureNames(func(f *protocol.Feature) bool { return f.Writes })}
			if asJSON {
				return json.NewEncoder(os.Stdout).Encode(about)
			}
			_, err := fmt.Printf("deltasql %s (DuckDB %s)\nreads:  %s\nwrites: %s\n", about.Version, about.DuckDB,
				listOrNone(about.ReaderFeatures), listOrNone(about.WriterFeatures))
			return err
		},
	}
	command.Flags().BoolVar(&asJSON, "json", false, "as one JSON object")
	return command
}

// featureNames are the table features that a test holds for, in the order of the protocol's appendix.
func featureNames(holds func(*protocol.Feature) bool) []string {
	names := []string{}
	for _, feature := range protocol.Features() {
		if holds(feature) {
			names = append(names, feature.Name)
		}
	}
	return names
}

func listOrNone(names []string) string {
	if len(names) == 0 {
		return "none yet"
	}
	return strings.Join(names, ", ")
}
