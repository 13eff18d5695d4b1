/** The runs of the programs in `docs/jobs`: each asserts the claims of its page. @module */
import { assert, assertEquals, assertMatch } from "@std/assert";
import type { PlacedRule } from "../../src/engine/api/roles.ts";
import { Deployment, ReplicaSet } from "../../src/engine/kinds/apps/v1.ts";
import { Job } from "../../src/engine/kinds/batch/v1.ts";
import { Namespace, Pod, Secret } from "../../src/engine/kinds/core/v1.ts";
import { ownerReferenceTo } from "../../src/operator/controllers/reconcile/mod.ts";
import { deployment, FakeApiServer, namespace, pod } from "../../src/testing/mod.ts";
import { assertAccess } from "../../src/testing/roles.ts";
import { answers, quotasRun, serviceRun } from "../support/processes/job_runs.ts";
import { ROOT } from "../support/texts/pages.ts";
import type { Run } from "./_run.ts";

/** Asserts that the role of a page grants the requests, and grants nothing else. */
function assertRole(page: string, { requests }: FakeApiServer): void {
  const text = Deno.readTextFileSync(new URL(`docs/jobs/${page}`, ROOT));
  const [, manifests] = /^```yaml\n([^]*?)^```$/m.exec(text)!;
  const used = requests.filter(({ resource }) => resource !== "").map((request): PlacedRule => {
    const [, group = ""] = /^\/apis\/([^/]+)/.exec(request.path) ?? [];
    const { verb, resource, namespace, path, query } = request;
    const [, name = path.split("/").at(-1)!] = /^metadata\.name=(.*)$/.exec(query.get("fieldSelector") ?? "") ?? [];
    const names = name === resource ? undefined : [name];
    return { verbs: [verb], groups: [group], resources: [resource], namespace, names };
  });
  assertAccess(used, manifests);
  const granted = [...manifests.matchAll(/resources: \[(\w+)\].* verbs: \[(.*?)\]/g)]
    .flatMap(([, resource, verbs]) => verbs.split(", ").map((verb) => `${verb} ${resource}`));
  // A watch may begin with the list, if the server can do that.
  const needed = used.flatMap(({ verbs: [verb], resources }) =>
    (verb === "watch" ? ["list", verb] : [verb]).map((it) => `${it} ${resources}`)
  );
  assertEquals(new Set(granted), new Set(needed));
}

const secret = { metadata: { name: "registry", namespace: "platform" }, data: { key: "b25l" } } as const;

/** Waits for the data of a Secret, or until there is none. */
async function data(server: FakeApiServer, key: string, value: string | undefined): Promise<void> {
  await server.until(Secret, key, (found) => found?.data?.key === value, { timeoutMs: 60_000 });
}

const READY = [{ type: "Ready", status: "True" }] as const;

/** A Deployment with a ReplicaSet and a pod, and another one that is not touched. */
function rollouts(): FakeApiServer {
  const server = new FakeApiServer();
  const labels = { app: "web" };
  const spec = { containers: [{ name: "app", image: "web:2" }] };
  const template = { metadata: { labels }, spec };
  const replicated = { replicas: 1, selector: { matchLabels: labels }, template };
  server.create(Deployment, deployment({ name: "other", namespace: "shop", replicas: 1 }));
  const { metadata } = deployment({ name: "web", namespace: "shop" });
  const status = { observedGeneration: 1, replicas: 1, updatedReplicas: 1, readyReplicas: 0, availableReplicas: 0 };
  const owner = server.create(Deployment, { metadata, spec: replicated, status });
  const replicaSet = server.create(ReplicaSet, {
    metadata: { name: "web-1", namespace: "shop", ownerReferences: [ownerReferenceTo(owner, { controller: true })] },
    spec: replicated,
  });
  const ownerReferences = [ownerReferenceTo(replicaSet, { controller: true })];
  server.create(Pod, { metadata: { name: "web-1-x", namespace: "shop", labels, ownerReferences }, spec });
  return server;
}

