import type { KubernetesObject, Resource } from "@kube/informer";
import { Deployment } from "@kube/informer/kinds/apps/v1";
import { Pod, Secret } from "@kube/informer/kinds/core/v1";
import { deployment, FakeApiServer, pod } from "@kube/informer/testing";
import { assert, assertEquals, assertMatch } from "@std/assert";
import { byUid, replayed, untilText } from "../support/processes/recorded.ts";
import { Folder, serve } from "../support/servers/serve.ts";
import { json, run, Session } from "../support/processes/session.ts";

/** Records until `ready` of the lines of the file, and returns the lines. */
async function recorded(args: string[], path: string, ready: (text: string) => boolean): Promise<string[]> {
  const session = new Session(["record", ...args, "--out", path]);
  await session.err.line(/^recording/);
  await untilText(path, ready);
  session.interrupt();
  assertEquals(await session.code, 0, session.err.text);
  assertMatch(session.err.lines.at(-1)!, /^recorded \d+ lines, 0\.\d MB, in \d+s: /);
  return (await Deno.readTextFile(path)).trimEnd().split("\n");
}

Deno.test("informer record writes changes, a broken watch and a relist, of which a replay leaves the same objects", async () => {
  await using folder = new Folder();
  using server = new FakeApiServer();
  await using served = await serve(server);
  for (const name of ["web-0", "web-1", "web-2"]) server.create(Pod, pod({ name }));
  server.create(Deployment, deployment({ name: "web" }));
  const path = folder.file("incident.jsonl");
  let step = 0;
  const lines = await recorded(["pods,deploy", "-A", "--server", served.url], path, (text) => {
    if (step === 0 && (text.match(/LISTED/g) ?? []).length === 2) {
      step = 1;
      server.patch(Pod, "default/web-0", { metadata: { labels: { zone: "ü" } } });
      server.failWatches({ code: 500, message: "etcd is slow" }, Pod);
      server.create(Pod, pod({ name: "web-3" }));
    } else if (step === 1 && text.includes('"web-3"')) {
      step = 2;
      server.delete(Pod, "default/web-1");
      server.delete(Deployment, "default/web");
      server.create(Deployment, deployment({ name: "web" }));
      server.forceRelist();
      server.create(Pod, pod({ name: "last" }));
    }
    return step === 2 && text.includes('"last"') && (text.match(/"kind":1,"type":"LISTED"/g) ?? []).length === 2;
  });
  const [header, ...rest] = json(lines);
  assertEquals(header.kinds.map(({ plural }: Resource) => plural), ["pods", "deployments"]);
  assertEquals((await Deno.stat(path)).mode! & 0o777, 0o600);
  const failures = rest.filter(({ type }) => type === "ENDED").map(({ kind, error }) => `${kind} ${error.code}`);
  assertEquals(failures.toSorted(), ["0 410", "0 500", "1 410"]);
  for (const [i, { at }] of rest.entries()) assert(i === 0 || at >= rest[i - 1].at);
  for (const resource of [Pod, Deployment]) {
    assertEquals(await replayed(path, resource, Infinity), byUid(server.list<KubernetesObject>(resource)));
  }
});

Deno.test("informer record never writes the data of Secrets, and replaces the values of --redact", async () => {
  await using folder = new Folder();
  using server = new FakeApiServer();
  await using served = await serve(server);
  const applied = { "kubectl.kubernetes.io/last-applied-configuration": `{"data":"planted"}` };
  const metadata = { name: "login", annotations: applied };
  server.create(Secret, { metadata, data: { password: btoa("planted") }, type: "Opaque" });
  const env = [{ name: "TOKEN", value: "planted" }, { name: "OTHER", valueFrom: { fieldRef: { fieldPath: "a" } } }];
  server.create(Pod, { metadata: { name: "web", annotations: applied }, spec: { containers: [{ name: "a", env }] } });
  const path = folder.file("a.jsonl");
  const paths = ["spec.containers.env.value", "spec.nodeName"];
  const args = ["secrets,pods", "--server", served.url, ...paths.flatMap((path) => ["--redact", path])];
  const change = (): void => server.patch(Secret, "default/login", { data: { more: btoa("planted") } }) as never;
  let isChanged = false;
  const lines = await recorded(args, path, (text) => {
    if (!isChanged && (text.match(/LISTED/g) ?? []).length === 2) {
      isChanged = true;
      change();
    }
    return text.includes("MODIFIED");
  });
  for (const secret of ["planted", btoa("planted"), "managedFields"]) assert(!lines.join().includes(secret), secret);
  const [header, ...rest] = json(lines);
  assertEquals(header.redacted, paths);
  const [web] = rest.filter(({ object }) => object?.metadata.name === "web");
  assertEquals(web.object.spec.containers[0].env, [{ name: "TOKEN", value: "[redacted]" }, env[1]]);
});

