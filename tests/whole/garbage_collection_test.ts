// A controller that owns Deployments, while garbage is collected in all ways.
import { isNotFound, SharedInformerFactory } from "@kube/informer";
import { Deployment } from "@kube/informer/kinds/apps/v1";
import { ConfigMap, Namespace, Pod } from "@kube/informer/kinds/core/v1";
import { finalize, Reconciler, withController } from "@kube/informer/reconcile";
import { assert, assertEquals } from "@std/assert";
import { delay } from "@std/async";
import { EventChecker } from "../support/cluster/event_checker.ts";
import { Session } from "../support/processes/session.ts";
import { createAll, orNone, report, until, type Whole, wholeCluster } from "./_whole.ts";

const situation = wholeCluster(3);

const MANAGER = "gc-test";
const FINALIZER = "example.com/hold";

/** The label of finalizers and owners. */
const OWNER = { own: "1" };

/** A controller that makes a Deployment of two pods for each ConfigMap with a label, and what it has done. */
class Controller implements AsyncDisposable {
  runs = 0;
  /** The names of the objects that were cleaned up. */
  readonly cleanups: string[] = [];
  readonly errors: string[] = [];
  readonly #reconciler: Reconciler<ConfigMap>;
  readonly #running: Promise<void>;

  constructor(client: Whole["client"], namespace: string) {
    this.#reconciler = new Reconciler<ConfigMap>(client, ConfigMap, async ({ object, client, signal }) => {
      this.runs++;
      if (object?.metadata.labels?.own !== OWNER.own) return;
      const { name, labels } = object.metadata;
      const cleanup = (): Promise<void> => Promise.resolve(void this.cleanups.push(name));
      const live = labels.finalizer === "1"
        ? await finalize(client.resource(ConfigMap), object, { finalizer: FINALIZER, cleanup, signal })
        : object;
      if (live === undefined || live.metadata.deletionTimestamp !== undefined) return;
      await client.resource(Deployment, { namespace }).applyIfChanged(
        withController({
          metadata: { name, namespace },
          spec: {
            replicas: 2,
            selector: { matchLabels: { app: name } },
            template: {
              metadata: { labels: { app: name } },
              spec: { containers: [{ name: "app", image: "nginx:1" }] },
            },
          },
        }, live),
        { fieldManager: MANAGER, force: true, signal },
      );
    }, { informer: { namespace }, onError: (error: unknown) => void this.errors.push(String(error)) })
      .owns(Deployment, { informer: { managedFields: { manager: MANAGER } } });
    this.#running = this.#reconciler.run();
  }

  async synced(): Promise<void> {
    await this.#reconciler.informers.waitForCacheSync();
  }

  /** The Deployments of a namespace that it knows. It caches all namespaces. */
  known(namespace: string): readonly Deployment[] {
    return this.#reconciler.informers.forResource(Deployment).lister.namespace(namespace).list();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#reconciler[Symbol.asyncDispose]();
    await this.#running;
  }
}

/** The namespace of a controller. */
class Garden {
  readonly #whole: Whole;
  readonly namespace: string;

  constructor(whole: Whole, namespace: string) {
    this.#whole = whole;
    this.namespace = namespace;
  }

