package driver_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gitopsctr/gitopsctr/internal/driver"
)

func TestEnvironmentKeepsTheUsersAndDropsTheRunners(t *testing.T) {
	t.Parallel()
	parent := []string{
		"PATH=/bin", "ACTIONS_RUNTIME_TOKEN=x", "ACTIONS_ID_TOKEN_REQUEST_TOKEN=x", "INPUT_DRY-RUN=true", "INPUT_TOKEN=x",
		"GITHUB_ENV=/f", "GITHUB_PATH=/f", "GITHUB_OUTPUT=/f", "GITHUB_STATE=/f", "GITHUB_STEP_SUMMARY=/f", "GITHUB_TOKEN=x",
		"GITOPSCTR_TOKEN=x", "GITHUB_REPOSITORY=o/r", "GITHUB_ENVIRONMENT=e", "TF_WORKSPACE=blue", "TF_VAR_INPUT_x=1", "TF_CLI_ARGS_plan=-parallelism=1",
		"AWS_SECRET_ACCESS_KEY=x", "STATE_BUCKET=b", "HTTPS_PROXY=http://p", "EMPTY=", "=odd", "odd",
	}
	want := []string{
		"PATH=/bin", "GITHUB_REPOSITORY=o/r", "GITHUB_ENVIRONMENT=e", "TF_WORKSPACE=blue", "TF_VAR_INPUT_x=1", "TF_CLI_ARGS_plan=-parallelism=1",
		"AWS_SECRET_ACCESS_KEY=x", "STATE_BUCKET=b", "HTTPS_PROXY=http://p", "EMPTY=",
	}
	if diff := cmp.Diff(want, driver.Environment(parent)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"GITHUB_TOKEN=x"}, driver.Environment([]string{"GITHUB_TOKEN=x", "GITHUB_ENV=/f"}, "GITHUB_TOKEN")); diff != "" {
		t.Errorf("allowed (-want +got):\n%s", diff)
	}
}

func TestSecretsFromEnv(t *testing.T) {
	t.Parallel()
	got := driver.SecretsFromEnv([]string{
		"GITHUB_TOKEN=ghs_abcdef", "DB_PASSWORD=hunter22", "TF_VAR_db_password=tfvarpass", "AWS_SECRET_ACCESS_KEY=aws+secret",
		"API_KEY=apikey1", "apikey=apikey2", "INPUT_MY-KEY=inputkey", "MYSQL_PWD=mysqlpwd",
		"DATABASE_URL=postgres://u:urlpass@db/x", "HTTPS_PROXY=http://proxy:3128",
		// no secrets: too short, places, lookalikes
		"MY_TOKEN=short", "AWS_WEB_IDENTITY_TOKEN_FILE=/var/run/token", "TOKEN_URL=https://example.test/token", "PWD=/home/somebody", "OLDPWD=/home/somebody",
		"KEYBOARD=qwertz", "AUTHOR=somebody", "PATH=/usr/bin:/bin", "odd",
	})
	want := []string{"ghs_abcdef", "hunter22", "tfvarpass", "aws+secret", "apikey1", "apikey2", "inputkey", "mysqlpwd", "urlpass"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestMasker(t *testing.T) {
	t.Parallel()
	m := driver.NewMasker("hunter22", "hunter22-and-more", "{\n  \"key\": \"line-two\"\n}", "short", "quo\"ted\\value")
	for text, want := range map[string]string{
		"password hunter22!":            "password ***!",
		"hunter22-and-more and hunter2": "*** and hunter2",
		"hunter22hunter22":              "******",
		`  "key": "line-two"`:           "  ***",
		"{ short }":                     "{ short }",
		`say "quo\"ted\\value"`:         `say "***"`,
		"basic aHVudGVyMjI=":            "basic ***",
		"nothing":                       "nothing",
	} {
		if got := m.String(text); got != want {
			t.Errorf("%q: want %q, got %q", text, want, got)
		}
	}
	var none *driver.Masker
	if got := none.String("hunter22"); got != "hunter22" {
		t.Errorf("nil Masker: got %q", got)
	}
	if m := driver.NewMasker("", "x", " \n "); m != nil {
		t.Errorf("want no Masker for no secrets, got %v", m)
	}
	log := &lines{}
	if n, err := m.Writer(log).Write([]byte("a hunter22\n")); n != 11 || err != nil {
		t.Errorf("Write: got %d, %v", n, err)
	}
	if diff := cmp.Diff([]string{"a ***\n"}, log.got); diff != "" {
		t.Errorf("writer (-want +got):\n%s", diff)
	}
}
