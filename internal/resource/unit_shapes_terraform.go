package resource

import "github.com/gitopsctr/gitopsctr/internal/document"

// terraformShapes are those of chapter G, section 2.1.
var terraformShapes = unitShapes{
	authored: object("A Terraform or OpenTofu root module.",
		specSchemaField,
		authoredSourceField(),
		may("terraform", terraformSettings(unitBindings), "How terraform runs."),
		may("inputs", unitBindings, "Further references that the Unit depends on. They are recorded, not passed to terraform."),
	),
	desired: object("A Terraform or OpenTofu root module with resolved variables.",
		specSchemaField,
		desiredSourceField(),
		may("terraform", terraformSettings(materializedObject), "How terraform runs."),
		desiredInputsField(),
		resolvedInputsField(),
	),
	result: object("What the apply left.",
		need("applied", object("",
			need("sourceRevision", anyText, "Commit of the applied source."),
			may("path", anyText, "Directory of the applied module.")), "What was applied."),
		need("outputs", anyObject, "The observed outputs."),
	),
}

func terraformSettings(variables *shape) *shape {
	return object("How terraform runs.",
		may("backend", table("Backend settings; each becomes one -backend-config=NAME=VALUE.", nil, anyScalar), "Settings of the state backend, passed at init."),
		may("variables", variables, "Values of the input variables, passed in a file."),
		may("observeOutputs", anyTexts, "Names of the outputs to record in the Receipt, where other Units can read them."),
		may("checks", list(object("A check that runs after apply.",
			need("type", oneOf("http"), "http: a GET request that must succeed."),
			need("urlOutput", anyText, "The observed output that holds the URL."),
			with("path", anyText, document.NewString(""), "Text to append to the URL."))), "Checks that must pass after apply."),
	)
}
