import { Client } from "@kube/informer";
import { followClusterSecrets } from "@kube/informer/clusters";
import { ConfigMap, Secret } from "@kube/informer/kinds/core/v1";
import { FakeApiServer } from "@kube/informer/testing";
import { assertEquals } from "@std/assert";
import { Clusters } from "../../../support/servers/clusters.ts";

const LABELS = { "sigs.k8s.io/multicluster-runtime-kubeconfig": "true" };

/** A server with Secrets, and what follows them. */
function follow(clusters: Clusters): {
  readonly hub: FakeApiServer;
  readonly made: string[];
  /** True while nothing can be connected. */
  isAway: boolean;
  write(name: string, kubeconfig: string, labels?: Record<string, string>): void;
  stop(): Promise<void>;
} & AsyncDisposable {
  const hub = new FakeApiServer();
  const client = new Client({ server: "http://hub", transport: hub, namespace: "fleet", retries: 0 });
  const made: string[] = [];
  let isAway = false;
  const stop = new AbortController();
  const running = followClusterSecrets(clusters.set, client, {
    signal: stop.signal,
    connect: (text, name) => {
      if (isAway || text.startsWith("bad")) throw new Error(`refused ${text}`);
      made.push(`${name} ${text}`);
      return clusters.client(name);
    },
  });
  async function end(): Promise<void> {
    if (stop.signal.aborted) return;
    stop.abort();
    await clusters.during(running);
    client[Symbol.dispose]();
    hub[Symbol.dispose]();
  }
  return {
    stop: end,
    [Symbol.asyncDispose]: end,
    hub,
    made,
    set isAway(value: boolean) {
      isAway = value;
    },
    write(name, kubeconfig, labels = LABELS): void {
      const data = { kubeconfig: btoa(kubeconfig) };
      const draft = { metadata: { name, namespace: "fleet", labels }, data };
      if (hub.get(Secret, `fleet/${name}`) === undefined) hub.create(Secret, draft);
      else hub.patch(Secret, `fleet/${name}`, draft);
    },
  };
}

Deno.test("followClusterSecrets adds, replaces and removes the clusters of Secrets", async () => {
  await using clusters = new Clusters();
  await using secrets = follow(clusters);
  secrets.write("berlin", "v1");
  secrets.write("other", "v1", {});
  await clusters.pass();
  assertEquals([clusters.set.names, secrets.made.splice(0)], [["berlin"], ["berlin v1"]]);
  const first = clusters.set.client("berlin");
  secrets.write("paris", "v1");
  secrets.hub.annotate(Secret, "fleet/berlin", { n: "1" }); // the same kubeconfig
  await clusters.pass();
  assertEquals([clusters.set.names, secrets.made.splice(0)], [["berlin", "paris"], ["paris v1"]]);
  assertEquals(clusters.set.client("berlin"), first);
  secrets.write("berlin", "v2");
  await clusters.pass();
  assertEquals([clusters.set.names, secrets.made.splice(0)], [["paris", "berlin"], ["berlin v2"]]);
  assertEquals(clusters.set.client("berlin") === first, false);
  secrets.hub.delete(Secret, "fleet/paris");
  secrets.write("berlin", "v2", { "sigs.k8s.io/multicluster-runtime-kubeconfig": "false" });
  await clusters.pass();
  assertEquals(clusters.set.names, []);
  secrets.write("rome", "v1");
  await clusters.pass();
  await secrets.stop();
  assertEquals([clusters.set.names, clusters.errors], [["rome"], []]);
});

