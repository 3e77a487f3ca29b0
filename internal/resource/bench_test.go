package resource

import (
	"testing"

	"github.com/gitopsctr/gitopsctr/internal/document"
)

func BenchmarkDecodeUnit(b *testing.B) {
	data := readVector(b, "a-documents/unit-desired.yaml")
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := DecodeUnit("units/web.yaml", data); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkUnitFromNode leaves out the parsing of YAML.
func BenchmarkUnitFromNode(b *testing.B) {
	n, err := document.DecodeLenient("units/web.yaml", readVector(b, "a-documents/unit-desired.yaml"))
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := UnitFromNode("units/web.yaml", n); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDecodeReceipt(b *testing.B) {
	data := readVector(b, "d-reconcile/receipt.yaml")
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := DecodeReceipt("units/core/db.yaml", data); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkReceiptFromNode(b *testing.B) {
	n, err := document.DecodeLenient("units/core/db.yaml", readVector(b, "d-reconcile/receipt.yaml"))
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := ReceiptFromNode("units/core/db.yaml", n); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkEncodeUnit(b *testing.B) {
	u, err := DecodeUnit("units/web.yaml", readVector(b, "a-documents/unit-desired.yaml"))
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := u.Encode(document.YAML); err != nil {
			b.Fatal(err)
		}
	}
}
