package document

import (
	"math"
	"math/big"
	"strconv"
	"strings"
)

// yamlBool reads one of the words that resolve to a boolean, in any case.
func yamlBool(s string) (value, ok bool) {
	switch strings.ToLower(s) {
	case "yes", "true", "on":
		return true, true
	case "no", "false", "off":
		return false, true
	}
	return false, false
}

// yamlInt returns the decimal digits of an integer scalar; it fails for text that is none, or has no digits ("0x_").
func yamlInt(s string) (string, bool) {
	if !isYAMLInt(s) {
		return "", false
	}
	s = strings.ReplaceAll(s, "_", "")
	sign, digits := "", trimSign(s)
	if s[0] == '-' {
		sign = "-"
	}
	if digits[0] != '0' && span(digits, isDigit) == len(digits) {
		return sign + digits, true
	}
	value, ok := new(big.Int), true
	switch {
	case strings.HasPrefix(digits, "0b"):
		value, ok = value.SetString(digits[2:], 2)
	case strings.HasPrefix(digits, "0x"):
		value, ok = value.SetString(digits[2:], 16)
	case digits[0] == '0':
		value, ok = value.SetString(digits, 8)
	case strings.Contains(digits, ":"):
		for part := range strings.SplitSeq(digits, ":") {
			next, isNumber := new(big.Int).SetString(part, 10)
			if !isNumber {
				return "", false
			}
			value.Add(value.Mul(value, big.NewInt(60)), next)
		}
	}
	if !ok || value.Sign() == 0 {
		return "0", ok
	}
	return sign + value.String(), true
}

// yamlFloat reads a float scalar, or after a !!float tag any decimal number. The result is not finite when the text says
// so or when the number is too large.
func yamlFloat(s string) (float64, bool) {
	s = strings.ReplaceAll(s, "_", "")
	digits := strings.ToLower(trimSign(s))
	sign := 1.0
	if strings.HasPrefix(s, "-") {
		sign = -1
	}
	switch digits {
	case ".inf":
		return math.Inf(int(sign)), true
	case ".nan":
		return math.NaN(), true
	}
	parts := strings.Split(digits, ":")
	total, base := 0.0, 1.0
	for i := len(parts) - 1; i >= 0; i-- {
		value, ok := decimalFloat(parts[i])
		if !ok {
			return 0, false
		}
		if len(parts) == 1 {
			return sign * value, true
		}
		total += value * base
		base *= 60
	}
	return sign * total, true
}

func decimalFloat(s string) (float64, bool) {
	if strings.Trim(s, "0123456789.e+-") != "" {
		return 0, false
	}
	value, err := strconv.ParseFloat(s, 64)
	if err != nil && !math.IsInf(value, 0) {
		return 0, false
	}
	return value, true
}

// yamlSurprise explains a plain scalar that readers of YAML 1.1 and of YAML 1.2 take for different things; "" when there
// is nothing to explain.
func yamlSurprise(s string, tag scalarTag) string {
	switch tag {
	case tagBool:
		if c := s[0] | 0x20; c != 't' && c != 'f' {
			value, _ := yamlBool(s)
			return "plain " + s + " is read as the boolean " + strconv.FormatBool(value)
		}
	case tagInt:
		digits := trimSign(s)
		switch {
		case strings.Contains(s, ":"):
			return "plain " + s + " is read as a base 60 number"
		case len(digits) > 1 && digits[0] == '0' && digits[1] != 'x' && digits[1] != 'b':
			return "plain " + s + " is read as an octal number"
		}
	case tagFloat:
		if strings.Contains(s, ":") {
			return "plain " + s + " is read as a base 60 number"
		}
	case tagString:
		if isUnsignedExponent(s) {
			return "plain " + s + " is read as a string, since the exponent of a number needs a sign and the number a point"
		}
	}
	return ""
}

// isUnsignedExponent matches numbers such as 1e5 and 1.5e3, which only YAML 1.2 reads as numbers.
func isUnsignedExponent(s string) bool {
	digits := trimSign(s)
	if digits == "" || !isDigit(digits[0]) || !strings.ContainsAny(digits, "eE") {
		return false
	}
	mantissa, exponent, found := strings.Cut(strings.ToLower(digits), "e")
	if !found {
		return false
	}
	exponent = trimSign(exponent)
	return exponent != "" && span(exponent, isDigit) == len(exponent) && strings.Trim(mantissa, "0123456789.") == "" &&
		strings.Count(mantissa, ".") <= 1
}
