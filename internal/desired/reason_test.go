package desired

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gitopsctr/gitopsctr/internal/resource"
)

// TestReasonsStay: a stored reason in other words stays, byte for byte, while the Unit waits for the same producer for the
// same kind of cause; else our own words replace it (specification README, decision 4).
func TestReasonsStay(t *testing.T) {
	t.Parallel()
	const net, foreign = "{fromReceipt: {unit: net, pointer: /outputs/host}}", "{fromReceipt: {unit: net-2}}"
	for _, tt := range []struct {
		name, stored, reads string
		stale               bool
		want                string
	}{
		{name: "nothing stored", reads: net, want: "receipt does not exist: net"},
		{name: "foreign words for the same cause", reads: net, stored: "Waiting for the first receipt of unit 'net'.", want: "Waiting for the first receipt of unit 'net'."},
		{name: "foreign words for a stale receipt", reads: net, stale: true, stored: `unit "net": receipt STALE (blob differs)`, want: `unit "net": receipt STALE (blob differs)`},
		{name: "another kind of cause: stale now", reads: net, stale: true, stored: "no receipt for net", want: "receipt is stale: net"},
		{name: "another kind of cause: gone now", reads: net, stored: "receipt is stale: net", want: "receipt does not exist: net"},
		{name: "another kind of cause: it was an artifact", reads: net, stored: "artifact digest of net differs", want: "receipt does not exist: net"},
		{name: "another producer", reads: net, stored: "no receipt for dns", want: "receipt does not exist: net"},
		{name: "a producer whose name is longer", reads: net, stored: "no receipt for net-2", want: "receipt does not exist: net"},
		{name: "a producer whose name is shorter", reads: foreign, stored: "no receipt for net", want: "receipt does not exist: net-2"},
		{name: "no producer: the promotion", reads: "{fromPromotion: {}}", stored: "needs an active Promotion context", want: "needs an active Promotion context"},
		{name: "no producer, but a producer was stored", reads: "{fromPromotion: {}}", stored: "receipt does not exist: net", want: "no promotion is active"},
		{name: "a producer, but the promotion was stored", reads: net, stored: "no promotion is active", want: "receipt does not exist: net"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := setting{source: plane{"net/main.tf": "", "app/main.tf": ""}, authored: plane{"net.yaml": netUnit}}
			s.desired = after(s.build(t), nil)
			if tt.stale {
				s.observed = plane{"units/net.yaml": receipt(t, s.desired, "net", netResult)}
				s.authored["net.yaml"] = replaceAll(netUnit, "[host, gone, list]", "[host]")
			}
			if tt.stored != "" {
				data, err := resource.TransitionBlocks{"app": tt.stored}.Encode()
				check(t, err)
				s.desired[resource.BlocksPath] = string(data)
			}
			s.authored["app.yaml"] = terraformUnit("app", "host: "+tt.reads)
			c := s.build(t)
			if diff := cmp.Diff(resource.TransitionBlocks{"app": tt.want}, c.Blocks); diff != "" {
				t.Errorf("blocks (-want +got):\n%s", diff)
			}
			_, changed := after(c, s.desired)[resource.BlocksPath]
			if !changed {
				t.Error("the block is not written")
			}
		})
	}
}

// TestBlocksOfNobodyAreDropped: a block whose Unit is neither given nor on the desired ref would be shown for ever.
func TestBlocksOfNobodyAreDropped(t *testing.T) {
	t.Parallel()
	s := setting{source: plane{"net/main.tf": ""}, authored: plane{"net.yaml": netUnit}}
	s.desired = after(s.build(t), nil)
	data, err := resource.TransitionBlocks{"gone": "x", "net": "no receipt for dns"}.Encode()
	check(t, err)
	s.desired[resource.BlocksPath] = string(data)
	c := s.build(t)
	if _, kept := after(c, s.desired)[resource.BlocksPath]; kept {
		t.Errorf("want no blocks, got %v", c.Blocks)
	}
}