Deno.test("followClusterSecrets reports what cannot be used, and keeps the cluster that there was before", async () => {
  await using clusters = new Clusters();
  clusters.add("taken");
  await using secrets = follow(clusters);
  for (const [name, text] of [["berlin", "v1"], ["paris", "bad 1"], ["taken", "v1"]]) secrets.write(name, text);
  await clusters.pass();
  assertEquals(clusters.set.names, ["taken", "berlin"]);
  assertEquals(clusters.errors.splice(0).sort(), [
    `paris -: Cannot use the kubeconfig of Secret "fleet/paris"`,
    `taken -: Cannot use the kubeconfig of Secret "fleet/taken"`,
  ]);
  secrets.write("berlin", "bad 2");
  secrets.write("paris", "v2");
  await clusters.pass();
  assertEquals(clusters.set.names, ["taken", "berlin", "paris"]);
  assertEquals(clusters.errors.splice(0), [`berlin -: Cannot use the kubeconfig of Secret "fleet/berlin"`]);
  secrets.hub.delete(Secret, "fleet/berlin");
  secrets.hub.delete(Secret, "fleet/taken"); // which was not added
  await clusters.pass();
  assertEquals(clusters.set.names, ["taken", "paris"]);
  await secrets.stop();
});

Deno.test("followClusterSecrets tries a Secret again that could not be used: with growing waits, and when it changes", async () => {
  await using clusters = new Clusters({ backoff: { initialMs: 1_000, factor: 2, jitter: 0, maxMs: 10_000 } });
  clusters.add("taken");
  await using secrets = follow(clusters);
  secrets.isAway = true;
  secrets.write("berlin", "v1");
  await clusters.pass(7_100); // at 0, 1, 3 and 7 s
  const failure = `berlin -: Cannot use the kubeconfig of Secret "fleet/berlin"`;
  assertEquals([clusters.set.names, clusters.errors.splice(0)], [["taken"], Array(4).fill(failure)]);
  secrets.hub.annotate(Secret, "fleet/berlin", { n: "1" });
  await clusters.pass();
  assertEquals(clusters.errors.splice(0), [failure]);
  secrets.isAway = false;
  await clusters.pass(9_000);
  assertEquals(secrets.made, []); // the wait began anew, and has grown to 10 s
  await clusters.pass(1_000);
  assertEquals([clusters.set.names, secrets.made.splice(0)], [["taken", "berlin"], ["berlin v1"]]);
  // Waits are short again after a success, and a name is free in the end.
  secrets.write("berlin", "bad");
  secrets.write("taken", "v1");
  await clusters.pass();
  assertEquals(clusters.errors.splice(0).length, 2);
  await clusters.during(clusters.set.remove("taken"));
  await clusters.pass(1_000);
  assertEquals([clusters.set.names, clusters.errors.splice(0)], [["berlin", "taken"], [failure]]);
  // What is as it was, or gone, is not tried again.
  secrets.write("berlin", "v1");
  secrets.write("rome", "bad");
  await clusters.pass();
  assertEquals(clusters.errors.splice(0).length, 1);
  secrets.hub.delete(Secret, "fleet/rome");
  await clusters.pass(60_000);
  assertEquals([clusters.set.names, clusters.errors], [["berlin", "taken"], []]);
  secrets.write("rome", "bad"); // its wait ends with the signal
  await clusters.pass();
  assertEquals(clusters.errors.length, 1);
});

Deno.test("followClusterSecrets makes a cluster anew where a handler of the one before does not return", async () => {
  await using clusters = new Clusters({ graceMs: 1_000 });
  await using secrets = follow(clusters);
  const call = Promise.withResolvers<void>();
  clusters.set.forResource(ConfigMap).addEventHandler({ onAdd: () => call.promise });
  clusters.set.start();
  secrets.write("berlin", "v1");
  await clusters.pass();
  secrets.write("berlin", "v2");
  await clusters.pass(10_000);
  assertEquals([clusters.set.names, secrets.made], [["berlin"], ["berlin v1", "berlin v2"]]);
  const why = `Cannot finish handler "handler 1": its call has not returned within 1000 ms`;
  assertEquals(clusters.errors, [`berlin configmaps: ${why}`, `berlin -: ${why}`]);
  call.resolve();
  await secrets.stop();
});
