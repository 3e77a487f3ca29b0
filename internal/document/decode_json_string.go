package document

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// str reads a string; without escapes it is a part of the input.
func (d *jsonDecoder) str() (string, error) {
	d.pos++
	start := d.pos
	var text []byte
	for d.pos < len(d.data) {
		switch c := d.data[d.pos]; {
		case c == '"':
			run := d.data[start:d.pos]
			d.pos++
			if text == nil {
				return run, nil
			}
			return string(append(text, run...)), nil
		case c == '\\':
			text = append(text, d.data[start:d.pos]...)
			r, err := d.escape()
			if err != nil {
				return "", err
			}
			text = utf8.AppendRune(text, r)
			start = d.pos
		case c < 0x20:
			return "", d.fail(fmt.Sprintf("control character %U in a string", c), `write it as an escape such as \n or \u0001`)
		default:
			d.pos++
		}
	}
	return "", d.unexpected(`the closing "`)
}

// escape reads one escape sequence, which may be a surrogate pair.
func (d *jsonDecoder) escape() (rune, error) {
	d.pos++
	c := d.peek()
	if i := strings.IndexByte(`"\/bfnrt`, c); i >= 0 && c != 0 {
		d.pos++
		return rune("\"\\/\b\f\n\r\t"[i]), nil
	}
	if c != 'u' {
		return 0, d.unexpected(`an escape such as \n`)
	}
	r, err := d.unit()
	if err != nil || !utf16.IsSurrogate(r) {
		return r, err
	}
	if strings.HasPrefix(d.data[d.pos:], `\u`) {
		d.pos++
		low, err := d.unit()
		if err != nil {
			return 0, err
		}
		if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
			return pair, nil
		}
	}
	return 0, d.fail("half a surrogate pair is no character", "")
}

// unit reads uXXXX.
func (d *jsonDecoder) unit() (rune, error) {
	d.pos++
	digits := d.data[d.pos:min(d.pos+4, len(d.data))]
	if len(digits) < 4 || strings.Trim(digits, "0123456789abcdefABCDEF") != "" {
		return 0, d.unexpected("four hexadecimal digits")
	}
	value, err := strconv.ParseUint(digits, 16, 32)
	if err != nil {
		return 0, d.unexpected("four hexadecimal digits")
	}
	d.pos += 4
	return rune(value), nil
}
