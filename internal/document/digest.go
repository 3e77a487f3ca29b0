package document

import (
	"crypto/sha1" // Git names its objects by SHA-1; it protects nothing here.
	"crypto/sha256"
	"encoding/hex"
	"strconv"
)

// SHA256Hex returns the SHA-256 of data as 64 lower-case hexadecimal digits.
func SHA256Hex(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// Digest returns "sha256:" and the hexadecimal SHA-256 of n's canonical JSON (chapter A 8).
func Digest(n *Node) string { return "sha256:" + SHA256Hex(CanonicalJSON(n)) }

// BlobID returns the Git object id (40 hexadecimal digits) that a file with these bytes has.
func BlobID(data []byte) string {
	h := sha1.New()
	h.Write(append(strconv.AppendInt([]byte("blob "), int64(len(data)), 10), 0))
	h.Write(data)
	return hex.EncodeToString(h.Sum(nil))
}

// UID returns the identity that a resource of the given provenance gets: "d1-" and 32 hexadecimal digits (chapter A 8,
// whose table says which provenance string each kind of resource has).
func UID(provenance string) string {
	return "d1-" + SHA256Hex([]byte("gitopsctr/desired-uid/v1\x00" + provenance))[:32]
}
