package source

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestHashVectors compares with the files part of the pre-images of input-hash.json.
func TestHashVectors(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile(vectors + "b-apply-references/input-hash.json")
	if err != nil {
		t.Fatal(err)
	}
	var vector struct {
		Files []struct {
			Path       string
			Executable bool
			Text       string
		}
		Cases []struct {
			Label string
			Spec  struct {
				Source *struct {
					Path   string
					Inputs *[]string
				}
			}
			Bytes string
		}
	}
	if err := json.Unmarshal(data, &vector); err != nil {
		t.Fatal(err)
	}
	tree := map[string]memoryFile{}
	for _, f := range vector.Files {
		tree[f.Path] = file(f.Text)
		if f.Executable {
			tree[f.Path] = executable(f.Text)
		}
	}
	x := index(t, tree)
	var hasher Hasher
	checked := 0
	for _, c := range vector.Cases {
		if c.Spec.Source == nil {
			continue
		}
		checked++
		var preimage struct {
			Files []struct{ ContentHash, Mode, Path string }
		}
		if err := json.Unmarshal([]byte(c.Bytes), &preimage); err != nil {
			t.Fatal(err)
		}
		want := []InputFile{}
		for _, f := range preimage.Files {
			want = append(want, InputFile{Path: f.Path, Mode: f.Mode, SHA256: f.ContentHash})
		}
		var patterns []string
		if c.Spec.Source.Inputs != nil {
			patterns = *c.Spec.Source.Inputs
		}
		inputs, err := x.Select(c.Spec.Source.Path, patterns, c.Spec.Source.Inputs != nil)
		if err != nil {
			t.Errorf("%s: %v", c.Label, err)
			continue
		}
		got, err := hasher.Hash(t.Context(), x, inputs)
		if err != nil {
			t.Errorf("%s: %v", c.Label, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.Label, diff)
		}
	}
	if checked < 10 {
		t.Errorf("input-hash.json has %d cases with a source only", checked)
	}
}

func TestHashOfLinkIsOfItsText(t *testing.T) {
	t.Parallel()
	x := index(t, map[string]memoryFile{"u/l": link("x"), "u/x": file("content")})
	inputs, err := x.Select("u", []string{"l"}, true)
	if err != nil {
		t.Fatal(err)
	}
	got, err := new(Hasher).Hash(t.Context(), x, inputs)
	if err != nil {
		t.Fatal(err)
	}
	want := []InputFile{{Path: "l", Mode: "120000", SHA256: "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881"}} // printf x | sha256sum
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestHasherReadsEachBlobOnce(t *testing.T) {
	t.Parallel()
	entries := map[string]memoryFile{}
	for i := range 20 {
		entries[fmt.Sprintf("u/%d.tf", i)] = file("shared by all")
		entries[fmt.Sprintf("v/%d.tf", i)] = file(fmt.Sprint(i))
	}
	tree := newTree(entries)
	x, err := NewIndex(tree)
	if err != nil {
		t.Fatal(err)
	}
	inputs, err := x.Select(".", nil, false)
	if err != nil {
		t.Fatal(err)
	}
	var hasher Hasher
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if files, err := hasher.Hash(t.Context(), x, inputs); err != nil || len(files) != 40 {
				t.Errorf("want 40 files, got %d, %v", len(files), err)
			}
		})
	}
	wg.Wait()
	if want, got := int64(21), tree.reads.Load(); want != got {
		t.Errorf("reads: want %d, got %d", want, got)
	}
}

func TestHasherForgetsErrors(t *testing.T) {
	t.Parallel()
	tree := newTree(map[string]memoryFile{"a": file("x")})
	x, err := NewIndex(tree)
	if err != nil {
		t.Fatal(err)
	}
	inputs, err := x.Select("a", nil, false)
	if err != nil {
		t.Fatal(err)
	}
	var hasher Hasher
	content := tree.entries["a"]
	delete(tree.entries, "a")
	if _, err := hasher.Hash(t.Context(), x, inputs); !errors.Is(err, os.ErrNotExist) {
		t.Fatalf("want %v, got %v", os.ErrNotExist, err)
	}
	tree.entries["a"] = content
	if _, err := hasher.Hash(t.Context(), x, inputs); err != nil {
		t.Errorf("the second try: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := hasher.Hash(ctx, x, inputs); !errors.Is(err, context.Canceled) {
		t.Errorf("want %v, got %v", context.Canceled, err)
	}
}
