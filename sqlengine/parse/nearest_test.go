package parse

import (
	"slices"
	"strings"
	"testing"
)

func TestMeant(t *testing.T) {
	names := []string{"orders", "customers", "line_items", "id", strings.Repeat("x", 100_000)}
	for name, want := range map[string]string{
		"order": "orders", "Custmers": "customers", "lineitems": "line_items", "odrers": "orders", "cstomer": "customers", "ie": "id", "rders": "orders", "ders": "orders", "der": "",
		"xyz": "", "x": "", "ORDERS": "", "": "", strings.Repeat("y", 100_000): "",
	} {
		if got := Meant(name, names); got != want {
			t.Errorf("%.20s: %.20s, want %s", name, got, want)
		}
	}
}

func TestNearest(t *testing.T) {
	got := Nearest("naem", []string{"id", "", "price", "Name", "id", "game", "same"})
	if want := []string{"Name", "game", "same", "id", "price"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
