import type { Client, KubernetesObject, Resource } from "@kube/informer";
import { ConfigMap } from "@kube/informer/kinds/core/v1";
import {
  finalize,
  LeaderElector,
  Manager,
  Reconciler,
  type StatusOf,
  withController,
  writeStatus,
} from "@kube/informer/reconcile";
import { defineKind, type KindOf } from "@kube/informer/schema";
import type { Release, UpgradeChange, UpgradeOptions } from "@kube/informer/testing/chaos";
import { type Conversion, refuse, Webhooks } from "@kube/informer/webhooks";

/** Bugs that an upgrade can have, each with the first seed that finds it, and a part of the violation. */
export const UPGRADE_BUGS = {
  "forgets a field on the way to the old version": [1, 'a field is lost: spec.note of Site "default/'],
  "throws when a member is missing": [8, "a user's write at version v1alpha1 is refused: "],
  "renames its finalizer": [
    2,
    ' is being deleted, and keeps the finalizers ["example.com/sites"] (in the phase in which storage',
  ],
  "runs without leader election": [
    1,
    "(in the phase in which the new definitions are installed, and both releases run)",
  ],
  "applies other values as another manager": [1, "too many writes: "],
  "applies as another manager without force": [1, "/configmaps/a → 409 Apply failed with 3 conflicts"],
  "keeps a token in the status, which the old release wipes": [2, 'change objects: status.token of Site "default/'],
  "writes its status in another form": [1, "too many writes: "],
  "stops serving the old version": [1, "notFound"],
  "refuses to write an old object again": [2, 'Site "default/legacy" cannot be migrated to v1: '],
  "leaves out a default, which differs between versions": [5, 'a field is lost: spec.replicas of Site "default/'],
} as const;

/** The name of such a bug. */
export type UpgradeBug = keyof typeof UPGRADE_BUGS;

const names = { group: "example.com", kind: "Site", plural: "sites" } as const;
const text = { type: "string" } as const;
const hosts = { type: "array", items: text } as const;
const status = { type: "object", properties: { image: text, token: text } } as const;

const OldSite = defineKind({
  ...names,
  version: "v1alpha1",
  spec: {
    type: "object",
    required: ["image"],
    properties: { image: text, replicas: { type: "integer", default: 1 }, note: text, hosts },
  },
  status,
});
type OldSite = KindOf<typeof OldSite>;

/** Returns the kind of the new release. */
const newSite = (replicas: number) =>
  defineKind({
    ...names,
    version: "v1",
    spec: {
      type: "object",
      required: ["container"],
      properties: {
        container: { type: "object", required: ["image"], properties: { image: text, hosts } },
        scale: { type: "object", properties: { replicas: { type: "integer", default: replicas } } },
        note: text,
      },
    },
    status,
    olderVersions: [OldSite],
  });
const Site = newSite(1);
export { OldSite, Site as NewSite };
type Site = KindOf<typeof Site>;

const conversion: Conversion<Site, OldSite> = {
  toHub: ({ spec: { image, replicas, hosts, note }, status }) => ({
    spec: { container: { image, hosts }, scale: { replicas }, note },
    status,
  }),
  fromHub: ({ spec: { container, scale, note }, status }) => ({
    spec: { image: container?.image, hosts: container?.hosts, replicas: scale?.replicas, note },
    status,
  }),
};

const CONVERSION_BUGS: { readonly [Bug in UpgradeBug]?: Partial<Conversion<Site, OldSite>> } = {
  "forgets a field on the way to the old version": {
    fromHub: ({ spec: { container, scale }, status }) => ({
      spec: { image: container?.image, hosts: container?.hosts, replicas: scale?.replicas },
      status,
    }),
  },
  "throws when a member is missing": {
    toHub: ({ spec: { image, replicas, hosts, note }, status }) => ({
      spec: { container: { image, hosts: hosts!.map((host) => host) }, scale: { replicas }, note },
      status,
    }),
  },
  "leaves out a default, which differs between versions": {
    toHub: ({ spec: { image, replicas, hosts, note }, status }) => ({
      spec: { container: { image, hosts }, scale: { replicas: replicas === 2 ? undefined : replicas }, note },
      status,
    }),
  },
};

/** What a controller does in its own way. */
interface Habits<T> {
  readonly data: (site: T) => Readonly<Record<string, string>>;
  readonly status: (site: T) => object;
  readonly finalizer?: string;
  readonly manager?: string;
  readonly force?: boolean;
  /** False if it runs while another process leads. */
  readonly elects?: boolean;
}

/** Few renewals, which take most of the time of a seed. */
const SELDOM = { leaseMs: 30_000, renewDeadlineMs: 20_000, retryMs: 8_000 } as const;

