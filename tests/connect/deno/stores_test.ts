import { assert, assertEquals, assertInstanceOf, assertMatch, assertRejects, assertStringIncludes } from "@std/assert";
import type { CheckpointRecord } from "../../../src/api/stores.ts";
import { findConnection } from "../../../src/connect/deno/connect.ts";
import { FileCheckpoints, FileSnapshots, KvCheckpoints, KvSnapshots } from "../../../src/connect/deno/stores.ts";
import { KubeconfigError } from "../../../src/connect/kubeconfig/parse_kubeconfig.ts";
import { validityOf, validityProblem } from "../../../src/connect/kubeconfig/text.ts";
import { MemoryCheckpoints } from "../../../src/informer/events/checkpoint.ts";
import { makeCertificates, openssl } from "../../support/certificates.ts";
import { checkCheckpointStore } from "../../support/checkpoint_store.ts";
import { FakeTime } from "../../support/fake_time.ts";
import { ask, hostWith, writeKubeconfig } from "../../support/host.ts";
import { deno, printedBy } from "../../support/program.ts";
import { Folder } from "../../support/serve.ts";
import { serve } from "../../support/tls_server.ts";

/** Child programs import modules that need it. */
const CONFIG = new URL("../../../deno.json", import.meta.url).pathname;

/** Writes a text, or chunks of it and then an error. */
function set(store: FileSnapshots, name: string, chunks: readonly (string | Error)[]): Promise<boolean> {
  async function* bytes(): AsyncGenerator<Uint8Array> {
    for (const chunk of chunks) {
      if (typeof chunk !== "string") throw chunk;
      yield await Promise.resolve(new TextEncoder().encode(chunk));
    }
  }
  return store.set(name, { bytes: bytes(), version: "1", replacesNewer: false });
}

async function textOf(store: FileSnapshots, name: string): Promise<string | undefined> {
  const found = await store.get(name);
  return found && await new Response(ReadableStream.from(found)).text();
}

Deno.test("FileSnapshots keeps each snapshot in a file of its own, which others cannot read", async () => {
  await using folder = new Folder();
  const store = new FileSnapshots(folder.path);
  assertEquals(await textOf(store, "pods/v1"), undefined);
  const long = "x".repeat(9_000_000);
  await set(store, "pods/v1", ["old"]);
  await set(store, "pods/v1", [long, "end"]);
  await set(store, "pods/v1?labelSelector=a", ["other"]);
  assertEquals(await textOf(store, "pods/v1"), `${long}end`);
  const names = Array.from(Deno.readDirSync(folder.path), ({ name }) => name).sort();
  assertEquals(names, ["pods%2Fv1%3FlabelSelector%3Da.snapshot", "pods%2Fv1.snapshot"]);
  assertEquals((await Deno.stat(folder.file(names[1]))).mode! & 0o777, 0o600);
});

Deno.test("FileSnapshots and FileCheckpoints cut long names, which stay distinct", async () => {
  await using folder = new Folder();
  const store = new FileSnapshots(folder.path);
  const fields = Array.from({ length: 30 }, (_, i) => `status.conditions.field${i}`);
  const names = [...fields, "status.other"].map((_, i, all) => `pods/v1?fields=${all.toSpliced(i, 1).join()}`);
  for (const [i, name] of names.entries()) await set(store, name, [`${i}`]);
  for (const [i, name] of names.entries()) assertEquals(await textOf(store, name), `${i}`);
  const checkpoints = new FileCheckpoints(folder.path);
  const record = { holder: crypto.randomUUID(), version: "1", objects: new Map() };
  assert(await checkpoints.set(names[0], record, { stamp: undefined, keys: [] }) !== undefined);
  assertEquals((await checkpoints.get(names[0]))?.record, record);
  assertEquals(await checkpoints.get(names[1]), undefined);
  const files = Array.from(Deno.readDirSync(folder.path), ({ name }) => name);
  assertEquals(files.length, names.length + 1);
  assert(files.every((name) => name.length <= 200 && name.startsWith("pods%2Fv1%3Ffields%3Dstatus.")), files.join());
});

