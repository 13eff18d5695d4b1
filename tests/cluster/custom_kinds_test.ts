// Types of a custom kind, generated from a real server, and a program that uses them there.
import { CustomResourceDefinition } from "@kube/informer/kinds/apiextensions/v1";
import { type Draft, SharedIndexInformer } from "@kube/informer";
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { CRONTAB_FILE, crontabDefinition } from "../support/crontab.ts";
import { GeneratedProgram } from "../support/generated_program.ts";
import { clusterTests, report } from "./_cluster.ts";
import { Program } from "../support/program.ts";

const cluster = clusterTests();

/**
 * Creates by a draft, applies, updates and patches, each seen by an informer; prints what the informer has in the end.
 */
const PROGRAM = `
import { Client, copyOf, type Draft, SharedInformerFactory, StatusError } from "@kube/informer";
import { connect } from "@kube/informer/deno";
import { CronTab } from "./kinds.ts";

const [kubeconfig, namespace] = Deno.args;
using client: Client = await connect({ kubeconfig });
await using informers = new SharedInformerFactory(client);
const informer = informers.forResource(CronTab);
informers.start();
await informer.waitForCacheSync();

const tabs = client.resource(CronTab, { namespace });
const draft: Draft<CronTab> = {
  metadata: { name: "nightly", labels: { tier: "batch" } },
  spec: {
    concurrency: "Forbid",
    cronSpec: "0 3 * * *",
    deadline: "2030-01-01T00:00:00Z",
    extra: [1, { a: true }],
    job: { apiVersion: "batch/v1", kind: "Job", metadata: { name: "dump", labels: { a: "b" } }, spec: { any: 1 } },
    labels: { a: "b" },
    note: null,
    port: "http",
    settings: { mode: "fast", other: { deep: [1] } },
    steps: [{ name: "a", image: "busybox" }],
    times: [3, 4],
  },
};
const created = await tabs.create(draft, { fieldValidation: "Strict" });
await tabs.apply(
  { metadata: { name: "nightly" }, spec: { steps: [{ name: "b", image: "alpine", protocol: "UDP" }], port: 8080 } },
  { fieldManager: "shop", force: true },
);
const copy = copyOf(await tabs.get("nightly"));
copy.spec.maxReplicas = 20;
await tabs.update(copy);
const patched = await tabs.patch("nightly", { type: "merge", body: { spec: { deadline: null, replicas: 7 } } });
const refusals: string[] = [];
for (
  const bad of [
    { ...draft, metadata: { name: "greedy" }, spec: { ...draft.spec, replicas: 99 } },
    { ...draft, metadata: { name: "foreign" }, spec: { ...draft.spec, job: { kind: "Job" } as typeof draft.spec.job } },
  ]
) {
  try {
    await tabs.create(bad);
  } catch (error) {
    if (!(error instanceof StatusError)) throw error;
    refusals.push(error.message);
  }
}
const seen: CronTab = await informer.until(({ metadata }) => metadata.resourceVersion === patched.metadata.resourceVersion);
console.log(JSON.stringify({ created: created.spec, seen: seen.spec, refusals }));
`;

cluster.withPlane(
  "informer kinds generates types of a custom kind, with which a program creates, applies and follows its objects",
  async ({ client, kubeconfig, namespace }) => {
    const definitions = client.resource(CustomResourceDefinition);
    await definitions.create(crontabDefinition() as Draft<CustomResourceDefinition>, { fieldValidation: "Strict" });
    await using informer = new SharedIndexInformer(definitions);
    informer.run();
    await informer.until(({ status }) =>
      status?.conditions?.some((it) => it.type === "Established" && it.status === "True") ?? false
    );
    await using command = new Program("src/cli/main.ts", ["kinds", "--kubeconfig", kubeconfig]);
    const { code, lines, errors } = await command.ended();
    assertEquals([code, errors], [0, ""]);
    await using file = new Program("src/cli/main.ts", ["kinds", "--file", CRONTAB_FILE]);
    const same = (await file.ended()).lines.map((line) => line.replace("crontab.yaml", "the definitions of a server"));
    assertEquals(lines, same, "the server's definition gives the same types as the file");

    await using program = new GeneratedProgram(lines.join("\n"), PROGRAM);
    assertEquals(await program.check(), { code: 0, out: "", err: "" });
    const ended = await program.run(kubeconfig, namespace);
    assertEquals(ended.code, 0, ended.err);
    const { created, seen, refusals } = JSON.parse(ended.out);
    assertEquals([created.replicas, created.maxReplicas, created.note], [1, 10, null]);
    assertEquals(created.steps, [{ name: "a", image: "busybox", protocol: "TCP" }]);
    assertEquals(seen.steps.map(({ name, protocol }: { name: string; protocol: string }) => [name, protocol]), [
      ["a", "TCP"],
      ["b", "UDP"],
    ]);
    assertEquals([seen.port, seen.maxReplicas, seen.replicas, seen.deadline], [8080, 20, 7, undefined]);
    assertEquals([seen.settings.other, seen.job.spec, seen.extra], [{ deep: [1] }, { any: 1 }, [1, { a: true }]]);
    assertEquals(refusals.length, 2);
    assertStringIncludes(refusals[0], "replicas must be at most maxReplicas");
    assert(/spec.job.apiVersion: Required|spec.job.*apiVersion/.test(refusals[1]), refusals[1]);
    report(`${lines.length} lines of types; refused as the types say: ${refusals[1]}`);
  },
);