/** Returns a controller with a finalizer, a status and an owned ConfigMap. */
function siteController<T extends KubernetesObject & { readonly status?: object }>(
  kind: Resource<T>,
  { data, status, finalizer = "example.com/sites", manager = "sites", force = true, elects = true }: Habits<T>,
): Release["controller"] {
  return async ({ client, signal, identity }) => {
    await using sites = new Reconciler(client as Client, kind, async ({ object, client }) => {
      const guard = { finalizer, cleanup: () => {} };
      const site = object && await finalize(client.resource(kind), object, guard);
      if (site === undefined) return;
      const { namespace, name } = site.metadata;
      const draft = withController({ metadata: { namespace, name }, data: data(site) }, site);
      await client.resource(ConfigMap, { namespace }).applyIfChanged(draft, { fieldManager: manager, force });
      await writeStatus(client.resource(kind), site, status(site) as StatusOf<T>);
    }, { onError: () => {} }).owns(ConfigMap, { informer: { managedFields: { manager } } });
    if (!elects) return await sites.run({ signal });
    const elector = new LeaderElector(client, { name: "sites", namespace: "default", identity, ...SELDOM });
    await new Manager({ reconcilers: [sites], elector }).run({ signal });
  };
}

const oldData = ({ spec: { image, replicas = 1 } }: OldSite) => ({ image, replicas: String(replicas) });
const newData = ({ spec: { container, scale } }: Site) => ({
  image: container.image,
  replicas: String(scale?.replicas ?? 1),
});

const HABITS: { readonly [Bug in UpgradeBug]?: Partial<Habits<Site>> } = {
  "renames its finalizer": { finalizer: "example.com/new-sites" },
  // The owner reference of each ConfigMap has the version of its owner, too.
  "runs without leader election": { elects: false },
  "applies other values as another manager": {
    elects: false,
    manager: "new-sites",
    data: (site) => ({ ...newData(site), image: `registry/${site.spec.container.image}` }),
  },
  "applies as another manager without force": {
    manager: "new-sites",
    force: false,
    data: (site) => ({ ...newData(site), image: `registry/${site.spec.container.image}` }),
  },
  "keeps a token in the status, which the old release wipes": {
    status: ({ spec, status }) => ({ image: spec.container.image, token: status?.token ?? crypto.randomUUID() }),
  },
  "writes its status in another form": {
    status: ({ spec }) => ({ image: `image ${spec.container.image}` }),
    elects: false,
  },
};

/** Sends what a user writes, at either version. */
const write = (how: "create" | "apply" | "update" | "patch"): UpgradeChange => async ({ client, random, version }) => {
  const name = random.pick(["a", "b"]);
  const maybe = <T>(value: T): T | undefined => random.below(2) === 0 ? value : undefined;
  const [image, replicas, note] = [random.pick(["web:1", "web:2"]), maybe(random.below(4)), maybe("seen")];
  const hosts = maybe(random.pick([["x"], ["x", "y"]]));
  const spec = version === "v1"
    ? { container: { image, hosts }, scale: replicas === undefined ? undefined : { replicas }, note }
    : { image, hosts, replicas, note };
  const body = JSON.parse(JSON.stringify({ metadata: { name }, spec }));
  const sites = client.resource((version === "v1" ? Site : OldSite) as Resource<KubernetesObject>);
  if (how === "create") return await sites.create(body);
  if (how === "apply") return await sites.apply(body, { fieldManager: "user", force: true });
  if (how === "patch") return await sites.patch(name, { type: "merge", body });
  const { metadata, ...rest } = await sites.get(name);
  return await sites.update({ ...rest, ...body, metadata });
};

/** An upgrade from v1alpha1 to v1 of a kind, with a bug or without. */
export function siteUpgrade(bug?: UpgradeBug): UpgradeOptions {
  const kind = bug === "leaves out a default, which differs between versions" ? newSite(2) : Site;
  const webhooks = new Webhooks({ onError: () => {} }).convert(kind, OldSite, {
    ...conversion,
    ...bug && CONVERSION_BUGS[bug],
  });
  if (bug === "refuses to write an old object again") {
    webhooks.validate(kind, ({ object }) => {
      if (object.metadata.name === "legacy") throw refuse("its host is not allowed");
    });
  }
  const stops = bug === "stops serving the old version";
  const crds = [{
    ...kind.crd,
    spec: {
      ...kind.crd.spec,
      versions: kind.crd.spec.versions.map((it) => ({ ...it, served: !(stops && it.name === "v1alpha1") })),
    },
  }];
  return {
    from: {
      crds: [OldSite],
      controller: siteController(OldSite, { data: oldData, status: ({ spec }) => ({ image: spec.image }) }),
      converges: (server) => {
        for (const { metadata: { name }, spec, status } of server.list(OldSite)) {
          if (server.get(ConfigMap, `default/${name}`)?.data?.image !== spec.image) return `${name} has no ConfigMap`;
          if (status?.image !== spec.image) return `${name} has the status ${JSON.stringify(status)}`;
        }
      },
    },
    to: {
      crds,
      webhooks,
      controller: siteController(kind, {
        data: newData,
        status: ({ spec }) => ({ image: spec.container.image }),
        ...bug && HABITS[bug],
      }),
    },
    elects: true,
    setup: async ({ client }) => {
      await client.resource(OldSite).create({ metadata: { name: "legacy" }, spec: { image: "web:0" } });
    },
    changes: {
      create: write("create"),
      apply: write("apply"),
      patch: write("patch"),
      update: write("update"),
      "delete": ({ client, random }) => client.resource(OldSite).delete(random.pick(["a", "b"])),
    },
  };
}