Deno.test("FileSnapshots names the reason for which a file cannot be written, also where it cannot be removed either", async () => {
  await using folder = new Folder();
  const store = new FileSnapshots(() => folder.file("a".repeat(260)));
  const error = await assertRejects(() => set(store, "pods/v1", ["new"]), Error, "Cannot write");
  assertStringIncludes((error.cause as Error).message, "File name too long");
});

Deno.test("FileSnapshots leaves the old file where the writing fails, or the snapshot is too large", async () => {
  await using folder = new Folder();
  const store = new FileSnapshots(() => folder.file("pods"), { maxBytes: 6 });
  await set(store, "pods/v1", ["old"]);
  const error = await assertRejects(() => set(store, "pods/v1", ["new", new Error("broken")]), Error, "Cannot write");
  assertEquals((error.cause as Error).message, "broken");
  await assertRejects(() => set(store, "pods/v1", ["1234", "567"]), RangeError, "more than 6 bytes");
  assertEquals(await textOf(store, "pods/v1"), "old");
  assertEquals([...Deno.readDirSync(folder.path)].length, 1);
});

Deno.test("FileSnapshots leaves the old file when the process is killed while it writes, and removes what that has left later", async () => {
  await using folder = new Folder();
  const store = new FileSnapshots(() => folder.file("pods"));
  await set(store, "pods/v1", ["old"]);
  const program = `
    import { FileSnapshots } from "${import.meta.resolve("../../../src/connect/deno/stores.ts")}";
    const bytes = (async function* () {
      yield new Uint8Array(1_000_000);
      console.log("writing");
      await new Promise((resolve) => setTimeout(resolve, 60_000));
    })();
    await new FileSnapshots(() => "${
    folder.file("pods")
  }").set("pods/v1", { bytes, version: "2", replacesNewer: false });`;
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--no-check", "--config", CONFIG, `data:text/typescript,${encodeURIComponent(program)}`],
    stdout: "piped",
  }).spawn();
  const reader = child.stdout.getReader();
  assertEquals(new TextDecoder().decode((await reader.read()).value), "writing\n");
  child.kill("SIGKILL");
  await child.status;
  await reader.cancel();
  assertEquals(await textOf(store, "pods/v1"), "old");
  const names = (): string[] => [...Deno.readDirSync(folder.path)].map(({ name }) => name).sort();
  const left = names().find((name) => /^pods\.[0-9a-f]{8}\.tmp$/.test(name))!;
  await Deno.writeTextFile(folder.file("pods.mine.tmp"), "not ours");
  await set(store, "pods/v1", ["new"]);
  assertEquals(names(), ["pods", left, "pods.mine.tmp"].sort()); // another process may be at it
  for (const name of [left, "pods.mine.tmp"]) await Deno.utime(folder.file(name), 0, Date.now() / 1_000 - 660);
  await set(store, "pods/v1", ["newer"]);
  assertEquals(names(), ["pods", "pods.mine.tmp"]);
});

Deno.test("FileSnapshots names the flags of Deno that are missing", async () => {
  await using folder = new Folder();
  const program = `
    import { FileSnapshots } from "${import.meta.resolve("../../../src/connect/deno/stores.ts")}";
    const store = new FileSnapshots("${folder.path}");
    const bytes = (async function* () {})();
    for (const call of [store.get("pods"), store.set("pods", { bytes, version: "", replacesNewer: false })]) {
      await call.catch((error) => console.log(error.message));
    }`;
  const url = `data:text/typescript,${encodeURIComponent(program)}`;
  const { out } = await deno(["run", "--no-check", "--no-prompt", "--config", CONFIG, url]);
  const flags = `--allow-read=${folder.path} --allow-write=${folder.path}`;
  assertMatch(
    out,
    new RegExp(`^Cannot read "[^"]*"; run Deno with ${flags}\nCannot write "[^"]*"; run Deno with ${flags}\n$`),
  );
});