Deno.test("informer record ends at --max-mb and after --timeout, with lines that are complete", async () => {
  await using folder = new Folder();
  const path = folder.file("a.jsonl");
  const full = await run("record", "pods", "-A", "--fake", "--out", path, "--max-mb", "0.02");
  assertEquals(full.code, 0);
  assertMatch(full.err[1], /has reached --max-mb 0\.02 MB; the recording ends$/);
  const text = await Deno.readTextFile(path);
  assert(text.length <= 20_000 && text.endsWith("}\n"), `${text.length}`);
  const timed = await run("record", "pods", "-A", "--fake", "--out", folder.file("b.jsonl"), "--timeout", "10ms");
  assertEquals([timed.code, timed.err.length], [0, 2]);
});

Deno.test("informer record refuses a file that exists, paths that identify objects, and what the server refuses", async () => {
  await using folder = new Folder();
  const [old, file] = [folder.write("old", "precious"), folder.file("new")];
  using server = new FakeApiServer({ authorize: ({ resource }) => resource !== "pods" });
  await using served = await serve(server);
  const cases: [number, RegExp, ...string[]][] = [
    [2, /^error: name the file to write with --out$/, "pods", "--fake"],
    [2, /^error: --out: ".*old" exists; name another file, or delete it$/, "pods", "--fake", "--out", old],
    [2, /--out: ".*" cannot be written: /, "pods", "--fake", "--out", folder.path + "/none/a"],
    [2, /--redact: "metadata.name" identifies objects/, "pods", "--fake", "--out", file, "--redact", "metadata.name"],
    [2, /--redact: Cannot read the field path "a..b"/, "pods", "--fake", "--out", file, "--redact", "a..b"],
    [2, /--max-mb must be a number/, "pods", "--fake", "--out", file, "--max-mb", "-1"],
    [3, /pods/, "pods", "--server", served.url, "--out", file],
  ];
  for (const [code, message, ...args] of cases) {
    const ended = await run("record", ...args);
    assertEquals([ended.code, ended.out], [code, []], ended.err.join("\n"));
    assertMatch(ended.err.at(-1)!, message);
  }
  assertEquals(await Deno.readTextFile(old), "precious");
});

Deno.test("informer fake --from plays a recording from the first watch on", async () => {
  await using folder = new Folder();
  const kinds = [{ group: "", version: "v1", plural: "pods", kind: "Pod", scope: "Namespaced" }];
  const object = { metadata: { namespace: "shop", name: "a", uid: "1", resourceVersion: "501" } };
  const path = folder.write(
    "incident.jsonl",
    [
      { recording: 1, startedAt: "2026-11-23T12:00:00.000Z", kinds, redacted: [] },
      { at: 1, kind: 0, type: "LIST" },
      { at: 1, kind: 0, type: "LISTED", resourceVersion: "500" },
      { at: 3_600_000, kind: 0, type: "ADDED", object },
    ].map((line) => JSON.stringify(line)).join("\n") + '\n{"at":3600001,"ki',
  );
  const session = new Session(["fake", "--from", path, "--speed", "1e6"]);
  await session.out.line(/^http:/);
  const pods = `${session.out.lines[0]}/api/v1/pods`;
  assertEquals((await (await fetch(pods)).json()).metadata.resourceVersion, "500");
  const { body } = await fetch(`${pods}?watch=true&resourceVersion=500`);
  for await (const text of body!.pipeThrough(new TextDecoderStream())) {
    assertEquals(JSON.parse(text).object.metadata, object.metadata);
    break;
  }
  await session.err.line(/^the recording is played up to where it is cut: line 5 has no end, after 1 changes; the/);
  session.interrupt();
  assertEquals(await session.code, 0);

  const early = new Session(["fake", "--from", path]);
  await early.out.line(/^http:/);
  early.interrupt();
  assertEquals(await early.code, 0);
  const cases: [RegExp, ...string[]][] = [
    [/--speed needs a recording/, "--speed", "2"],
    [/--from plays recorded objects; leave out --pods and --churn/, "--from", path, "--pods", "3"],
    [/--speed must be above 0, but it is 0/, "--from", path, "--speed", "0"],
    [
      /--from: ".*none" cannot be read: there is no such file; name a file of informer record$/,
      "--from",
      folder.file("none"),
    ],
  ];
  for (const [message, ...args] of cases) {
    const { code, err } = await run("fake", ...args);
    assertEquals(code, 2);
    assertMatch(err[0], message);
  }
});
