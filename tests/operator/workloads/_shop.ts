import type { ObjectKey } from "../../../src/engine/api/object.ts";
import { Client } from "../../../src/engine/client/client.ts";
import { Node, Pod } from "../../../src/engine/kinds/core/v1.ts";
import { PodDisruptionBudget } from "../../../src/engine/kinds/policy/v1.ts";
import { FakeApiServer, pod } from "../../../src/testing/mod.ts";

/** What a test needs of a pod. */
export interface ShopPod {
  /** The label `app`, which budgets select. */
  readonly app?: string;
  /** The kind of its controller. */
  readonly controller?: string;
  readonly node?: string;
  readonly emptyDir?: boolean;
  readonly mirror?: boolean;
  readonly phase?: "Running" | "Succeeded" | "Failed";
}

/** A server with a node, and a client that sees all namespaces. */
export class Shop implements Disposable {
  readonly server: FakeApiServer = new FakeApiServer();
  readonly client: Client = new Client({ server: "http://fake", transport: this.server });

  constructor() {
    this.server.create(Node, { metadata: { name: "n1" } });
  }

  /** Creates a pod, and returns its uid. */
  add(key: ObjectKey, options: ShopPod = {}): string {
    const [namespace, name] = key.split("/");
    const { app = name, controller, node = "n1", emptyDir, mirror, phase } = options;
    const owner = { apiVersion: "apps/v1", kind: controller!, name: app, uid: app, controller: true };
    const draft = pod({
      name,
      namespace,
      node,
      phase,
      labels: { app },
      annotations: mirror ? { "kubernetes.io/config.mirror": "x" } : {},
      ownerReferences: controller === undefined ? [] : [owner],
      spec: emptyDir ? { volumes: [{ name: "data", emptyDir: {} }] } : {},
    });
    return this.server.create(Pod, draft).metadata.uid;
  }

  /** Creates a budget for the pods of an app, or changes it. */
  allow(app: string, disruptionsAllowed: number): void {
    const { server } = this;
    if (server.get(PodDisruptionBudget, `shop/${app}`) !== undefined) {
      server.patch(PodDisruptionBudget, `shop/${app}`, { status: { disruptionsAllowed } });
      return;
    }
    server.create(PodDisruptionBudget, {
      metadata: { name: app, namespace: "shop" },
      spec: { minAvailable: 1, selector: { matchLabels: { app } } },
      status: { disruptionsAllowed, currentHealthy: 1, desiredHealthy: 1, expectedPods: 1 },
    });
  }

  /** The number of evictions that were requested. */
  get evictions(): number {
    return this.server.requests.filter(({ path }) => path.endsWith("/eviction")).length;
  }

  [Symbol.dispose](): void {
    this.client[Symbol.dispose]();
    this.server[Symbol.dispose]();
  }
}