/** Lets the pod of a rollout crash. */
function crash(server: FakeApiServer, message: string): void {
  const state = { waiting: { reason: "CrashLoopBackOff", message } };
  const app = { name: "app", image: "web:2", imageID: "", ready: false, restartCount: 3, state };
  server.patch(Pod, "shop/web-1-x", { status: { phase: "Running", containerStatuses: [app], conditions: [] } });
}

/** A Job that has ended in that way, so many days ago. */
function job(server: FakeApiServer, name: string, type: "Complete" | "Failed" | "Suspended", days: number): void {
  const template = { spec: { containers: [{ name: "a", image: "a" }], restartPolicy: "Never" } } as const;
  server.create(Job, { metadata: { name, namespace: "shop" }, spec: { template } });
  const lastTransitionTime = new Date(Date.now() - days * 86_400_000).toISOString().replace(/\.\d+/, "");
  server.patch(Job, `shop/${name}`, { status: { conditions: [{ type, status: "True", lastTransitionTime }] } });
}

function jobs(): FakeApiServer {
  const server = new FakeApiServer();
  job(server, "old", "Complete", 8);
  job(server, "failed", "Failed", 9);
  job(server, "new", "Complete", 6);
  job(server, "suspended", "Suspended", 30);
  return server;
}

/** The messages that were received. */
function messages(bodies: readonly string[]): string[] {
  return bodies.map((body) => JSON.parse(body).text);
}

/** The lines that Loki has received, each with its labels. */
function logLines(bodies: readonly string[]): string[] {
  return bodies.flatMap((body) =>
    JSON.parse(body).streams.flatMap(({ stream, values }: { stream: object; values: [time: string, text: string][] }) =>
      values.map(([time, text]) => `${Object.values(stream).join("/")} ${time} ${text}`)
    )
  );
}

