/**
 * Random histories of an operator that is upgraded: release 1 applies and updates at one version of its kind, release 2
 * at another one, and then release 1 is back. A user writes the same objects, at any served version.
 */
import { type Client, StatusError } from "@kube/informer";
import { defineKind, type KindOf } from "@kube/informer/schema";
import { Random } from "../../../src/testing/fake/random.ts";
import { type Conversion, roundTrips, Webhooks } from "@kube/informer/webhooks";

const names = { group: "example.com", kind: "Site", plural: "sites" } as const;
const text = { type: "string" } as const;
const shared = {
  replicas: { type: "integer" },
  hosts: {
    type: "array",
    items: { type: "object", required: ["name"], properties: { name: text, port: { type: "integer" } } },
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": ["name"],
  },
  limits: { type: "object", additionalProperties: text },
} as const;
const status = { type: "object", properties: { ready: { type: "boolean" }, seen: { type: "integer" } } } as const;

export const OldSite = defineKind({
  ...names,
  version: "v1alpha1",
  spec: { type: "object", required: ["image"], properties: { image: text, ...shared } },
  status,
});
export const Site = defineKind({
  ...names,
  version: "v1",
  spec: {
    type: "object",
    required: ["container"],
    properties: { container: { type: "object", required: ["image"], properties: { image: text } }, ...shared },
  },
  status,
  olderVersions: [OldSite],
});

/** The functions of the guide. */
const conversion: Conversion<KindOf<typeof Site>, KindOf<typeof OldSite>> = {
  toHub: ({ spec: { image, ...rest }, status }) => ({ spec: { container: { image }, ...rest }, status }),
  fromHub: ({ spec: { container, ...rest }, status }) => ({ spec: { image: container?.image, ...rest }, status }),
};

/** The webhooks of release 2. `asked` receives each object that is to be converted. */
export function siteWebhooks(onError: (error: unknown) => void): Webhooks {
  const webhooks = new Webhooks({ onError }).convert(Site, OldSite, conversion);
  roundTrips(webhooks, Site, []);
  roundTrips(webhooks, OldSite, []);
  return webhooks;
}

type Version = "v1alpha1" | "v1";

/** One write. */
export interface SiteWrite {
  readonly manager: "operator" | "user";
  readonly version: Version;
  readonly subresource: "" | "status";
  readonly verb: "apply" | "update";
  readonly labels: Readonly<Record<string, string>> | undefined;
  /** The spec of an apply, or what an update puts in its place; of version v1alpha1. */
  readonly spec: Readonly<Record<string, unknown>>;
  readonly status: Readonly<Record<string, unknown>>;
}

/** The writes of a history: of release 1, of release 2, and of release 1 again. */
export type SiteHistory = readonly [readonly SiteWrite[], readonly SiteWrite[], readonly SiteWrite[]];

export function siteHistory(seed: number): SiteHistory {
  const random = new Random(seed);
  const maybe = <T>(value: T): T | undefined => random.below(2) === 0 ? value : undefined;
  const defined = (members: object): Record<string, unknown> =>
    Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
  const write = (versions: readonly Version[], isFirst: boolean): SiteWrite => ({
    manager: isFirst ? "operator" : random.pick(["operator", "operator", "user"] as const),
    version: random.pick(versions),
    subresource: !isFirst && random.below(3) === 0 ? "status" : "",
    verb: !isFirst && random.below(4) === 0 ? "update" : "apply",
    labels: maybe({ tier: random.pick(["web", "db"]) }),
    spec: defined({
      // Both managers apply it, so that a manager that leaves out all others removes none that is required.
      image: random.pick(["a", "b"]),
      replicas: maybe(random.below(3)),
      // Never empty: the server then stores null, with or without conversions, and refuses it.
      hosts: maybe(random.pick([["x"], ["x", "y"], ["y", "z"]]).map((name) => ({ name, port: random.below(2) }))),
      limits: maybe(defined({ cpu: maybe("1"), memory: random.pick(["1G", "2G"]) })),
    }),
    status: defined({ ready: maybe(true), seen: random.below(3) }),
  });
  const release = (versions: readonly Version[], isFirst = false): SiteWrite[] =>
    Array.from({ length: 2 + random.below(3) }, (_, at) => write(versions, isFirst && at === 0));
  return [release(["v1alpha1"], true), release(["v1", "v1", "v1alpha1"]), release(["v1alpha1", "v1alpha1", "v1"])];
}

/** The result of a write: the code and message of a refusal, or the object, without what differs between servers. */
// deno-lint-ignore no-explicit-any -- JSON of either version
export type SiteResult = { readonly refused: string } | { readonly object: any };

/** Plays the part of a history on an object. */
export async function playSites(
  client: Client,
  name: string,
  writes: readonly SiteWrite[],
  signal?: AbortSignal,
): Promise<SiteResult[]> {
  const results: SiteResult[] = [];
  for (const write of writes) {
    try {
      results.push({ object: withoutTimes(await perform(client, name, write, signal)) });
    } catch (error) {
      if (!(error instanceof StatusError)) throw error;
      results.push({ refused: `${error.status.code} ${error.status.message}` });
    }
  }
  return results;
}

async function perform(client: Client, name: string, write: SiteWrite, signal?: AbortSignal): Promise<object> {
  const { manager, version, subresource, verb, labels, status } = write;
  const { image, ...rest } = write.spec;
  const spec = version === "v1" ? { container: { image }, ...rest } : write.spec;
  const metadata = { name, ...labels !== undefined && { labels } };
  const sites = client.resource(version === "v1" ? Site : OldSite as never as typeof Site);
  const options = { fieldManager: manager, signal, ...subresource !== "" && { subresource } as const };
  const parts = subresource === "" ? { metadata, spec } : { metadata: { name }, status };
  if (verb === "apply") return await sites.apply(parts as never, { ...options, force: true });
  const before = await sites.get(name, { signal });
  return await sites.update({ ...before, ...parts, metadata: { ...before.metadata, ...metadata } } as never, options);
}

/** Leaves out uids, versions and times, which differ between servers; the order of managedFields follows times. */
function withoutTimes(object: object): unknown {
  const { metadata, ...rest } = JSON.parse(JSON.stringify(object));
  const { uid: _, resourceVersion: __, creationTimestamp: ___, namespace: ____, managedFields = [], ...kept } =
    metadata;
  const entries = managedFields.map(({ time: _, ...entry }: { time?: string }) => entry);
  const key = (entry: object): string => JSON.stringify(entry);
  return {
    ...rest,
    metadata: { ...kept, managedFields: entries.toSorted((a: object, b: object) => key(a) < key(b) ? -1 : 1) },
  };
}