  get deployments(): ReturnType<typeof deploymentsIn> {
    return deploymentsIn(this.#whole, this.namespace);
  }

  /** Creates an owner, and returns it with its Deployment, whose pods are there then. */
  async plant(name: string, labels: Readonly<Record<string, string>> = {}): Promise<[ConfigMap, Deployment]> {
    const maps = this.#whole.client.resource(ConfigMap, { namespace: this.namespace });
    const owner = await maps.create({ metadata: { name, labels: { ...OWNER, ...labels } } });
    return [owner, await this.ownedBy(owner)];
  }

  /** Waits for the available Deployment of an owner. */
  async ownedBy({ metadata: { name, uid } }: ConfigMap): Promise<Deployment> {
    return await until(`the Deployment of ${name}`, async () => {
      const found = await orNone(this.deployments.get(name));
      const isOwned = found?.metadata.ownerReferences?.length === 1 && found.metadata.ownerReferences[0].uid === uid;
      return isOwned && found.status?.availableReplicas === 2 && found;
    });
  }

  /** Deletes an owner as kubectl does. */
  async cut(name: string, cascade: "foreground" | "background" | "orphan"): Promise<void> {
    await this.#whole.kubectl("delete", "cm", name, "-n", this.namespace, `--cascade=${cascade}`, "--wait=false");
  }

  /** Waits until an owner, its Deployment and its pods are gone. */
  async gone(name: string): Promise<void> {
    const { client } = this.#whole;
    const { namespace } = this;
    await until(`the end of ${name}`, async () => {
      const { items } = await client.resource(Pod, { namespace }).list({ labelSelector: `app=${name}` });
      const left = [
        await orNone(client.resource(ConfigMap, { namespace }).get(name)),
        await orNone(this.deployments.get(name)),
      ];
      return items.length === 0 && left.every((it) => it === undefined);
    });
  }
}

// deno-lint-ignore explicit-function-return-type -- a type with many parameters
function deploymentsIn({ client }: Whole, namespace: string) {
  return client.resource(Deployment, { namespace });
}

situation("gc: owners are deleted in foreground, in background, as orphans and beside finalizers", async (whole) => {
  const garden = new Garden(whole, await whole.newNamespace("gc"));
  await using controller = new Controller(whole.client, garden.namespace);
  await controller.synced();

  for (const cascade of ["foreground", "background"] as const) {
    for (const finalizer of ["0", "1"]) {
      const name = `${cascade}-${finalizer}`;
      await garden.plant(name, { finalizer });
      await garden.cut(name, cascade);
      await garden.gone(name);
      assertEquals(controller.cleanups.filter((it) => it === name).length, Number(finalizer), name);
    }
  }

  const [, orphan] = await garden.plant("orphan");
  await garden.cut("orphan", "orphan");
  const left = await until("an orphan", async () => {
    const found = await garden.deployments.get("orphan");
    return found.metadata.ownerReferences === undefined && found;
  });
  assertEquals(left.metadata.uid, orphan.metadata.uid);
  const maps = whole.client.resource(ConfigMap, { namespace: garden.namespace });
  const ended = (name: string): Promise<boolean> =>
    until(`the end of the owner ${name}`, async () => await orNone(maps.get(name)) === undefined);
  await ended("orphan");
  const [, adopted] = await garden.plant("orphan");
  assertEquals(adopted.metadata.uid, orphan.metadata.uid);

  // The same name at once: the Deployment of the former owner is garbage, the new owner gets another one.
  const [former, first] = await garden.plant("replaced");
  await garden.cut("replaced", "background");
  await ended("replaced");
  const owner = await maps.create({ metadata: { name: "replaced", labels: OWNER } });
  const second = await garden.ownedBy(owner);
  assert(former.metadata.uid !== owner.metadata.uid);
  report(
    `the Deployment of a replaced owner is ${first.metadata.uid === second.metadata.uid ? "the same" : "another"} one`,
  );

  // Somebody else deletes the owned Deployment, in foreground: it is made again.
  await whole.kubectl("delete", "deploy", "replaced", "-n", garden.namespace, "--cascade=foreground", "--wait=false");
  await until("another Deployment", async () => {
    const found = await orNone(garden.deployments.get("replaced"));
    return found !== undefined && found.metadata.uid !== second.metadata.uid;
  });
  await garden.ownedBy(owner);
  await rest(controller);
  assertEquals(controller.errors, []);
});

/** The controller does nothing for two seconds. */
async function rest(controller: Controller): Promise<void> {
  await until("a controller at rest", async () => {
    const { runs } = controller;
    await delay(2_000);
    return controller.runs === runs;
  });
}

situation("gc: a namespace is deleted under its controller", async (whole) => {
  const garden = new Garden(whole, await whole.newNamespace("gone"));
  await using controller = new Controller(whole.client, garden.namespace);
  await controller.synced();
  await garden.plant("a");
  await garden.plant("b", { finalizer: "1" });
  assertEquals(controller.known(garden.namespace).length, 2);
  await whole.kubectl("delete", "ns", garden.namespace, "--wait=false");
  await until(
    "the end of the namespace",
    async () => await orNone(whole.client.resource(Namespace).get(garden.namespace)) === undefined,
  );
  await until("an empty cache", () => Promise.resolve(controller.known(garden.namespace).length === 0));
  assertEquals(controller.cleanups, ["b"]);
  await rest(controller);
  // While the namespace terminates, what is deleted first cannot be made again.
  const others = controller.errors.filter((error) => !error.includes("because it is being terminated"));
  assertEquals(others, []);
});

situation("namespace: its deletion is seen whole by informers, and waited for as by kubectl", async (whole) => {
  const { client, kubectl, kubeconfig } = whole;
  const namespace = await whole.newNamespace("bye");
  await createAll(whole, namespace, [
    { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "held", finalizers: [FINALIZER] } },
    {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: "slow", labels: { "whole-grace": "1" } },
      spec: { terminationGracePeriodSeconds: 3, containers: [{ name: "app", image: "nginx:1" }] },
    },
    {
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: { name: "web" },
      spec: {
        replicas: 3,
        selector: { matchLabels: { app: "web" } },
        template: { metadata: { labels: { app: "web" } }, spec: { containers: [{ name: "app", image: "nginx:1" }] } },
      },
    },
  ]);
  await kubectl("rollout", "status", "deploy/web", "-n", namespace, "--timeout=60s");
  await using informers = new SharedInformerFactory(client, { namespace });
  const [pods, maps, deployments] = [Pod, ConfigMap, Deployment].map((kind) =>
    informers.forResource(kind as typeof Pod)
  );
  const checkers = [pods, maps, deployments].map((informer) => new EventChecker(informer));
  informers.start();
  await informers.waitForCacheSync();
  const present = [pods, maps, deployments].map((informer) => informer.indexer.size);
  assertEquals(present.slice(0, 1), [4]);

