package action

import (
	"encoding/json"
	"strings"
)

// maxShards is how many jobs a matrix may have.
const maxShards = 256

// A Shard is a group of Units that shares no dependency with any other group.
type Shard struct{ Units []string }

// matrixOf is the matrix of jobs, one a shard, on one line: a job converges the Units of its row.
func matrixOf(shards []Shard) string {
	type row struct {
		Shard int    `json:"shard"`
		Of    int    `json:"of"`
		Units string `json:"units"`
	}
	rows := make([]row, len(shards))
	for i, s := range shards {
		rows[i] = row{i + 1, len(shards), strings.Join(s.Units, ",")}
	}
	text, err := json.Marshal(map[string][]row{"include": rows})
	if err != nil {
		return `{"include":[]}` // numbers and strings always have a JSON form
	}
	return string(text)
}