Deno.test("KvSnapshots and KvCheckpoints name the flag that they need", async () => {
  for (const store of [KvSnapshots, KvCheckpoints]) {
    await assertRejects(() => store.open(), Error, "Cannot open Deno KV: run Deno with --unstable-kv");
  }
});

Deno.test("KvSnapshots switches snapshots in one step, leaves newer ones, and removes what is of no use any more", async () => {
  const program = new URL("./_kv_program.ts", import.meta.url);
  assertEquals(await printedBy(program, [], ["-A", "--unstable-kv", "--no-check"]), [
    null,
    ...[true, [3_000_000, 1], 51],
    ...[false, [3_000_000, 1], 51],
    ...[true, [3_000_000, 1]],
    ...[true, [400, 3], 2],
    ...[true, [200, 4], 2],
    ...[true, [300, 5]],
    ...["RangeError", [300, 5], 2],
    true,
    ...[[1_800_000, 9], 31],
    ...[33, true, 2],
    ...[4, true, 2],
    ...[true, true, 4],
    'Cannot read the snapshot "pods": chunks of it are missing',
  ]);
});

const HOLDER = crypto.randomUUID();

Deno.test("MemoryCheckpoints keeps what was written, and lets one reader write", async () => {
  await checkCheckpointStore(new MemoryCheckpoints());
});

Deno.test("FileCheckpoints keeps what was written, and lets one reader write", async () => {
  await using folder = new Folder();
  await checkCheckpointStore(new FileCheckpoints(folder.path));
  const names = await Array.fromAsync(Deno.readDir(folder.path), ({ name }) => name);
  assertEquals(names, ["a%2Fb%20%2A.checkpoint"], "nothing is left beside it");
});

Deno.test("KvCheckpoints keeps what was written, and lets one reader write", async () => {
  const program = new URL("./_kv_checkpoints_program.ts", import.meta.url);
  assertEquals(await printedBy(program, [], ["-A", "--unstable-kv"]), ["informer-checkpoints", "other"]);
});

/** A record of one object. */
function record(version: string): CheckpointRecord {
  return { holder: HOLDER, version, objects: new Map([["shop/a", ["uid", version]]]) };
}

Deno.test("FileCheckpoints appends what has changed, and reads all but a line that a crash has cut", async () => {
  await using folder = new Folder();
  const store = new FileCheckpoints(folder.path);
  const file = folder.file("x.checkpoint");
  let stamp = await store.set("x", record("1"), { stamp: undefined, keys: [] });
  const before = await Deno.readTextFile(file);
  stamp = await store.set("x", record("2"), { stamp, keys: ["shop/a"] });
  const whole = await Deno.readTextFile(file);
  assertEquals(whole, `${before}${JSON.stringify({ version: "2", objects: [["shop/a", "uid", "2"]] })}\n`);
  for (let cut = before.length; cut < whole.length; cut++) {
    await Deno.writeTextFile(file, whole.slice(0, cut));
    assertEquals((await new FileCheckpoints(folder.path).get("x"))?.record, record("1"));
  }
  assertEquals((await Deno.stat(file)).mode! & 0o777, 0o600);
});

Deno.test("FileCheckpoints writes a file anew when as much was appended as it had", async () => {
  await using folder = new Folder();
  const store = new FileCheckpoints(folder.path);
  let stamp: unknown;
  let largest = 0;
  for (let version = 1; version <= 3_000; version++) {
    stamp = await store.set("x", record(`${version}`), { stamp, keys: ["shop/a"] });
    largest = Math.max(largest, (await Deno.stat(folder.file("x.checkpoint"))).size);
  }
  assertEquals(largest < 80_000, true, `a file of ${largest} bytes`);
  assertEquals((await store.get("x"))?.record, record("3000"));
});

Deno.test("FileCheckpoints names the file that it cannot read or write", async () => {
  await using folder = new Folder();
  await Deno.writeTextFile(folder.file("x.checkpoint"), "Dear diary\n");
  const store = new FileCheckpoints(folder.path);
  await assertRejects(() => store.get("x"), Error, `x.checkpoint": found "Dear diary", no checkpoint`);
  const missing = new FileCheckpoints(folder.file("missing"));
  const change = { stamp: undefined, keys: [] };
  await assertRejects(
    () => missing.set("y", record("1"), change),
    Error,
    `Cannot write "${folder.file("missing")}/y`,
  );
});

