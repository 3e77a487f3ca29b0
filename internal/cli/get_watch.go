package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/gitopsctr/gitopsctr/internal/engine"
	"github.com/gitopsctr/gitopsctr/internal/inspect"
)

// watch asks again and again, and prints the answer whenever it is another one, with an empty line between. It ends when the
// person interrupts it, which is no failure. Each round reads the working tree and the refs anew; a round that fails says so
// once and does not end the watch.
func (o *globalOptions) watch(c *cobra.Command, q inspect.Query, interval time.Duration) error {
	if interval <= 0 {
		return usageError(c, fmt.Sprintf("--watch must be more than 0, not %s", interval))
	}
	var last, lastFault string
	for {
		text, err := o.answer(c, q)
		if c.Context().Err() != nil {
			return nil
		}
		if err != nil && err.Error() != lastFault {
			failed(o.io, err)
		}
		lastFault = ""
		if err != nil {
			lastFault = err.Error()
		}
		if text != "" && text != last {
			separator := ""
			if last != "" {
				separator = "\n"
			}
			if _, err := fmt.Fprint(o.io.Out, separator+text); err != nil {
				return err
			}
			last = text
		}
		select {
		case <-c.Context().Done():
			return nil
		case <-time.After(interval):
		}
	}
}

// answer is what get would print, and the faults that it would tell.
func (o *globalOptions) answer(c *cobra.Command, q inspect.Query) (string, error) {
	var b bytes.Buffer
	err := o.withEngine(c, func(ctx context.Context, e *engine.Engine) error {
		list, err := e.Get(ctx, q)
		if err != nil {
			return err
		}
		q.SortRows(list)
		return errors.Join(append(list.Faults, q.Write(&b, list))...)
	})
	return b.String(), err
}