export const JOBS: Readonly<Record<string, Run>> = {
  "service.ts": {
    args: ["0", "3000"],
    first: /^http:.*\n/,
    ends: true,
    server: () => {
      const server = new FakeApiServer();
      server.create(Pod, pod({ name: "web-0", namespace: "shop" }));
      return server;
    },
    expect: async ({ server, program }) => {
      await serviceRun(server, program);
      assertRole("service-in-kubernetes.md", server);
    },
  },
  "copy_secret.ts": {
    args: ["platform/registry"],
    errors: /^shop\/registry is not a copy, and stays as it is\n/gm,
    server: () => {
      const server = new FakeApiServer();
      for (const name of ["platform", "shop", "data"]) server.create(Namespace, namespace({ name }));
      server.create(Secret, secret);
      server.create(Secret, { metadata: { name: "registry", namespace: "shop" }, data: { key: "b3du" } });
      server.create(Secret, { metadata: { name: "other", namespace: "data" }, data: { key: "b3RoZXI=" } });
      return server;
    },
    expect: async ({ server }) => {
      await data(server, "data/registry", "b25l");
      server.create(Namespace, namespace({ name: "later" }));
      await data(server, "later/registry", "b25l");
      server.patch(Secret, "platform/registry", { data: { key: "dHdv" } });
      await data(server, "data/registry", "dHdv");
      await data(server, "later/registry", "dHdv");
      server.patch(Secret, "data/registry", { data: { key: "YmFk" } });
      await data(server, "data/registry", "dHdv");
      server.delete(Secret, "data/registry");
      await data(server, "data/registry", "dHdv");
      assertEquals(server.get(Secret, "shop/registry")?.data, { key: "b3du" });
      server.delete(Secret, "shop/registry"); // by its owner
      await data(server, "shop/registry", "dHdv");
      server.delete(Secret, "shop/registry");
      server.create(Secret, { metadata: { name: "registry", namespace: "shop" }, data: { key: "b3du" } });
      server.delete(Secret, "platform/registry");
      for (const key of ["data/registry", "later/registry"]) {
        await server.until(Secret, key, (found) => found === undefined, { timeoutMs: 60_000 });
      }
      assertEquals(server.get(Secret, "shop/registry")?.data, { key: "b3du" });
      assertEquals(server.get(Secret, "data/other")?.data, { key: "b3RoZXI=" });
      assertRole("copy-objects.md", server);
    },
  },
  "stuck_rollouts.ts": {
    args: ["RECEIVER"],
    errors: /^handler of onChange\(\): The webhook responds with 500\n/gm,
    server: rollouts,
    expect: async ({ server, receiver }) => {
      while (server.watches < 5) await new Promise((resolve) => server.afterNext(resolve));
      receiver.status = 500;
      crash(server, "back-off 10s");
      await receiver.until(() => receiver.refused > 0);
      receiver.status = 204;
      await receiver.until(() => receiver.bodies.length === 1); // again, although nothing has changed
      crash(server, "back-off 20s"); // is not told, as the next message shows, which comes after it
      const late = { type: "Progressing", status: "False", reason: "ProgressDeadlineExceeded" } as const;
      server.patch(Deployment, "shop/other", { status: { conditions: [late] } });
      await receiver.until(() => receiver.bodies.length === 2);
      const is = { status: "True", reason: "NewReplicaSetAvailable" } as const;
      const conditions = [{ type: "Available", ...is }, { type: "Progressing", ...is }];
      const status = { replicas: 1, updatedReplicas: 1, readyReplicas: 1, availableReplicas: 1, conditions };
      server.patch(Pod, "shop/web-1-x", { status: { phase: "Running", containerStatuses: null, conditions: READY } });
      server.patch(Deployment, "shop/web", { status });
      await receiver.until(() => receiver.bodies.length === 3);
      crash(server, "back-off 10s");
      server.patch(Deployment, "shop/web", { status: { readyReplicas: 0, availableReplicas: 0 } });
      await receiver.until(() => receiver.bodies.length === 4);
      const pod = "web-1-x: CrashLoopBackOff: container app: back-off 10s, 3 restarts";
      const stuck = "shop/Deployment:web is stuck: CrashLoopBackOff: pod web-1-x: container app: back-off 10s";
      assertEquals(messages(receiver.bodies), [
        `${stuck}\n${pod}`,
        "shop/Deployment:other is stuck: ProgressDeadlineExceeded: it has made no progress within progressDeadlineSeconds",
        "shop/Deployment:web has recovered",
        `${stuck}\n${pod}`,
      ]);
    },
  },
  "clean_up.ts": {
    args: ["7"],
    ends: true,
    server: jobs,
    expect: async (run) => {
      const { server, again } = run;
      const printed = async (): Promise<string> => {
        assertEquals(await run.program.code, 0, run.program.err.text);
        return run.program.out.text.replaceAll(/: (Complete|Failed) \S+Z$/gm, " $1");
      };
      const deletions = (): object[] =>
        server.requests.filter(({ verb }) => verb === "delete").map(({ body }) => JSON.parse(body!).dryRun);
      const [failed, old] = ["shop/failed would be deleted Failed", "shop/old would be deleted Complete"];
      assertEquals(await printed(), `${failed}\n${old}\n2 Jobs would be deleted: add --delete\n`);
      assertEquals([server.keys(Job).length, deletions()], [4, [["All"], ["All"]]]); // the server has checked each
      server.beforeNext(() => server.annotate(Job, "shop/failed", { "example.com/keep": "yes" }), 1, ({ verb }) => {
        return verb === "delete";
      });
      await again(["7", "--delete"]);
      assertEquals(await printed(), "shop/old is deleted Complete\n1 Jobs are deleted\n"); // the other has changed
      assertEquals(server.keys(Job), ["shop/failed", "shop/new", "shop/suspended"]);
      assertEquals(server.requests.at(-1)?.body?.includes('"propagationPolicy":"Background"'), true);
      await again(["7", "--delete"]);
      assertEquals(await printed(), "shop/failed is deleted Failed\n1 Jobs are deleted\n");
      await again(["7", "--delete"]);
      assertEquals(await printed(), "0 Jobs are deleted\n");
      assertRole("clean-up.md", server);
    },
  },
  "ship_logs.ts": {
    args: ["RECEIVER", "FOLDER", "app=web"],
    errors: /^informer of "pods": .*The endpoint responds with 503\n/gm,
    server: () => {
      const server = new FakeApiServer();
      server.create(Pod, pod({ name: "web-0", namespace: "shop", labels: { app: "web" } }));
      server.create(Pod, pod({ name: "db-0", namespace: "shop", labels: { app: "db" } }));
      return server;
    },
    expect: async ({ server, receiver, again }) => {
      const has = (text: string): Promise<void> =>
        receiver.until(() => logLines(receiver.bodies).some((line) => line.endsWith(` ${text}`)));
      server.writeLog("shop/db-0", "other");
      server.writeLog("shop/web-0", "one", { time: "2026-01-31T12:00:00.5Z" });
      await has("one");
      assertEquals(logLines(receiver.bodies)[0], "shop/web-0/app 1769860800500000000 one");
      await again();
      server.writeLog("shop/web-0", "two"); // while it starts
      await has("two");
      receiver.status = 503;
      server.writeLog("shop/web-0", "three");
      await receiver.until(() => receiver.refused > 0);
      await again(); // killed, with a line that has not arrived
      server.writeLog("shop/web-0", "four");
      receiver.status = 204;
      await has("three");
      await has("four");
      server.restartContainer("shop/web-0");
      server.writeLog("shop/web-0", "five");
      await has("five");
      const texts = logLines(receiver.bodies).map((line) => line.split(" ")[2]);
      assertEquals([...new Set(texts)], ["one", "two", "three", "four", "five"]);
    },
  },
  "team_metrics.ts": {
    args: ["0"],
    first: /^http:.*\n/,
    server: () => {
      const server = new FakeApiServer();
      for (const [name, memory] of [["a", "128Mi"], ["b", "256Mi"]]) {
        server.create(Pod, {
          metadata: { name, namespace: "shop", labels: { team: "shop" } },
          spec: { containers: [{ name: "a", image: "a", resources: { requests: { memory } } }] },
          status: { phase: "Running" },
        });
      }
      server.create(Pod, pod({ name: "none", namespace: "shop", phase: "Failed" }));
      return server;
    },
    expect: async ({ server, program, prints }) => {
      await prints(/^http:/);
      const address = program.out.text.trim();
      await answers(new URL("/readyz", address).href, (status) => status === 200);
      const response = await fetch(address);
      assertMatch(response.headers.get("content-type")!, /^application\/openmetrics-text; version=1\.0\.0/);
      const text = await response.text();
      const page = Deno.readTextFileSync(new URL("docs/jobs/metrics-from-a-cache.md", ROOT));
      const [, shown] = /^```text\n([^]*?)^```$/m.exec(page)!;
      assert(text.includes(shown), text);
      for (const line of ['team_pods{team="shop",phase="Running"} 2', 'team_pods{team="",phase="Failed"} 1', "# EOF"]) {
        assert(text.split("\n").includes(line), text);
      }
      server.patch(Pod, "shop/b", { metadata: { labels: { team: "data" } } });
      await answers(address, (_, text) => text.includes('team_memory_bytes{team="data"} 268435456\n'));
    },
  },
  "quotas.ts": {
    server: () => {
      const server = new FakeApiServer();
      server.create(Namespace, namespace({ name: "shop", labels: { team: "a" } }));
      server.create(Namespace, namespace({ name: "other" }));
      return server;
    },
    expect: ({ server }) => quotasRun(server),
  },
};
