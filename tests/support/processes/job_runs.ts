/** Runs of programs in `docs/jobs` that exist for Deno and for Node. @module */
import { assertEquals } from "@std/assert";
import { Namespace, ResourceQuota } from "../../../src/engine/kinds/core/v1.ts";
import { type FakeApiServer, namespace } from "../../../src/testing/mod.ts";
import type { Process } from "./program.ts";

/** Resolves once `holds` for an answer to a request, which is sent again after each request of the program. */
export async function answers(address: string, holds: (status: number, text: string) => boolean): Promise<void> {
  for (;;) {
    const response = await fetch(address);
    if (holds(response.status, await response.text())) return;
  }
}

/** Starts a service that does not get its pods yet, and ends it by SIGTERM while it is asked. */
export async function serviceRun(server: FakeApiServer, program: Process): Promise<void> {
  const stalled = server.stallNext(1_000);
  const address = await program.until("the address", (line) => line.startsWith("http:"));
  await answers(`${address}/readyz`, (status, text) => status === 503 && /^pods: .*not synced/.test(text));
  await answers(`${address}/healthz`, (status) => status === 200);
  stalled[Symbol.dispose]();
  await answers(`${address}/readyz`, (status) => status === 200);
  await answers(`${address}/shop`, (_, text) => text === '{"pods":1}');
  program.kill("SIGTERM");
  await answers(`${address}/readyz`, (status, text) => status === 503 && text === "ending\n");
  await answers(`${address}/shop`, (status, text) => status === 200 && text === '{"pods":1}');
  assertEquals(await program.code, 0);
}

/** Plays changes against the program of the page about client-node, before or after. */
export async function quotasRun(server: FakeApiServer): Promise<void> {
  const hard = (key: string, pods: string): Promise<unknown> =>
    server.until(ResourceQuota, key, (found) => found?.spec?.hard?.pods === pods, { timeoutMs: 60_000 });
  await hard("shop/team", "50");
  server.create(Namespace, namespace({ name: "later", labels: { team: "b" } }));
  await hard("later/team", "50");
  server.patch(ResourceQuota, "shop/team", { spec: { hard: { pods: "9" } } });
  await hard("shop/team", "50");
  server.delete(ResourceQuota, "shop/team");
  await hard("shop/team", "50");
  assertEquals(server.keys(ResourceQuota), ["later/team", "shop/team"]);
}
