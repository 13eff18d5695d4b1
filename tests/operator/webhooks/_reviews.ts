/** Reviews as kube-apiserver sends them, and responses as it reads them. */
import type { Resource } from "../../../src/engine/api/resource.ts";
import { defineKind, type KindOf } from "../../../src/operator/schema/mod.ts";
import type { Webhooks } from "../../../src/operator/webhooks/mod.ts";

export const Website = defineKind({
  group: "example.com",
  version: "v1",
  kind: "Website",
  plural: "websites",
  spec: {
    type: "object",
    required: ["image"],
    properties: {
      image: { type: "string" },
      replicas: { type: "integer" },
      hosts: { type: "array", items: { type: "string" } },
    },
  },
});
export type Website = KindOf<typeof Website>;

/** The path of a configured webhook. */
export function pathOf(webhooks: Webhooks, index = 0): string {
  const { validating, mutating, crds } = webhooks.configurations({ url: "https://hooks" });
  const configs = [...mutating?.webhooks ?? [], ...validating?.webhooks ?? []].map((it) => it.clientConfig);
  // deno-lint-ignore no-explicit-any
  const all = [...configs, ...crds.map((crd) => (crd.spec as any).conversion.webhook.clientConfig)];
  return new URL(all[index].url!).pathname;
}

export function website(spec: object, metadata: object = {}): Record<string, unknown> {
  const meta = { name: "blog", namespace: "shop", ...metadata };
  return { apiVersion: "example.com/v1", kind: "Website", metadata: meta, spec };
}

/** Returns the request of a review. */
export function requestOf(kind: Resource, parts: Record<string, unknown>): Record<string, unknown> {
  const { group, version, plural } = kind;
  const isDelete = parts.operation === "DELETE";
  return {
    uid: "uid-1",
    kind: { group, version, kind: kind.kind },
    resource: { group, version, resource: plural },
    name: "blog",
    namespace: "shop",
    operation: "CREATE",
    userInfo: { username: "ada", uid: "u-1", groups: ["system:authenticated"], extra: { scopes: ["a", "b"] } },
    object: isDelete ? null : website({ image: "a:1" }),
    oldObject: null,
    dryRun: false,
    options: { apiVersion: "meta.k8s.io/v1", kind: "CreateOptions", fieldManager: "kubectl" },
    ...parts,
  };
}

export function post(path: string, body: unknown, init: RequestInit = {}): Request {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return new Request(`https://hooks${path}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: text,
    ...init,
  });
}

export const ADMISSION = { apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview" };

// deno-lint-ignore no-explicit-any
export type Answer = Record<string, any>;

/** Sends a review of an object, and returns the HTTP status and the body. */
export async function review(
  webhooks: Webhooks,
  parts: Record<string, unknown> = {},
  { kind = Website as Resource, query = "?timeout=10s", index = 0 } = {},
): Promise<{ status: number; body: Answer; response: Answer; patch: Answer[] | undefined }> {
  const body = { ...ADMISSION, request: requestOf(kind, parts) };
  const answer = await webhooks.fetch(post(`${pathOf(webhooks, index)}${query}`, body));
  const read = await answer.json() as Answer;
  const { patch } = read.response ?? {};
  const bytes = patch === undefined ? undefined : Uint8Array.from(atob(patch), (char) => char.charCodeAt(0));
  return {
    status: answer.status,
    body: read,
    response: read.response,
    patch: bytes && JSON.parse(new TextDecoder().decode(bytes)),
  };
}

/** Sends objects to convert. */
export async function convert(
  webhooks: Webhooks,
  desiredAPIVersion: string,
  objects: readonly unknown[],
  path = "/convert/jobs.example.com",
): Promise<{ status: number; response: Answer }> {
  const request = { uid: "uid-1", desiredAPIVersion, objects };
  const body = { apiVersion: "apiextensions.k8s.io/v1", kind: "ConversionReview", request };
  const answer = await webhooks.fetch(post(path, body));
  return { status: answer.status, response: (await answer.json() as Answer).response };
}
