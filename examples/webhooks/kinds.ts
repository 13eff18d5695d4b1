// kinds.ts: defines the kind Website in two versions. v1 is stored.
import { defineKind, type KindOf } from "@kube/informer/schema";

const NAMES = { group: "example.com", kind: "Website", plural: "websites" } as const;
const image = { type: "string", minLength: 1 } as const;
const replicas = { type: "integer", minimum: 0 } as const;

export const OldWebsite = defineKind({
  ...NAMES,
  version: "v1beta1",
  spec: { type: "object", required: ["image"], properties: { image, replicas } },
});

export const Website = defineKind({
  ...NAMES,
  version: "v1",
  olderVersions: [OldWebsite],
  spec: {
    type: "object",
    required: ["container"],
    properties: { container: { type: "object", required: ["image"], properties: { image } }, replicas },
  },
});
export type Website = KindOf<typeof Website>;
