package resource

// frontendShapes are those of chapter G, section 4.1.
var frontendShapes = unitShapes{
	authored: object("A frontend bundle that is published to S3 behind CloudFront.",
		specSchemaField,
		may("source", authoredSource, "Optional: files whose change makes the Unit new."),
		may("inputs", authoredFrontendInputs, "What is published, and where. A Unit without inputs waits."),
		may("pull", frontendPull, "How the bundle is pulled."),
	),
	desired: object("A frontend on S3 and CloudFront.",
		specSchemaField,
		may("source", desiredSource, "The exact source, null without one."),
		need("inputs", desiredFrontendInputs, "What is published, and where."),
		may("pull", frontendPull, "How the bundle is pulled."),
		resolvedInputsField(),
	),
	result: object("What was published.",
		need("published", object("",
			need("bundle", anyText, "The bundle, by digest."),
			need("artifactDigest", anyText, "Digest of the bundle."),
			need("runtimeConfigHash", anyText, "Hash of the runtime configuration."),
			need("url", anyText, "Where it is served.")), "What was published."),
	),
}

var (
	referenceOrText        = either(anyText, unitReference)
	authoredFrontendInputs = object("What is published, and where.",
		may("bundle", referenceOrText, "The bundle: REPOSITORY@sha256:DIGEST, usually a fromArtifact reference."),
		may("bucket", referenceOrText, "Name of the S3 bucket."),
		may("distributionId", referenceOrText, "Id of the CloudFront distribution."),
		may("url", referenceOrText, "URL at which the frontend is served; it is checked after publication."),
		may("runtimeConfig", either(object("The content of runtime-config.json.",
			need("schema", either(anyInteger, unitReference), "Version of the configuration, 1."),
			need("apiBase", referenceOrText, "Base URL of the API."),
			need("auth", either(object("How users log in.",
				need("mode", referenceOrText, "cognito"),
				need("issuer", referenceOrText, "URL of the token issuer."),
				need("clientId", referenceOrText, "Id of the client.")), unitReference), "How users log in."),
		), unitReference), "The content of runtime-config.json."),
	)
	desiredFrontendInputs = object("What is published, and where.",
		need("bundle", anyText, "The bundle, by digest."),
		need("bucket", anyText, "Name of the S3 bucket."),
		need("distributionId", anyText, "Id of the CloudFront distribution."),
		need("url", anyText, "URL at which the frontend is served."),
		need("runtimeConfig", object("The content of runtime-config.json.",
			need("schema", integer(1, 0), "Version of the configuration."),
			need("apiBase", anyText, "Base URL of the API."),
			need("auth", object("How users log in.",
				need("mode", oneOf("cognito"), "The way of login."),
				need("issuer", anyText, "URL of the token issuer."),
				need("clientId", anyText, "Id of the client.")), "How users log in."),
		), "The content of runtime-config.json."),
	)
	frontendPull = object("How the bundle is pulled.", providerField())
)
