import type { Accepted } from "./summary.ts";

/**
 * How the fake server differs from kube-apiserver and may stay so: a piece of the signature that `deno task twin`
 * prints, and the reason.
 */
export const ACCEPTED: readonly Accepted[] = [
  {
    signature: "deprecated.daemonset.template.generation",
    isDecided: true,
    reason:
      "kube-apiserver counts the templates of a DaemonSet in an annotation, which is deprecated. The fake does not",
  },
  {
    signature: "object metadata.annotations: object | nothing",
    isDecided: true,
    kind: "DaemonSet",
    reason: "The annotation of the line before, if there is no other one",
  },
  {
    signature: "spec.ipFamil",
    isDecided: true,
    reason:
      "kube-apiserver fills in the address families of Services. The fake does not, as controllers rarely read them",
  },
  {
    signature: "answer: 599",
    reason:
      "kube-apiserver panics and breaks the connection off if a strategic merge patch has `$setElementOrder` for a list of objects without a merge key, such as `subjects`: it takes the objects for keys of a map",
  },
  {
    signature: "f:rules",
    reason:
      "Rules of roles are written without `omitempty`. An update compares `[]` with the `null` that protobuf storage returns, because it has no empty lists, finds a change, and moves the owner. The fake reads both as null",
  },
  {
    signature: "<nil> Invalid",
    reason: "A number beyond the format of a custom field has a second cause, for the object as a whole",
  },
  {
    signature: "422 Invalid metadata.labels Invalid | 422 Invalid metadata.labels Invalid",
    reason:
      "An update of a custom object checks metadata three times (as any object, as an update and by declared rules), and repeats the causes. The fake reports each once",
  },
  {
    signature: "422 Invalid metadata.ownerReferences Invalid | 422 Invalid metadata.ownerReferences Invalid",
    reason: "As for metadata.labels, for owners",
  },
  {
    signature:
      "422 Invalid metadata.ownerReferences[].uid Required | 422 Invalid metadata.ownerReferences[].uid Required",
    reason: "As for metadata.labels, for the uids of owners",
  },
  {
    signature: "422 Invalid spec.activeDeadlineSeconds Invalid | 422 Invalid spec.activeDeadlineSeconds Invalid",
    reason: "The rule for all pods and the rule for updates both refuse one value. The fake reports it once",
  },
  {
    signature: "failed to convert new object",
    reason:
      "kube-apiserver merges an apply as text and then converts it to Go types, whose error is a 500. The fake decodes first and responds with 400, as to other writes",
  },
  {
    signature: "failed to create typed patch object",
    reason:
      'On kube-apiserver, names in `imagePullSecrets` have the default `""`, so an element may lack its key in an apply. The fake refuses it. An unknown field in embedded metadata is refused by merge or by validation, whichever comes first',
  },
  {
    signature: "The order in patch list",
    reason:
      "A strategic merge of a list that does not fit its `$setElementOrder`: kube-apiserver compares the two element by element, up to the first missing one. The fake may merge the list",
  },
  {
    signature: "list element types are not identical",
    reason:
      "kube-apiserver merges lists by the Go types of their elements, and responds with 500 to mixed ones. The fake finds the wrong element by the schema: 422",
  },
  {
    signature: "couldn't get version/kind",
    reason:
      "kube-apiserver finds the type of a body by Go's JSON, which also reads `ApiVersion` and `Kind`, and refuses values there that are not strings. For the fake they are unknown fields",
  },
  {
    signature: "spec.embedded.",
    reason:
      "Custom kinds can embed objects. kube-apiserver decodes their metadata as ObjectMeta and checks their type. The fake keeps both as they are",
  },
];