/** Commands that make keys and write them in a form, and the label of that form. */
const FORMS: Readonly<Record<string, { readonly make: string[]; readonly write: string[]; readonly label: string }>> = {
  "RSA, PKCS#8": { make: ["-algorithm", "RSA"], write: ["pkcs8", "-topk8", "-nocrypt"], label: "PRIVATE KEY" },
  "RSA, PKCS#1": { make: ["-algorithm", "RSA"], write: ["rsa", "-traditional"], label: "RSA PRIVATE KEY" },
  "EC, PKCS#8": {
    make: ["-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-384"],
    write: ["pkcs8", "-topk8", "-nocrypt"],
    label: "PRIVATE KEY",
  },
  "EC, SEC1": {
    make: ["-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"],
    write: ["ec"],
    label: "EC PRIVATE KEY",
  },
  "Ed25519, PKCS#8": { make: ["-algorithm", "ED25519"], write: ["pkcs8", "-topk8", "-nocrypt"], label: "PRIVATE KEY" },
};

Deno.test("connect accepts client keys of every form that openssl writes, except encrypted ones", async (t) => {
  await using certificates = await makeCertificates();
  await using server = await serve({ certificates, requestCert: true });
  const { folder } = certificates;
  const user = { "client-certificate": "any.crt", "client-key": "any.key" };
  const cluster = { server: server.url, "certificate-authority": "ca.crt" };
  const kubeconfig = await writeKubeconfig(certificates.path("config"), cluster, user);
  for (const [form, { make, write, label }] of Object.entries(FORMS)) {
    await t.step(form, async () => {
      await openssl(folder, "genpkey", ...make, "-out", "made.key");
      await openssl(folder, ...write, "-in", "made.key", "-out", "any.key");
      await openssl(
        folder,
        ...["req", "-x509", "-key", "any.key", "-CA", "ca.crt", "-CAkey", "ca.key", "-subj", `/CN=${label}`],
        ...["-days", "1", "-out", "any.crt", "-addext", "extendedKeyUsage=clientAuth"],
        ...["-addext", "basicConstraints=critical,CA:FALSE"],
      );
      assertStringIncludes(await Deno.readTextFile(certificates.path("any.key")), `-----BEGIN ${label}-----`);
      const connection = await findConnection({ kubeconfig }, hostWith());
      using _transport = connection.transport;
      assertEquals((await ask(connection)).clientName, label);
    });
  }
  const encrypted = [
    ["pkcs8", "-topk8", "-in", "made.key", "-passout", "pass:x"],
    ["ec", "-aes256", "-in", "client.key", "-passout", "pass:x"],
  ];
  for (const args of encrypted) {
    await t.step(`${args[0]}, encrypted`, async () => {
      await openssl(folder, ...args, "-out", "any.key");
      const error = await assertRejects(() => findConnection({ kubeconfig }, hostWith()), KubeconfigError);
      assertEquals(error.field, "client-key");
      assertStringIncludes(error.message, `is encrypted, which Deno cannot read: decrypt it with "openssl pkey`);
    });
  }
});

/** The beginning of a certificate as far as its validity, in DER. */
function certificateOf(...times: readonly (readonly [tag: number, text: string])[]): string {
  const der = (tag: number, ...parts: string[]): string => {
    const body = parts.join("");
    return String.fromCharCode(tag, body.length) + body;
  };
  const validity = der(0x30, ...times.map(([tag, text]) => der(tag, text)));
  const tbs = der(0x30, der(0xa0, der(2, "\x02")), der(2, "\x01"), der(0x30), der(0x30), validity);
  return `-----BEGIN CERTIFICATE-----\n${btoa(der(0x30, tbs))}\n-----END CERTIFICATE-----\n`;
}

