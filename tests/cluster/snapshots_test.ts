// Caches that begin from a snapshot, on a real server: its audit log shows the lists. examples/deno_deploy runs as on
// Deno Deploy.
import { Client, findResource, type KubernetesObject, MemorySnapshots, SharedInformerFactory } from "@kube/informer";
import { Pod } from "@kube/informer/kinds/core/v1";
import { FakeApiServer, pod } from "@kube/informer/testing";
import { assert, assertEquals, assertMatch } from "@std/assert";
import { delay } from "@std/async";
import { loadAll } from "js-yaml";
import { errorLine } from "../../src/engine/errors/errors.ts";
import { untilStatus, withDeadline } from "../support/cluster/with_deadline.ts";
import { podDraft } from "../support/cluster/writers.ts";
import { Program } from "../support/processes/program.ts";
import { clusterTests, MINOR, report, seconds, STREAMS } from "./_cluster.ts";
import { Issuer } from "./_issuer.ts";
import { hasFeature } from "./_versions.ts";

const FOLDER = Deno.makeTempDirSync({ prefix: "informer-snapshots-" });
const AUDIT = `${FOLDER}/audit.log`;
const EXAMPLE = new URL("../../examples/deno_deploy/", import.meta.url);
const USER = "deno:deployment:acme/dash/production";

let issuer: Issuer;
Deno.test.beforeAll(async () => {
  issuer = await Issuer.start();
  const authority = issuer.certificates.text("ca.crt").trim().replaceAll("\n", "\n        ");
  const template = await Deno.readTextFile(new URL("authentication.yaml", EXAMPLE));
  const isOld = MINOR !== undefined && !hasFeature(MINOR, "AuthenticationConfiguration v1");
  const text = template.replace(
    "https://oidc.deno.com",
    `${issuer.url}\n      certificateAuthority: |\n        ${authority}`,
  )
    .replace("requiredValue: ORG", "requiredValue: acme")
    .replace(/(?<=^apiVersion: .*\/)v1$/m, isOld ? "v1beta1" : "v1");
  await Deno.writeTextFile(`${FOLDER}/authentication.yaml`, text);
  await Deno.writeTextFile(
    `${FOLDER}/audit.yaml`,
    "apiVersion: audit.k8s.io/v1\nkind: Policy\nomitStages: [RequestReceived]\nrules: [{level: Metadata}]\n",
  );
  const { imports } = JSON.parse(await Deno.readTextFile(new URL("../../deno.json", import.meta.url)));
  const oidc = `export const getIdToken = async (audience) =>
    await (await fetch(${JSON.stringify(issuer.tokenUrl)} + "?audience=" + encodeURIComponent(audience))).text();`;
  await Deno.writeTextFile(`${FOLDER}/oidc.js`, oidc);
  await Deno.writeTextFile(
    `${FOLDER}/imports.json`,
    JSON.stringify({ imports: { ...imports, "jsr:@deno/oidc": `${FOLDER}/oidc.js` } }),
  );
});
const cluster = clusterTests({
  flags: [
    `--authentication-config=${FOLDER}/authentication.yaml`,
    ...[`--audit-policy-file=${FOLDER}/audit.yaml`, `--audit-log-path=${AUDIT}`],
  ],
});
Deno.test.afterAll(async () => {
  await issuer[Symbol.asyncDispose]();
  await Deno.remove(FOLDER, { recursive: true });
});

/** A request for pods in the audit log. */
interface Audited {
  readonly auditID: string;
  readonly verb: string;
  readonly requestURI: string;
  readonly user: { readonly username: string };
}

/** The requests of a user for pods, each once: `"list"` for a streaming list too. */
async function audited(username: string): Promise<string[]> {
  const events = (await Deno.readTextFile(AUDIT)).trim().split("\n").map((line) => JSON.parse(line) as Audited);
  const requests = new Map(events.map((event) => [event.auditID, event]));
  return [...requests.values()].filter(({ user, requestURI }) =>
    user.username === username && /\/pods[/?]/.test(requestURI)
  ).map(({ verb, requestURI }) =>
    requestURI.includes("sendInitialEvents=true")
      ? "list"
      : requestURI.includes("fieldSelector=metadata.name")
      ? "ask"
      : verb
  );
}

