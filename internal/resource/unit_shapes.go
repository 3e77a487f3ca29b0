package resource

// unitShapes are the shapes of one Unit kind: its authored and desired spec, and the result in its Receipts.
type unitShapes struct{ authored, desired, result *shape }

func shapesOf(kind string) unitShapes {
	switch kind {
	case "Terraform":
		return terraformShapes
	case "OciImages":
		return ociImagesShapes
	case "ViteOciBundle":
		return viteOciBundleShapes
	case "FrontendS3Cloudfront":
		return frontendShapes
	case "KubernetesManifests":
		return kubernetesShapes
	}
	return unitShapes{authored: noMembers, desired: noMembers, result: noMembers}
}

// The parts that all Unit kinds share (chapter A, section 7; chapter G, section 1.3).
var (
	authoredSource = named("source", object("Where the files of the Unit are, and which of them are its inputs.",
		need("path", text(sourcePath), "Directory of the Unit, relative to the repository root. It is kept as written: ./net and net are different inputs."),
		may("revision", text(objectID), "Commit of the source. Only in StackTemplates."),
		may("inputs", list(text(sourcePath)), "Globs and paths, relative to path, of the files whose content decides whether the Unit is new. Without it all files below path count; an empty list means none."),
	))
	desiredSource = named("source", object("The exact source of the Unit.",
		need("path", text(sourcePath), "Directory of the Unit, as authored."),
		need("revision", text(objectID), "Commit that the source is taken from."),
		may("driverVersion", anyInteger, "Version of the driver's behaviour that entered the input hash."),
		may("inputHash", anyText, "Hash of the authored spec and the input files."),
		may("inputs", anyTexts, "Inputs, as authored."),
	))
	resolvedInputsShape = named("resolvedInputs", object("Fingerprints of the documents that references were resolved from.",
		may("promotions", table("", nil, anyText), "Blob ids of the promoted Units, by UNIT#POINTER."),
		may("receipts", table("", nil, anyText), "Blob ids of Receipts, by Unit."),
		may("artifacts", table("", nil, anyText), "Digests of artifacts, by UNIT/NAME."),
		may("importedArtifacts", table("", nil, anyText), "Digests of artifacts that a Stack imported, by UNIT/NAME."),
		may("importedArtifactEvidence", table("", nil, anyObject), "Evidence of imported artifacts, by UNIT/NAME."),
	))
	// materializedObject is a mapping of a desired document, where references have become values.
	materializedObject = named("resolved", &shape{kind: resolvedShape, doc: "A mapping in which all references have become values."})
	credentialProvider = named("credentialProvider", object("How registry credentials are found.",
		need("type", oneOf("aws-ecr"), "aws-ecr: a login token of Amazon ECR, from the ambient AWS credentials.")))
)

// specSchemaField takes a "$schema" inside spec, as the reference's reader does; it is never written.
var specSchemaField = field{name: schemaKey, shape: anyText, presence: dropped}

func authoredSourceField() field {
	return need("source", authoredSource, "Where the files of the Unit are.")
}

func desiredSourceField() field {
	return need("source", desiredSource, "The exact source of the Unit.")
}

func desiredInputsField() field {
	return may("inputs", materializedObject, "Resolved inputs.")
}

func resolvedInputsField() field {
	return may("resolvedInputs", resolvedInputsShape, "Fingerprints of what references were resolved from; null without any.")
}

func providerField() field {
	return may("credentialProvider", credentialProvider, "How registry credentials are found; null: those that are already there.")
}
