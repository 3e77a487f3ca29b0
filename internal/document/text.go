package document

import (
	"bytes"
	"fmt"
	"unicode/utf8"
)

// checkUTF8 reports the first byte of data that is not UTF-8.
func checkUTF8(file string, data []byte) error {
	if utf8.Valid(data) {
		return nil
	}
	for i := 0; i < len(data); {
		r, size := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && size == 1 {
			return textError(file, data, i, fmt.Sprintf("byte 0x%02X is not UTF-8", data[i]), "save the file as UTF-8")
		}
		i += size
	}
	return nil
}

// checkYAMLText reports the first byte or character that no YAML document may hold, even in a comment or string.
func checkYAMLText(file string, data []byte) error {
	if err := checkUTF8(file, data); err != nil {
		return err
	}
	for i := 0; i < len(data); {
		if c := data[i]; c >= 0x20 && c < 0x7f || c == '\n' || c == '\r' || c == '\t' {
			i++
			continue
		}
		r, size := utf8.DecodeRune(data[i:])
		if isYAMLControl(r) && (r != '\ufeff' || i > 0) {
			return textError(file, data, i, fmt.Sprintf("character %U is not allowed in YAML", r),
				`remove it, or write it as an escape in a string in double quotes`)
		}
		i += size
	}
	return nil
}

func isYAMLControl(r rune) bool {
	return r < 0x20 && r != '\n' && r != '\r' && r != '\t' || r >= 0x7f && r < 0xa0 && r != 0x85 || r == '\ufeff' || r == 0xfffe || r == 0xffff
}

// textError is an Error at the byte with the given index.
func textError(file string, data []byte, index int, message, fix string) *Error {
	before := data[:index]
	start := bytes.LastIndexByte(before, '\n') + 1
	return &Error{
		File: file, Line: bytes.Count(before, []byte("\n")) + 1, Column: utf8.RuneCount(before[start:]) + 1,
		Message: message, Fix: fix,
	}
}
