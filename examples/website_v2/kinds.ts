// kinds.ts: defines v2 of the kind Website, which is stored. Its containers have a port, which v1 cannot say.
import { defineKind, type KindOf } from "@kube/informer/schema";
import { Website as OldWebsite } from "../website/kinds.ts";

export const Website = defineKind({
  group: "example.com",
  version: "v2",
  kind: "Website",
  plural: "websites",
  olderVersions: [OldWebsite],
  columns: [
    { name: "Replicas", type: "integer", jsonPath: ".spec.replicas" },
    { name: "Ready", type: "string", jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
    { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" },
  ],
  spec: {
    type: "object",
    required: ["container"],
    properties: {
      container: {
        type: "object",
        required: ["image"],
        properties: {
          image: { type: "string", minLength: 1, description: "The image of the containers." },
          port: { type: "integer", minimum: 1, maximum: 65_535, description: "The port that the containers open." },
        },
      },
      replicas: { type: "integer", minimum: 0, default: 1, description: "The number of pods." },
    },
  },
  status: {
    type: "object",
    properties: {
      readyReplicas: { type: "integer", description: "The number of pods that are ready." },
      conditions: {
        type: "array",
        description: "Ready says whether all pods are ready, and why not.",
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["type"],
        items: {
          type: "object",
          required: ["type", "status", "reason", "message", "lastTransitionTime"],
          properties: {
            type: { type: "string" },
            status: { type: "string", enum: ["True", "False", "Unknown"] },
            reason: { type: "string" },
            message: { type: "string" },
            lastTransitionTime: { type: "string", format: "date-time" },
            observedGeneration: { type: "integer" },
          },
        },
      },
    },
  },
});
export type Website = KindOf<typeof Website>;
export { OldWebsite };
