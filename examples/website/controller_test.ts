// controller_test.ts: tests the controller against a fake server.
import { Client } from "@kube/informer";
import { Deployment } from "@kube/informer/kinds/apps/v1";
import { Event } from "@kube/informer/kinds/events/v1";
import { EventRecorder, findCondition } from "@kube/informer/reconcile";
import { FakeApiServer } from "@kube/informer/testing";
import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { controller, NAME } from "./controller.ts";
import { rollOut } from "./fake_deployments.ts";
import { Website } from "./kinds.ts";

const KEY = "shop/blog";

/** Runs the controller with one Website on the server until `check` has returned. */
async function run(check: (server: FakeApiServer) => Promise<void>): Promise<void> {
  const server = new FakeApiServer();
  server.create(Website, {
    metadata: { namespace: "shop", name: "blog" },
    spec: { image: "nginx", replicas: 2 },
  });
  using client = new Client({ server: "http://fake", transport: server });
  await using events = new EventRecorder(client, { controller: NAME });
  await using reconciler = controller(client, events);
  const running = reconciler.run();
  await server.until(Deployment, KEY, (made) => made?.spec.replicas === 2);
  await check(server);
  await reconciler[Symbol.asyncDispose]();
  await running;
}

test("the controller creates a Deployment, and the Website becomes Ready with it", () =>
  run(async (server) => {
    const conditionOf = (it?: Website) => findCondition(it?.status?.conditions, "Ready");
    await server.until(Website, KEY, (it) => conditionOf(it)?.status === "False");
    rollOut(server, KEY);
    const ready = await server.until(Website, KEY, (it) => conditionOf(it)?.status === "True");
    equal(conditionOf(ready)?.message, "2 replicas are available");
    equal(ready?.status?.readyReplicas, 2);
    const applies = server.requests.filter(({ verb, resource }) => verb === "patch" && resource === "deployments");
    equal(applies.length, 1); // later reconciles had nothing to write
  }));

test("the Deployment follows each field of the spec", () =>
  run(async (server) => {
    server.patch(Website, KEY, { spec: { image: "nginx:1.29", replicas: 3 } });
    await server.until(
      Deployment,
      KEY,
      (made) => made?.spec.replicas === 3 && made.spec.template.spec?.containers[0].image === "nginx:1.29",
    );
  }));

test("the controller restores a changed or deleted Deployment, even if a write fails", () =>
  run(async (server) => {
    server.patch(Deployment, KEY, { spec: { replicas: 9 } });
    await server.until(Deployment, KEY, (made) => made?.spec.replicas === 2);
    server.failNext({ code: 409, reason: "Conflict" }, 1, ({ verb }) => verb === "patch");
    server.delete(Deployment, KEY);
    await server.until(Deployment, KEY, (made) => made?.spec.replicas === 2);
  }));

test("the Deployment is deleted with its owner", () =>
  run((server) => {
    server.delete(Website, KEY);
    server.collectGarbage(); // the fake server runs no controllers
    deepEqual(server.list(Deployment), []);
    return Promise.resolve();
  }));

test("an event reports ready pods, and a warning reports pods that are not ready in time", () =>
  run(async (server) => {
    const recorded = async (type: string, reason: string) => {
      while (!server.list(Event).some((event) => event.type === type && event.reason === reason)) {
        await new Promise((resolve) => server.afterNext(resolve));
      }
    };
    rollOut(server, KEY);
    await recorded("Normal", "Ready");
    const late = { type: "Progressing", status: "False", reason: "ProgressDeadlineExceeded" };
    server.patch(Deployment, KEY, { status: { conditions: [late] } });
    await recorded("Warning", "ProgressDeadlineExceeded");
  }));
