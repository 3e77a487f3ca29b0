package source

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"sync"
)

// An InputFile is one entry of the input hash (chapter B, 3.3 step 1).
type InputFile struct {
	// Path is relative to source.path when the Unit has inputs, else to the root of the repository.
	Path string
	// Mode is "100644", "100755" or "120000".
	Mode string
	// SHA256 is the lower-case hex digest of the content, without prefix; of a symbolic link, of its text.
	SHA256 string
}

// A Hasher hashes the content of files. It remembers blobs, so that Units that share files hash each of them once. The
// zero value is ready; it may be used concurrently.
type Hasher struct {
	mu    sync.Mutex
	blobs map[string]*blobDigest
}

type blobDigest struct {
	mu     sync.Mutex // held while the blob is read, so that others wait for the result
	digest string     // "" until known
}

// Hash returns the entries of the input hash for what Select chose, in the same order, which is that of the input hash.
func (h *Hasher) Hash(ctx context.Context, x *Index, inputs []Input) ([]InputFile, error) {
	files := make([]InputFile, 0, len(inputs))
	for _, in := range inputs {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		digest, err := h.digest(x.tree, in.File)
		if err != nil {
			return nil, fmt.Errorf("hash %s: %w", in.File.Path, err)
		}
		files = append(files, InputFile{Path: in.Path, Mode: hashMode(in.File.Mode), SHA256: digest})
	}
	return files, nil
}

func (h *Hasher) digest(t Tree, f File) (string, error) {
	if f.Blob == "" {
		return readDigest(t, f.Path)
	}
	blob := h.blob(f.Blob)
	blob.mu.Lock()
	defer blob.mu.Unlock()
	if blob.digest != "" {
		return blob.digest, nil
	}
	digest, err := readDigest(t, f.Path)
	if err == nil {
		blob.digest = digest
	}
	return digest, err
}

func (h *Hasher) blob(id string) *blobDigest {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.blobs == nil {
		h.blobs = map[string]*blobDigest{}
	}
	if h.blobs[id] == nil {
		h.blobs[id] = &blobDigest{}
	}
	return h.blobs[id]
}

func readDigest(t Tree, path string) (string, error) {
	data, err := t.ReadFile(path)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:]), nil
}

// hashMode writes a mode as the input hash has it: any execute bit counts.
func hashMode(mode uint32) string {
	switch {
	case mode == ModeSymlink:
		return "120000"
	case mode&0o111 != 0:
		return "100755"
	}
	return "100644"
}
