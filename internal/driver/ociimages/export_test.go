package ociimages

// ParseRepository returns the registry of a repository, for comparison with the recorded vectors.
func ParseRepository(text string) (registry string, ok bool) {
	r, err := parseRepository(text)
	return r.host, err == nil
}

// ECRRegion returns the region of an ECR registry, for comparison with the recorded vectors.
func ECRRegion(host string) (region string, ok bool) {
	h, ok := parseECRHost(host)
	return h.region, ok
}
