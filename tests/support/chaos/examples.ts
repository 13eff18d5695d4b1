import { Deployment } from "@kube/informer/kinds/apps/v1";
import { ConfigMap, Namespace, Pod } from "@kube/informer/kinds/core/v1";
import type { Fixture } from "@kube/informer/testing";
import type { ChaosOptions } from "@kube/informer/testing/chaos";
import { configRoller } from "../../../examples/config_roller.ts";
import { CronTab, cronTabs } from "../../../examples/crontab_controller.ts";
import { namespaceLabels } from "../../../examples/namespace_labels.ts";
import { APP, type Outside } from "./app.ts";
import { appController } from "./app_controller.ts";
import { elected } from "./elected.ts";
import { shared } from "./shared.ts";
import { sites } from "./sites.ts";
import { atMostThreePods, deletes, meddles, NAMES, patches, writes } from "./users.ts";

const TAB = { spec: { schedule: "0 0 * * *", image: "cron:1", replicas: 1 } };

/** The controller of CronTabs. */
export const crontab: ChaosOptions<Map<string, string>> = {
  controller: async ({ client, signal, world }) => {
    await using tabs = cronTabs(client, world);
    await tabs.run({ signal });
  },
  world: () => new Map(),
  resources: [CronTab],
  environment: (server) => {
    for (const { metadata, spec, status } of server.list(Deployment)) {
      const { replicas } = spec;
      if (status?.readyReplicas !== replicas) {
        server.patch(Deployment, metadata.name, { status: { readyReplicas: replicas } });
      }
    }
  },
  setup: (server) => void server.create(CronTab, { metadata: { name: "a" }, ...TAB }),
  changes: {
    ...writes(CronTab, () => TAB),
    scale: patches(CronTab, (random) => ({ spec: { replicas: random.below(4) } })),
    "change the image": patches(CronTab, (random) => ({ spec: { image: `cron:${random.below(3)}` } })),
    reschedule: patches(CronTab, (random) => ({ spec: { schedule: `${random.below(60)} * * * *` } })),
    "delete a deployment": deletes(Deployment),
    "scale a deployment by hand": meddles(Deployment, (server, key) => {
      server.patch(Deployment, key, { spec: { replicas: 9 } });
    }),
  },
  converges: (server, schedules) => {
    const tabs = server.list(CronTab);
    for (const { metadata: { name, uid, deletionTimestamp }, spec, status } of tabs) {
      if (deletionTimestamp !== undefined) return `CronTab "${name}" is still being deleted`;
      const deployment = server.get(Deployment, name);
      if (deployment?.metadata.ownerReferences?.[0].uid !== uid) return `CronTab "${name}" has no deployment`;
      const image = deployment.spec.template.spec?.containers[0].image;
      if (image !== spec.image) return `the deployment of "${name}" has the image ${image}, not ${spec.image}`;
      if (deployment?.spec.replicas !== spec.replicas) {
        return `the deployment of "${name}" has ${deployment?.spec.replicas} replicas`;
      }
      if (schedules.get(`default/${name}`) !== spec.schedule) {
        return `the schedule of "${name}" is ${schedules.get(`default/${name}`)}`;
      }
      if (status?.replicas !== spec.replicas) {
        return `the status of "${name}" has ${status?.replicas} replicas, not ${spec.replicas}`;
      }
      const ready = status.conditions?.[0].status;
      if (ready !== "True") return `CronTab "${name}" is not ready`;
    }
    return schedules.size === tabs.length || `there are ${schedules.size} schedules for ${tabs.length} CronTabs`;
  },
};

const roller: ChaosOptions = {
  controller: async ({ client, signal }) => {
    await using pods = configRoller(client);
    await pods.run({ signal });
  },
  setup: (server) => void server.create(ConfigMap, configMap("a", "2")),
  changes: {
    ...writes(ConfigMap, (random) => configMap("", String(random.below(4)))),
    roll: patches(ConfigMap, (random) => ({ data: { colour: random.pick(["red", "green", "blue"]) } })),
    scale: patches(ConfigMap, (random) => ({
      metadata: { labels: { "example.com/pods": random.pick(["1", "2", "3", null]) } },
    })),
    "delete a pod": deletes(Pod),
  },
  invariants: { "a config map never has more than three pods": atMostThreePods },
  converges: (server) => {
    for (const { metadata: { name, uid, labels }, data } of server.list(ConfigMap)) {
      const own = server.list(Pod).filter(({ metadata }) => metadata.ownerReferences?.[0].uid === uid);
      const wanted = Number(labels?.["example.com/pods"] ?? 0);
      if (own.length !== wanted) return `ConfigMap "${name}" has ${own.length} pods, not ${wanted}`;
      const config = JSON.stringify(Object.entries(data ?? {}).sort());
      const old = own.find(({ metadata }) => metadata.annotations?.["example.com/config"] !== config);
      if (old !== undefined) return `Pod "${old.metadata.name}" has an old config`;
    }
  },
};

function configMap(name: string, pods: string): Fixture<ConfigMap> {
  return { metadata: { name, labels: { "example.com/pods": pods } }, data: { colour: "red" } };
}

const TEAM = "example.com/team";

const labels: ChaosOptions = {
  controller: async ({ client, signal }) => {
    await using labels = namespaceLabels(client);
    await labels.run({ signal });
  },
  setup: (server) => {
    for (const name of NAMES) {
      server.create(Namespace, { metadata: { name, labels: { [TEAM]: "red" } } });
      for (const pod of NAMES) {
        server.create(Pod, { metadata: { namespace: name, name: pod }, spec: { containers: [] } });
      }
    }
  },
  changes: {
    "change the team": patches(Namespace, (random) => {
      return { metadata: { labels: { [TEAM]: random.pick(["red", "green", null]) } } };
    }),
    "create a namespace": writes(Namespace, () => ({ metadata: { labels: { [TEAM]: "blue" } } })).create,
    "create a pod": (server, random) => {
      const metadata = { namespace: random.pick(NAMES), name: random.pick(NAMES) };
      const key = `${metadata.namespace}/${metadata.name}`;
      if (server.get(Namespace, metadata.namespace) === undefined) return `${metadata.namespace} does not exist`;
      if (server.get(Pod, key) === undefined) server.create(Pod, { metadata, spec: { containers: [] } });
      return key;
    },
    "delete a pod": deletes(Pod),
    "label a pod by hand": meddles(Pod, (server, key) => {
      server.patch(Pod, key, { metadata: { labels: { [TEAM]: "mine" } } });
    }),
  },
  converges: (server) => {
    for (const { metadata: { namespace, name, labels } } of server.list(Pod)) {
      const wanted = server.get(Namespace, namespace!)?.metadata.labels?.[TEAM];
      const found = labels?.[TEAM];
      if (found !== wanted) return `Pod "${namespace}/${name}" has the team ${found}, not ${wanted}`;
    }
  },
};

const app: ChaosOptions<Outside> = { ...APP, controller: appController() };

/** The controllers of `examples`, and the one of the tests, with what they promise. */
// deno-lint-ignore no-explicit-any -- the worlds differ
export const EXAMPLES: Readonly<Record<string, ChaosOptions<any>>> = {
  crontab,
  elected: elected(crontab),
  roller,
  labels,
  app,
  sites,
  shared,
};
