package resource

import (
	"bytes"
	"testing"

	"github.com/gitopsctr/gitopsctr/internal/document"
)

// FuzzDecodeUnit: no input makes the decoder panic, and what it takes is written and read again to the same bytes.
func FuzzDecodeUnit(f *testing.F) {
	for _, path := range []string{
		"a-documents/unit-desired.yaml", "g-drivers/run1/desired/units/helm.yaml", "g-drivers/run1/desired/units/argo.yaml",
		"g-drivers/run1/desired/units/site.yaml", "g-drivers/run1/desired/units/images.yaml", "g-drivers/run1/desired/units/bundle.yaml",
	} {
		f.Add(readVector(f, path))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		u, err := DecodeUnit("u.yaml", data)
		if err != nil {
			return
		}
		stable(t, u, func(file string, data []byte) (writer, error) { return DecodeUnit(file, data) })
	})
}

func FuzzDecodeReceipt(f *testing.F) {
	for _, path := range []string{
		"d-reconcile/receipt.yaml", "g-drivers/run1/observed/units/helm.yaml", "g-drivers/run1/observed/units/argo.yaml",
		"g-drivers/run1/observed/units/site.yaml", "g-drivers/run1/observed/units/images.yaml",
	} {
		f.Add(readVector(f, path))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := DecodeReceipt("r.yaml", data)
		if err != nil {
			return
		}
		stable(t, r, func(file string, data []byte) (writer, error) { return DecodeReceipt(file, data) })
	})
}

func FuzzDecodeAuthoredUnit(f *testing.F) {
	for _, text := range samples {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		u, err := DecodeAuthoredUnit("u.yaml", data)
		if err != nil {
			return
		}
		if _, err := u.Normal(nil); err != nil {
			t.Errorf("no normal form: %v", err)
		}
		for _, template := range u.Templates() {
			if _, err := u.Spec.At(template.Pointer); err != nil {
				t.Errorf("template is not at its place: %v", err)
			}
		}
	})
}

// stable writes, reads and writes a document in both formats.
func stable(t *testing.T, w writer, decode func(string, []byte) (writer, error)) {
	t.Helper()
	for _, format := range []document.Format{document.YAML, document.JSON} {
		first, err := w.Encode(format)
		if err != nil {
			t.Fatalf("not written: %v", err)
		}
		again, err := decode("again"+format.Suffix(), first)
		if err != nil {
			t.Fatalf("not read again: %v\n%s", err, first)
		}
		second, err := again.Encode(format)
		if err != nil {
			t.Fatalf("not written again: %v", err)
		}
		if !bytes.Equal(first, second) {
			t.Errorf("written differently:\n%s\n%s", first, second)
		}
	}
}