/** A port that is free now. */
function freePort(): number {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  return (listener.addr as Deno.NetAddr).port;
}

interface Answer {
  readonly state: string;
  readonly items: readonly KubernetesObject[];
}

/** Asks a relay until its answer `holds`. */
function answer(url: string, token: string, holds: (answer: Answer) => boolean): Promise<Answer> {
  return withDeadline(`an answer of ${url}`, async (signal) => {
    for (;;) {
      try {
        const response = await fetch(url, { headers: { authorization: `Bearer ${token}` }, signal });
        const found = response.ok ? await response.json() as Answer : await response.body?.cancel();
        if (found && holds(found)) return found;
      } catch (error) {
        if (!(error instanceof TypeError)) throw error; // it does not listen yet
      }
      await delay(20, { signal });
    }
  });
}

async function allow(client: Client): Promise<void> {
  for (const object of loadAll(await Deno.readTextFile(new URL("cluster.yaml", EXAMPLE))) as KubernetesObject[]) {
    const text = JSON.stringify(object).replace("ORG/APP", "acme/dash");
    const resource = findResource(await client.discover(), object.kind!)!;
    await client.resource(resource).create(JSON.parse(text), { fieldValidation: "Strict" }).catch((error) => {
      if (error.status?.code !== 409) throw error;
    });
  }
}

/** The path of a Deno of another version, by npm; `undefined` where npm cannot get it. */
async function otherDeno(version: string): Promise<string | undefined> {
  const command = new Deno.Command("npx", {
    args: ["-y", `deno@${version}`, "eval", "console.log(Deno.execPath())"],
    stderr: "null",
  });
  const { success, stdout } = await command.output().catch(() => ({ success: false, stdout: new Uint8Array() }));
  return success ? new TextDecoder().decode(stdout).trim() : undefined;
}

for (const version of [undefined, "2.5.0"]) {
  cluster.withPlane(
    `examples/deno_deploy signs in by OpenID Connect, and after a stop serves its snapshot and resumes without a list, with ${
      version === undefined ? "this Deno" : `Deno ${version}`
    }`,
    async ({ client, plane, namespace }) => {
      const deno = version === undefined ? Deno.execPath() : await otherDeno(version);
      if (deno === undefined) return console.error(`NOT RUN: npm has no Deno ${version} here`);
      await allow(client);
      const pods = client.resource(Pod, { namespace });
      for (const name of ["a", "b", "c"]) await pods.create(podDraft(name));
      const before = (await audited(USER)).length;
      const folder = await Deno.makeTempDir({ dir: FOLDER });
      /** Starts the program, and ends it by SIGINT after `use`. */
      const run = async (use: (url: string) => Promise<void>): Promise<void> => {
        const port = freePort();
        await using program = new Program(
          "examples/deno_deploy/main.ts",
          [],
          {
            ...{ DENO_DEPLOY: "true", DENO_KV_DEFAULT_PATH: `${folder}/kv`, PORT: String(port), VIEW_TOKEN: "viewer" },
            ...{ CLUSTER_SERVER: plane.url, CLUSTER_CA: await Deno.readTextFile(`${plane.folder}/ca.crt`) },
            CLUSTER_AUDIENCE: "https://my-cluster",
          },
          ["-A", "--unstable-kv", "--no-check", "--no-lock", `--import-map=${FOLDER}/imports.json`],
          deno,
        );
        await use(`http://127.0.0.1:${port}/api/pods?namespace=${namespace}`);
        program.kill("SIGINT");
        const at = performance.now();
        const { code, errors } = await program.ended();
        report(`ended ${seconds(at)} after SIGINT`);
        assertEquals([code, errors.split("\n").filter((line) => /error|cannot/i.test(line))], [0, []]);
        assert(performance.now() - at < 5_000);
      };
      await run(async (url) => {
        await answer(url, "viewer", ({ state, items }) => state === "live" && items.length === 3);
        const refused = await fetch(url); // without the token of viewers
        await refused.body?.cancel();
        assertEquals(refused.status, 403);
        await delay(1_500);
      });
      await pods.delete("c", { gracePeriodSeconds: 0 });
      await run(async (url) => {
        const { items } = await answer(url, "viewer", () => true);
        assertEquals(items.length >= 2, true); // the snapshot, or already what follows it
        await answer(url, "viewer", ({ state, items }) => state === "live" && items.length === 2);
      });
      // A streaming list is refused, or followed as a watch.
      const listed = STREAMS ? ["list"] : ["list", "list", "watch"];
      assertEquals((await audited(USER)).slice(before).sort(), ["ask", "ask", ...listed, "watch"]);
    },
  );
}

