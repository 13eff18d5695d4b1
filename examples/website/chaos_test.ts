// chaos_test.ts: runs the controller under random changes and faults.
import { Deployment } from "@kube/informer/kinds/apps/v1";
import { readiness } from "@kube/informer/readiness";
import { EventRecorder } from "@kube/informer/reconcile";
import { chaos, type FakeApiServer, type Random } from "@kube/informer/testing/chaos";
import process from "node:process";
import { test } from "node:test";
import { controller, NAME } from "./controller.ts";
import { rollOut } from "./fake_deployments.ts";
import { Website } from "./kinds.ts";

const SEEDS = Number(process.argv[2] ?? 25);
const IMAGES = ["nginx:1", "nginx:2", "nginx:3"];

/** Changes the spec of a random Website, if there is one. */
function change(server: FakeApiServer, random: Random, spec: Partial<Website["spec"]>): void {
  const keys = server.keys(Website);
  if (keys.length > 0) server.patch(Website, random.pick(keys), { spec });
}

test(`the controller converges in ${SEEDS} seeds of changes and faults`, async () => {
  await chaos({
    seeds: SEEDS,
    resources: [Website],
    controller: async ({ client, signal }) => {
      await using events = new EventRecorder(client, { controller: NAME });
      await using reconciler = controller(client, events);
      await reconciler.run({ signal });
    },
    changes: {
      create: (server, random) => {
        const metadata = { namespace: "shop", name: random.pick(["blog", "cart"]) };
        if (server.get(Website, `shop/${metadata.name}`) !== undefined) return;
        server.create(Website, { metadata, spec: { image: random.pick(IMAGES), replicas: 1 } });
      },
      scale: (server, random) => change(server, random, { replicas: random.below(4) }),
      "change the image": (server, random) => change(server, random, { image: random.pick(IMAGES) }),
      "delete": (server, random) => {
        const keys = server.keys(Website);
        if (keys.length > 0) server.delete(Website, random.pick(keys));
      },
      "delete the Deployment": (server, random) => {
        const keys = server.keys(Deployment);
        if (keys.length > 0) server.delete(Deployment, random.pick(keys));
      },
      "scale the Deployment by hand": (server, random) => {
        const keys = server.keys(Deployment);
        if (keys.length > 0) server.patch(Deployment, random.pick(keys), { spec: { replicas: 9 } });
      },
    },
    environment: (server) => {
      for (const key of server.keys(Deployment)) {
        if (readiness(server.get(Deployment, key)).state === "progressing") rollOut(server, key);
      }
    },
    converges: (server) => {
      for (const object of server.list(Website)) {
        const { metadata: { namespace, name, uid }, spec, status } = object;
        const made = server.get(Deployment, `${namespace}/${name}`);
        if (made?.metadata.ownerReferences?.[0].uid !== uid) return `${name} has no Deployment`;
        const image = made.spec.template.spec?.containers[0].image;
        if (image !== spec.image) return `the image of ${name} is ${image}, not ${spec.image}`;
        if (made.spec.replicas !== spec.replicas) return `${name} has ${made.spec.replicas} replicas`;
        if (status?.readyReplicas !== spec.replicas) return `the status of ${name} is ${JSON.stringify(status)}`;
        if (readiness(object).state !== "ready") return `${name} is not ready`;
      }
    },
  });
});