  await kubectl("delete", "ns", namespace, "--wait=false");
  const startedAt = performance.now();
  const ended = async (wait: Promise<unknown>): Promise<number> => {
    await wait;
    return performance.now() - startedAt;
  };
  const theirs = ended(kubectl("wait", `ns/${namespace}`, "--for=delete", "--timeout=60s"));
  const waiting = new Session([
    ...["wait", `ns/${namespace}`, "--for", "deleted", "--timeout", "60s", "--kubeconfig", kubeconfig],
  ]);
  const ours = ended(
    waiting.code.then((code) => assertEquals(code, 0, waiting.err.text)),
  );
  // The finalizer holds the namespace until somebody removes it.
  await until("the condition about finalizers", async () => {
    const { status } = await client.resource(Namespace).get(namespace);
    return status?.conditions?.some((it) => it.type === "NamespaceFinalizersRemaining" && it.status === "True");
  });
  const body = { metadata: { finalizers: null } };
  await client.resource(ConfigMap, { namespace }).patch("held", { type: "merge", body: body as never });
  const [kubectlMs, informerMs] = await Promise.all([theirs, ours]);
  report(`gone after ${(kubectlMs / 1_000).toFixed(1)} s by kubectl, ${(informerMs / 1_000).toFixed(1)} s by informer`);
  assert(informerMs - kubectlMs < 2_000);
  await until(
    "empty caches",
    () => Promise.resolve([pods, maps, deployments].every(({ indexer }) => indexer.size === 0)),
  );
  for (const [i, checker] of checkers.entries()) {
    assertEquals(await checker.end(), []);
    assert(checker.counts.deleted >= present[i]);
  }
  assertEquals(await client.resource(Namespace).get(namespace).catch(isNotFound), true);
});
