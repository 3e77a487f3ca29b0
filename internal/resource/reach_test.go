package resource

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPointersThatCanNeverExist(t *testing.T) {
	t.Parallel()
	images := GVK{ArtifactAPI, "ContainerImages"}
	for _, tt := range []struct {
		name string
		got  error
		want string // "" can exist
	}{
		{"whole result", CheckResultPointer("Terraform", ""), ""},
		{"an output", CheckResultPointer("Terraform", "/outputs/vpc/subnets/0/id"), ""},
		{"what was applied", CheckResultPointer("Terraform", "/applied/sourceRevision"), ""},
		{"a misspelt key", CheckResultPointer("Terraform", "/output/vpc"), `JSON Pointer "/output/vpc": token "output": is not there; known there: applied, outputs`},
		{"below a text", CheckResultPointer("Terraform", "/applied/path/x"), `JSON Pointer "/applied/path/x": token "x": there is nothing below that place`},
		{"a kind without result", CheckResultPointer("OciImages", "/images"), `JSON Pointer "/images": token "images": there is nothing below that place`},
		{"one of two results", CheckResultPointer("KubernetesManifests", "/observed/application"), ""},
		{"an item of a list", CheckResultPointer("KubernetesManifests", "/applied/inventory/0/name"), ""},
		{"no index", CheckResultPointer("KubernetesManifests", "/applied/inventory/first"), `JSON Pointer "/applied/inventory/first": token "first": is not there; known there: 0`},
		{"neither of two results", CheckResultPointer("KubernetesManifests", "/delivered"), `JSON Pointer "/delivered": token "delivered": is not there; known there: applied, observed`},
		{"an artifact's value", CheckArtifactPointer(images, "/images/app/uri"), ""},
		{"an artifact's producer", CheckArtifactPointer(images, "/producer/inputHash"), ""},
		{"an artifact's schema line", CheckArtifactPointer(images, "/$schema"), `JSON Pointer "/$schema": token "$schema": is not there; known there: apiVersion, images, kind, metadata, producer`},
		{"an image's digest", CheckArtifactPointer(images, "/images/app/digest"), `JSON Pointer "/images/app/digest": token "digest": is not there; known there: uri`},
		{"another artifact", CheckArtifactPointer(GVK{ArtifactAPI, "Charts"}, ""), "artifact.gitopsctr.io/v1/Charts is no installed artifact type"},
		{"a variable", CheckSpecPointer("Terraform", "/terraform/variables/x/y"), ""},
		{"a fingerprint", CheckSpecPointer("Terraform", "/resolvedInputs/receipts/net"), ""},
		{"metadata", CheckSpecPointer("Terraform", "/metadata"), `JSON Pointer "/metadata": token "metadata": is not there; known there: inputs, resolvedInputs, source, terraform`},
		{"helm or plain", CheckSpecPointer("KubernetesManifests", "/materialize/values/a"), ""},
		{"no pointer", CheckSpecPointer("Terraform", "x"), `JSON Pointer "x": must be empty or start with "/"`},
	} {
		got := ""
		if tt.got != nil {
			got = tt.got.Error()
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}
