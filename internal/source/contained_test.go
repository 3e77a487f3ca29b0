package source

import (
	"errors"
	"testing"
)

func TestSelfContained(t *testing.T) {
	t.Parallel()
	x := index(t, map[string]memoryFile{
		"plain/main.tf": file(`content = "${path.module}/x..."`), "plain/x": file(""), "plain/l": link("x"), "plain/sub/l": link("../x"),
		"module/main.tf": file(`source = "../shared"`), "quoted/x.tf": file(`join("/", [path.module, "..", "x"])`),
		"slash/x.tf": file(`"${path.root}/.."`), "linked/l": link("../shared"), "dangling/l": link("nowhere"), "shared/x": file(""),
		"out/l": link("/etc"), "plainer/x": file(""), "near/l": link("../near-by"), "near-by": file(""),
	})
	for path, want := range map[string]bool{
		"plain": true, "./plain/": true, "plain/x": true, "module": false, "quoted": false, "slash": false, "linked": false,
		"dangling": false, "near": false,
	} {
		got, err := x.SelfContained(path)
		if err != nil || got != want {
			t.Errorf("%s: want %t, got %t, %v", path, want, got, err)
		}
	}
	for path, want := range map[string]error{"out": ErrLeavesTree, "nowhere": ErrMissing} {
		if _, err := x.SelfContained(path); !errors.Is(err, want) {
			t.Errorf("%s: want %v, got %v", path, want, err)
		}
	}
}
