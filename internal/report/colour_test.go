package report

import "testing"

func TestColour(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name              string
		env               map[string]string
		terminal, regular bool
		want              bool
	}{
		{"terminal", nil, true, false, true},
		{"pipe", nil, false, false, false},
		{"NO_COLOR wins over FORCE_COLOR", map[string]string{"NO_COLOR": "1", "FORCE_COLOR": "1"}, true, false, false},
		{"empty NO_COLOR is unset", map[string]string{"NO_COLOR": ""}, true, false, true},
		{"FORCE_COLOR on a file", map[string]string{"FORCE_COLOR": "1"}, false, true, true},
		{"FORCE_COLOR=0 is off", map[string]string{"FORCE_COLOR": "0"}, true, false, false},
		{"file in CI", map[string]string{"CI": "true"}, false, true, false},
		{"dumb terminal", map[string]string{"TERM": "DUMB"}, true, false, false},
		{"pipe in CI", map[string]string{"CI": "true"}, false, false, true},
		{"CI says no", map[string]string{"CI": " False "}, false, false, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := Colour(func(key string) string { return tt.env[key] }, tt.terminal, tt.regular)
			if got != tt.want {
				t.Errorf("Colour = %v, want %v", got, tt.want)
			}
		})
	}
}

func TestWordRole(t *testing.T) {
	t.Parallel()
	tests := []struct {
		word, message string
		want          role
	}{
		{"RESULT", "CLEAN: 2/2 units", success},
		{"RESULT", "drift: a", warning},
		{"RESULT", "FAILED: a", failure},
		{"RESULT", "DRIFTED", label},
		{"APPLY", "SUCCEEDED: net (1 to create, 2s)", success},
		{"APPLY", "net", label},
		{"PLAN", "net", focus},
		{"UNCHANGED", "FAILED", muted},
		{"WAIT", "x", warning},
		{"CAUSE", "x", label},
	}
	for _, tt := range tests {
		if got := wordRole(tt.word, tt.message); got != tt.want {
			t.Errorf("wordRole(%q, %q) = %v, want %v", tt.word, tt.message, got, tt.want)
		}
	}
}