cluster.withPlane(
  "a restored cache whose version has expired is listed, and handlers receive what was deleted and changed",
  async (
    { client, plane, namespace },
  ) => {
    const pods = client.resource(Pod, { namespace });
    for (const name of ["a", "b"]) await pods.create(podDraft(name));
    const snapshots = { store: new MemorySnapshots() };
    {
      await using informers = new SharedInformerFactory(client, { snapshots });
      using held = informers.acquire(Pod, { namespace });
      await held.informer.waitForCacheSync();
    }
    await pods.delete("a", { gracePeriodSeconds: 0 });
    await pods.patch("b", { type: "merge", body: { metadata: { labels: { changed: "yes" } } } });
    await plane.kill9("apiserver"); // its watch cache begins anew
    await plane.ensureRunning();
    await using informers = new SharedInformerFactory(client, { snapshots });
    const seen: string[] = [];
    using held = informers.acquire(Pod, { namespace });
    held.addEventHandler({
      onAdd: ({ key, initial }) => void seen.push(`+ ${key} ${initial}`),
      onUpdate: ({ key, object, previous }) =>
        void seen.push(`~ ${key} ${previous.metadata.labels?.changed} → ${object.metadata.labels?.changed}`),
      onDelete: ({ key, finalStateUnknown }) => void seen.push(`- ${key} ${finalStateUnknown}`),
    });
    await untilStatus(held.informer, "live", ({ state }) => state === "live");
    await withDeadline("the events", async (signal) => {
      while (seen.length < 4) await delay(20, { signal });
    });
    assertEquals(seen.slice(0, 2), [`+ ${namespace}/a true`, `+ ${namespace}/b true`]);
    assertEquals(seen.slice(2).sort(), [`- ${namespace}/a true`, `~ ${namespace}/b undefined → yes`]);
  },
);

cluster.withPlane(
  "a snapshot of versions that the server has not reached is listed anew",
  async ({ client, namespace }) => {
    const store = new MemorySnapshots();
    const selection = { namespace };
    {
      using fake = new FakeApiServer();
      fake.jump(999_999_999);
      fake.create(Pod, pod({ name: "gone", namespace }));
      using other = new Client({ server: "http://fake", transport: fake });
      await using informers = new SharedInformerFactory(other, { snapshots: { store, cluster: "one" } });
      using held = informers.acquire(Pod, selection);
      await held.informer.waitForCacheSync();
    }
    await client.resource(Pod, { namespace }).create(podDraft("there"));
    const errors: string[] = [];
    await using informers = new SharedInformerFactory(client, {
      snapshots: { store, cluster: "one" },
      onError: (error) => errors.push(errorLine(error)),
    });
    using held = informers.acquire(Pod, selection);
    const at = performance.now();
    await untilStatus(held.informer, "live", ({ state }) => state === "live");
    report(`live after ${seconds(at)}`);
    assertEquals([...held.informer.entries.keys()], [`${namespace}/there`]);
    assertMatch(errors[0], /the server does not have this state, because it has not reached version 1000000000/);
  },
);