Deno.test("validityOf reads certificates of openssl, with both forms of years", async () => {
  await using certificates = await makeCertificates();
  const dates = await openssl(certificates.folder, "x509", "-in", "client.crt", "-noout", "-dates");
  const [from, until] = dates.split("\n").map((line) => Date.parse(line.split("=")[1]));
  assertEquals(validityOf(certificates.text("client.crt")), { fromMs: from, untilMs: until });
  assertEquals(validityOf(certificateOf([0x17, "991231235959Z"], [0x17, "490102030405Z"])), {
    fromMs: Date.UTC(1999, 11, 31, 23, 59, 59),
    untilMs: Date.UTC(2049, 0, 2, 3, 4, 5),
  });
  assertEquals(validityOf(certificateOf([0x18, "20500101000000Z"], [0x18, "99991231235959Z"])), {
    fromMs: Date.UTC(2050, 0, 1),
    untilMs: Date.UTC(9999, 11, 31, 23, 59, 59),
  });
});

Deno.test("validityOf is undefined for other data, and for a certificate that was cut off", async () => {
  await using certificates = await makeCertificates();
  for (
    const text of [
      ...[
        "",
        "x",
        "-----BEGIN CERTIFICATE-----\n***\n-----END CERTIFICATE-----",
        "-----BEGIN CERTIFICATE-----\nMAUCAgICAg==\n-----END CERTIFICATE-----",
      ],
      ...[certificateOf([0x17, "x"], [0x17, "490102030405Z"]), certificateOf([4, "991231235959Z"]), certificateOf()],
    ]
  ) {
    assertEquals(validityOf(text), undefined);
  }
  const der = atob(certificates.text("ca.crt").split("\n").filter((line) => !line.startsWith("-")).join(""));
  for (let length = 0; length < der.length; length++) {
    const cut = `-----BEGIN CERTIFICATE-----\n${btoa(der.slice(0, length))}\n-----END CERTIFICATE-----`;
    assertEquals(validityOf(cut), undefined);
  }
});

Deno.test("validityProblem distinguishes certificates that are not valid yet, have expired, or expire soon", () => {
  const validity = { fromMs: Date.UTC(2026, 0, 1), untilMs: Date.UTC(2026, 1, 1) };
  assertEquals(validityProblem(validity, Date.UTC(2026, 0, 15)), undefined);
  assertEquals(
    validityProblem(validity, Date.UTC(2025, 11, 31)),
    "is valid only from 2026-01-01T00:00:00.000Z on; is this machine's clock right",
  );
  assertEquals(validityProblem(validity, Date.UTC(2026, 1, 1) + 1), "expired on 2026-02-01T00:00:00.000Z");
  assertEquals(validityProblem(validity, Date.UTC(2026, 0, 31, 23, 30)), "expires on 2026-02-01T00:00:00.000Z");
});

Deno.test("connect warns of a client certificate that has expired, and reports when one will expire", async () => {
  await using certificates = await makeCertificates();
  const kubeconfig = await writeKubeconfig(
    certificates.path("config"),
    { server: "https://farm.example" },
    { "client-certificate": "client.crt", "client-key": "client.key" },
  );
  const warnings: string[] = [];
  const onWarning = (warning: string): void => void warnings.push(warning);
  const now = await findConnection({ kubeconfig, onWarning }, hostWith());
  now.transport[Symbol.dispose]();
  assertEquals(warnings, []);
  const expires = now.origin.certificateExpires;
  assertInstanceOf(expires, Date);
  const hours = (expires.getTime() - Date.now()) / 3_600_000;
  assert(hours > 47 && hours <= 48, `${hours}`);
  using _time = new FakeTime(expires.getTime() + 1);
  const later = await findConnection({ kubeconfig, onWarning }, hostWith());
  later.transport[Symbol.dispose]();
  assertEquals(warnings, [
    `Cannot use user "ada" of kubeconfig "${kubeconfig}": field "client-certificate" names ` +
    `"${certificates.path("client.crt")}": the certificate expired on ${expires.toISOString()}`,
  ]);
});
