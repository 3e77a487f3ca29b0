package document

import (
	"math"
	"strconv"
)

func isFinite(f float64) bool { return !math.IsNaN(f) && !math.IsInf(f, 0) }

// appendFloat appends the shortest digits that read back as f, in the layout of chapter A 3: exponent form if and only if
// the decimal exponent is below -4 or at least 16, otherwise always with a point. A finite f only.
func appendFloat(b []byte, f float64) []byte {
	if abs := math.Abs(f); f != 0 && (abs < 1e-4 || abs >= 1e16) {
		return strconv.AppendFloat(b, f, 'e', -1, 64)
	}
	start := len(b)
	b = strconv.AppendFloat(b, f, 'f', -1, 64)
	for _, c := range b[start:] {
		if c == '.' {
			return b
		}
	}
	return append(b, ".0"...)
}

// appendJSONFloat appends f as JSON. What is not finite cannot be decoded, so it occurs only in trees built by a program;
// it is written with the names that the reference uses.
func appendJSONFloat(b []byte, f float64) []byte {
	switch {
	case math.IsNaN(f):
		return append(b, "NaN"...)
	case math.IsInf(f, 1):
		return append(b, "Infinity"...)
	case math.IsInf(f, -1):
		return append(b, "-Infinity"...)
	}
	return appendFloat(b, f)
}

// appendYAMLFloat appends f so that YAML 1.1 reads it as a float: a mantissa without point gets ".0" before its exponent.
func appendYAMLFloat(b []byte, f float64) []byte {
	switch {
	case math.IsNaN(f):
		return append(b, ".nan"...)
	case math.IsInf(f, 1):
		return append(b, ".inf"...)
	case math.IsInf(f, -1):
		return append(b, "-.inf"...)
	}
	start := len(b)
	b = appendFloat(b, f)
	for i := start; i < len(b); i++ {
		switch b[i] {
		case '.':
			return b
		case 'e':
			exponent := string(b[i:])
			return append(append(b[:i], ".0"...), exponent...)
		}
	}
	return b
}
