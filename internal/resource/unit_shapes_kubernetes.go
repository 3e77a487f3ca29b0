package resource

import "github.com/gitopsctr/gitopsctr/internal/document"

// kubernetesShapes are those of chapter G, section 5.1.
var kubernetesShapes = unitShapes{
	authored: object("Kubernetes manifests, plain or from a Helm chart.",
		specSchemaField,
		authoredSourceField(),
		need("materialize", kubernetesMaterialize(unitBindings), "How the manifests are made."),
		need("delivery", kubernetesDelivery, "How the manifests reach the cluster."),
	),
	desired: object("Kubernetes manifests that were rendered into the desired ref.",
		specSchemaField,
		desiredSourceField(),
		need("materialize", kubernetesMaterialize(materializedObject), "How the manifests were made."),
		need("delivery", kubernetesDelivery, "How the manifests reach the cluster."),
		desiredInputsField(),
		resolvedInputsField(),
		may("materialization", kubernetesMaterialization, "The rendered payload."),
	),
	result: union("What was delivered or observed.", "",
		variant{"applied", object("Direct delivery.",
			need("applied", object("",
				need("manifestDigest", anyText, "Digest of the applied payload."),
				need("inventory", kubernetesInventory, "The applied objects.")), "What was applied."))},
		variant{"observed", object("Delivery by Argo CD.",
			need("observed", object("",
				need("application", anyText, "Name of the Argo CD Application."),
				need("desiredRevision", anyText, "Desired commit that it had synced."),
				need("syncStatus", oneOf("Synced"), "Sync status."),
				need("healthStatus", oneOf("Healthy"), "Health status.")), "What was observed."))},
	),
}

func kubernetesMaterialize(values *shape) *shape {
	allowSecrets := with("allowSecrets", anyFlag, document.NewBool(false), "Allow Secret objects. They are then readable on the desired ref.")
	return union("How the manifests are made.", "type",
		variant{"helm", object("A Helm chart: source.path is the chart.",
			need("type", oneOf("helm"), "helm: render a chart."),
			need("releaseName", anyText, "Name of the release."),
			need("namespace", anyText, "Namespace that the chart is rendered for."),
			need("values", values, "Values of the chart."),
			allowSecrets)},
		variant{"plain", object("Manifest files, copied as they are.",
			need("type", oneOf("plain"), "plain: copy manifest files."),
			may("paths", anyTexts, "Globs relative to source.path; null: all .yaml and .yml files."),
			allowSecrets)},
	)
}

var (
	kubernetesDelivery = union("How the manifests reach the cluster.", "mode",
		variant{"direct", object("Applied by gitopsctr.",
			need("mode", oneOf("direct"), "direct: server-side apply."),
			need("kubeContext", anyText, "Context of the kubeconfig."),
			with("prune", anyFlag, document.NewBool(false), "Delete objects that are gone from the manifests."),
			may("wait", list(object("A condition to wait for.",
				need("resource", anyText, "TYPE/NAME, for example deployment/web."),
				need("namespace", anyText, "Namespace of the object."),
				need("condition", anyText, "Condition, for example Available, or TYPE=VALUE."),
				need("timeoutSeconds", anyInteger, "How long to wait."))), "Conditions to wait for after apply, in order."))},
		variant{"external", object("Delivered by another controller from the desired ref.",
			need("mode", oneOf("external"), "external: another controller delivers."),
			may("observer", argoObserver, "How the delivery is observed; null: not at all, the Unit ends as MATERIALIZED."))},
	)
	argoObserver = union("An observer of the delivery.", "access",
		variant{"api", object("Argo CD's own API.",
			append(argoFields("api", "api: the Argo CD server."),
				need("argocdContext", anyText, "Context of the argocd configuration."), argoTimeout)...)},
		variant{"kubernetes", object("The Application object in the cluster.",
			append(argoFields("kubernetes", "kubernetes: the Application object."),
				need("kubeContext", anyText, "Context of the kubeconfig."), argoTimeout)...)},
	)
	argoTimeout         = with("timeoutSeconds", anyInteger, document.NewInt(600), "How long to wait until it is synced and healthy.")
	kubernetesInventory = list(object("A Kubernetes object.",
		need("apiVersion", anyText, "API version."),
		need("kind", anyText, "Kind."),
		need("namespace", anyText, "Namespace; empty when the manifest has none."),
		need("name", anyText, "Name.")))
	kubernetesMaterialization = object("The rendered payload.",
		need("digest", text(sha256Digest), "Digest of the payload's files."),
		need("mediaType", anyText, "Media type of the payload."),
		need("metadata", object("",
			need("renderer", anyText, "What rendered it: helm or plain."),
			need("inventory", kubernetesInventory, "The objects in it, sorted."),
			may("version", anyText, "Version of the renderer."),
			may("releaseName", anyText, "Not used."),
			may("namespace", anyText, "Not used.")), "How it was rendered."))
)

func argoFields(access, doc string) []field {
	return []field{
		need("type", oneOf("argocd"), "argocd: an Argo CD Application."),
		need("access", oneOf(access), doc),
		need("application", anyText, "Name of the Application."),
		need("applicationNamespace", anyText, "Namespace of the Application."),
	}
}
