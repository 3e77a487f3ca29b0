package ociimages

import (
	"context"
	"encoding/base64"
	"fmt"
	"regexp"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/ecr"

	"github.com/gitopsctr/gitopsctr/internal/driver"
)

// An ecrHost is what the name of an ECR registry says (chapter G 3).
type ecrHost struct {
	region string
	fips   bool
}

var ecrPattern = regexp.MustCompile(`^[0-9]{12}\.dkr\.ecr(-fips)?\.([a-z]{2}(?:-gov)?-[a-z]+-[0-9])\.amazonaws\.com(?:\.cn)?$`)

func parseECRHost(host string) (ecrHost, bool) {
	m := ecrPattern.FindStringSubmatch(host)
	if m == nil {
		return ecrHost{}, false
	}
	return ecrHost{region: m[2], fips: m[1] != ""}, true
}

func defaultAWS(ctx context.Context, region string) (aws.Config, error) {
	return config.LoadDefaultConfig(ctx, config.WithRegion(region))
}

// ecrLogin asks AWS for a password of the registry. It is good for hours and stays in memory.
func (d *Driver) ecrLogin(ctx context.Context, host string) (login, error) {
	h, _ := parseECRHost(host) // checked with the spec
	fail := func(detail string, err error) (login, error) {
		return login{}, credentialError(host, detail,
			"give the job AWS credentials that may call ecr:GetAuthorizationToken, for example with aws-actions/configure-aws-credentials", err)
	}
	c, err := d.options.AWS(ctx, h.region)
	if err != nil {
		return fail(err.Error(), err)
	}
	client := ecr.NewFromConfig(c, func(o *ecr.Options) {
		if h.fips {
			o.EndpointOptions.UseFIPSEndpoint = aws.FIPSEndpointStateEnabled
		}
	})
	out, err := client.GetAuthorizationToken(ctx, &ecr.GetAuthorizationTokenInput{})
	if err != nil {
		return fail(err.Error(), err)
	}
	if len(out.AuthorizationData) == 0 {
		return fail("AWS returned no authorization", nil)
	}
	token, err := base64.StdEncoding.DecodeString(aws.ToString(out.AuthorizationData[0].AuthorizationToken))
	if err != nil {
		return fail("AWS returned an authorization that is no base64", nil)
	}
	username, password, _ := strings.Cut(string(token), ":")
	if password == "" {
		return fail("AWS returned an empty password", nil)
	}
	return basicLogin(username, password, fmt.Sprintf("aws-ecr via %s (region %s)", awsSource(d.options.Env), h.region)), nil
}

// awsSource names the credentials that the SDK's default chain takes first.
func awsSource(env []string) string {
	if profile, _ := driver.Lookup(env, "AWS_PROFILE"); profile != "" {
		return fmt.Sprintf("AWS_PROFILE %q", profile)
	}
	for _, name := range []string{"AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_ACCESS_KEY_ID"} {
		if value, _ := driver.Lookup(env, name); value != "" {
			return name
		}
	}
	return "the default chain"
}
