// releases.ts: both releases, and users who write at both versions, for tests of the upgrade.
import { copyOf, defineResource, type KubernetesObject } from "@kube/informer";
import { Deployment } from "@kube/informer/kinds/apps/v1";
import { EventRecorder, findCondition, LeaderElector, Manager } from "@kube/informer/reconcile";
import type { Release, UpgradeOptions, UpgradeUser } from "@kube/informer/testing/chaos";
import { controller as oldController } from "../website/controller.ts";
import { rollOut } from "../website/fake_deployments.ts";
import { controller, NAME } from "./controller.ts";
import { OldWebsite, Website } from "./kinds.ts";
import { webhooks } from "./webhooks.ts";

/** A release's program, as in its main.ts. Long leases are renewed seldom, which makes seeds fast. */
function program(controllerOf: typeof oldController | typeof controller): Release["controller"] {
  return async ({ client, signal, identity }) => {
    const events = new EventRecorder(client, { controller: NAME });
    const seldom = { leaseMs: 30_000, renewDeadlineMs: 20_000, retryMs: 8_000 };
    const elector = new LeaderElector(client, { name: NAME, namespace: "default", identity, ...seldom });
    await using manager = new Manager({ reconcilers: [controllerOf(client, events)], elector, recorders: [events] });
    await manager.run({ signal });
  };
}

/** Returns a reason if a Website is not ready, or its Deployment has other values. */
function unfinished(website: OldWebsite | Website, made: Deployment | undefined): string | undefined {
  const { metadata: { name, uid, generation }, spec, status } = website;
  const { image, port } = "container" in spec ? spec.container : { ...spec, port: undefined };
  const main = made?.spec.template.spec?.containers[0];
  if (made?.metadata.ownerReferences?.[0].uid !== uid) return `${name} has no Deployment`;
  if (main?.image !== image) return `the image of ${name} is ${main?.image}, not ${image}`;
  if (main.ports?.[0]?.containerPort !== port) return `the ports of ${name} are ${JSON.stringify(main.ports)}`;
  if (made.spec.replicas !== spec.replicas) return `${name} has ${made.spec.replicas} replicas`;
  const ready = findCondition(status?.conditions, "Ready");
  if (ready?.status !== "True" || ready.observedGeneration !== generation) return `${name} is not ready`;
}

/** Checks all Websites, as the release reads them. */
const allFinished = (kind: typeof OldWebsite | typeof Website): Release["converges"] => (server) =>
  server.list<OldWebsite | Website>(kind)
    .map((it) => unfinished(it, server.get(Deployment, `${it.metadata.namespace}/${it.metadata.name}`)))
    .find((reason) => reason !== undefined);

/** Websites at the version of a user. */
const websites = ({ client, version }: UpgradeUser) =>
  client.resource(
    defineResource<KubernetesObject & { readonly spec: object }>({
      group: "example.com",
      version,
      plural: "websites",
      kind: "Website",
    }),
  );

/** What a user writes, by random. */
const draft = ({ random, version }: UpgradeUser) => {
  const [image, replicas] = [random.pick(["nginx:1", "nginx:2"]), random.pick([undefined, 0, 3])];
  const container = { image, port: random.pick([undefined, 80, 8080]) };
  return {
    metadata: { name: random.pick(["blog", "cart"]) },
    spec: version === "v2" ? { container, replicas } : { image, replicas },
  };
};

/** The upgrade from v1 to v2, for `upgrade()`. */
export const websiteUpgrade: UpgradeOptions = {
  from: { crds: [OldWebsite], controller: program(oldController), converges: allFinished(OldWebsite) },
  to: { crds: [Website], webhooks, controller: program(controller), converges: allFinished(Website) },
  elects: true,
  setup: ({ client }) => client.resource(OldWebsite).create({ metadata: { name: "old" }, spec: { image: "nginx" } }),
  changes: {
    create: (user) => websites(user).create(draft(user)),
    apply: (user) => websites(user).apply(draft(user), { fieldManager: "user", force: true }),
    patch: (user) => {
      const { metadata: { name }, spec } = draft(user);
      return websites(user).patch(name, { type: "merge", body: { spec } });
    },
    update: async (user) => {
      const { metadata: { name }, spec } = draft(user);
      return websites(user).update({ ...copyOf(await websites(user).get(name)), spec });
    },
    scale: (user) => websites(user).patch("old", { type: "merge", body: { spec: { replicas: user.random.below(4) } } }),
    "delete": ({ client, random }) => client.resource(OldWebsite).delete(random.pick(["blog", "cart"])),
  },
  environment: (server) => {
    for (const key of server.keys(Deployment)) {
      const { metadata: { generation }, status } = server.get(Deployment, key)!;
      if (status?.observedGeneration !== generation) rollOut(server, key);
    }
  },
};
