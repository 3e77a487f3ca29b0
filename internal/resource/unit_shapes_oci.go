package resource

// ociImagesShapes are those of chapter G, section 3.1; viteOciBundleShapes of section 3.2.
var (
	ociImagesShapes = unitShapes{
		authored: object("Container images that are built from a Dockerfile and pushed to registries.",
			specSchemaField,
			authoredSourceField(),
			may("build", imageBuild, "How the image is built."),
			may("publish", imagePublish, "Where the image goes."),
			may("environment", anyText, "Kept for old documents; it only enters the input hash."),
		),
		desired: object("Container images.",
			specSchemaField,
			desiredSourceField(),
			may("build", imageBuild, "How the image is built."),
			may("publish", imagePublish, "Where the image goes."),
			desiredInputsField(),
			resolvedInputsField(),
		),
		result: noMembers,
	}
	viteOciBundleShapes = unitShapes{
		authored: object("A Vite frontend that is built once and pushed to a registry as a bundle.",
			specSchemaField,
			authoredSourceField(),
			may("build", bundleBuild, "How the bundle is built."),
			may("publish", bundlePublish, "Where the bundle goes."),
		),
		desired: object("A Vite frontend bundle.",
			specSchemaField,
			desiredSourceField(),
			may("build", bundleBuild, "How the bundle is built."),
			may("publish", bundlePublish, "Where the bundle goes."),
			desiredInputsField(),
			resolvedInputsField(),
		),
		result: noMembers,
	}
)

var (
	imageBuild = object("How the image is built.",
		need("dockerfile", anyText, "Path of the Dockerfile, relative to the repository root, which is also the build context."),
		need("platform", anyText, "Platform of the image, for example linux/amd64."))
	imagePublish = object("Where the image goes.",
		need("targets", table("Targets by name.", nil, union("A place that takes the image.", "type",
			variant{"registry", object("A registry.",
				need("type", oneOf("registry"), "registry: push to a container registry."),
				need("repository", anyText, "REGISTRY/PATH, without tag or digest."))},
			variant{"kind", object("A kind cluster.",
				need("type", oneOf("kind"), "kind: load into a local kind cluster."),
				need("cluster", anyText, "Name of the cluster."))},
			variant{"minikube", object("A minikube profile.",
				need("type", oneOf("minikube"), "minikube: load into a local minikube."),
				need("profile", anyText, "Name of the profile."))},
		)), "Targets by name; the artifact lists one image for each."),
		providerField())
	bundleBuild = object("How the bundle is built.",
		need("nodeVersion", anyText, "Major version of Node.js, in quotes: \"24\"."))
	bundlePublish = object("Where the bundle goes.",
		need("repository", anyText, "REGISTRY/PATH, without tag or digest."),
		providerField())
)
