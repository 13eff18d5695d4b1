import { assertEquals, assertFalse, assertInstanceOf, assertRejects, assertStringIncludes } from "@std/assert";
import { inspect } from "node:util";
import { InformerError } from "../../../src/engine/errors/informer_error.ts";
import { ExecLogin } from "../../../src/host/connect/exec_login.ts";
import type { FileProblem } from "../../../src/host/connect/files.ts";
import { FixedLogin, Secret } from "../../../src/host/connect/kubeconfig/secrets.ts";
import { TokenFile } from "../../../src/host/connect/token_file.ts";
import { hostWith } from "../../support/processes/host.ts";
import { FakeTime } from "../../support/times/fake_time.ts";

const explained = (cause: FileProblem): Error =>
  new InformerError(`Cannot use the token file: ${cause.message}`, { cause });

/** A file whose content, or failure, a test sets. */
class FakeFile {
  content: string | Error = "first\n";
  reads = 0;

  readTextFile = (): Promise<string> => {
    this.reads++;
    return this.content instanceof Error ? Promise.reject(this.content) : Promise.resolve(this.content);
  };

  tokenFile(onWarning?: (warning: string) => void, fallback?: Secret): TokenFile {
    return new TokenFile("/run/token", this, explained, { onWarning }, fallback);
  }
}

async function sentTokenFile(
  token: TokenFile,
  options: { refresh?: boolean; signal?: AbortSignal } = {},
): Promise<string | null> {
  const headers = new Headers();
  await token.apply(headers, { refresh: false, ...options });
  return headers.get("authorization");
}

Deno.test("TokenFile reads its file again 50 s after it was last read, whatever the time of day is set to", async () => {
  for (const jumpMs of [0, -3_600_000, 3_600_000]) {
    using time = new FakeTime();
    const file = new FakeFile();
    const token = file.tokenFile();
    assertEquals(await sentTokenFile(token), "Bearer first");
    time.setClock(time.now + jumpMs);
    file.content = "second";
    time.tick(49_999);
    assertEquals([await sentTokenFile(token), file.reads], ["Bearer first", 1]);
    time.tick(1);
    assertEquals(await sentTokenFile(token), "Bearer second");
    time.tick(49_999);
    assertEquals([await sentTokenFile(token), file.reads], ["Bearer second", 2]);
  }
});

Deno.test("TokenFile reads its file again at once when the server has refused the token", async () => {
  using _time = new FakeTime();
  const file = new FakeFile();
  const token = file.tokenFile();
  await sentTokenFile(token);
  file.content = "second";
  assertEquals(await sentTokenFile(token, { refresh: true }), "Bearer second");
  assertEquals(await sentTokenFile(token), "Bearer second");
  assertEquals(file.reads, 2);
});

Deno.test("TokenFile reads its file once for simultaneous requests", async () => {
  const file = new FakeFile();
  const token = file.tokenFile();
  const all = await Promise.all(Array.from({ length: 20 }, () => sentTokenFile(token, { refresh: true })));
  assertEquals(new Set(all), new Set(["Bearer first"]));
  assertEquals(file.reads, 1);
});

Deno.test("TokenFile keeps the last token when the file cannot be read any more, and reports that once", async () => {
  using time = new FakeTime();
  const warnings: string[] = [];
  const file = new FakeFile();
  const token = file.tokenFile((warning) => warnings.push(warning));
  await sentTokenFile(token);
  file.content = new Deno.errors.NotFound("no such file");
  time.tick(60_000);
  assertEquals(await sentTokenFile(token), "Bearer first");
  assertEquals(await sentTokenFile(token), "Bearer first");
  assertEquals(file.reads, 3);
  assertEquals(warnings, [`Cannot use the token file: there is no such file. The previous token stays in use`]);
  file.content = "second";
  assertEquals(await sentTokenFile(token), "Bearer second");
  file.content = "";
  time.tick(60_000);
  assertEquals(await sentTokenFile(token), "Bearer second");
  assertEquals(warnings.length, 2);
});

Deno.test("TokenFile does not send a refused token again", async () => {
  const file = new FakeFile();
  const token = file.tokenFile();
  await sentTokenFile(token);
  file.content = new Deno.errors.NotFound("ENOENT");
  const error = await assertRejects(() => sentTokenFile(token, { refresh: true }), Error, "there is no such file");
  assertInstanceOf(error.cause, Deno.errors.NotFound);
  await assertRejects(() => sentTokenFile(token), Error, "there is no such file");
});

Deno.test("TokenFile uses the static token while the file has never been read", async () => {
  const warnings: string[] = [];
  const file = new FakeFile();
  file.content = new Deno.errors.NotFound("no such file");
  const token = file.tokenFile((warning) => warnings.push(warning), new Secret("static"));
  assertEquals(await sentTokenFile(token), "Bearer static");
  assertEquals(warnings.length, 1);
  file.content = "first";
  assertEquals(await sentTokenFile(token), "Bearer first");
});

Deno.test("TokenFile refuses a file without a token, and never shows its contents", async () => {
  const file = new FakeFile();
  for (const content of ["", " \n", "two words", "hunter2\nhunter3"]) {
    file.content = content;
    const error = await assertRejects(
      () => file.tokenFile().ready(),
      Error,
      "Cannot use the token file: its content ",
    );
    assertFalse(Deno.inspect(error).includes("hunter"));
  }
});

Deno.test("TokenFile names the Deno flag for a missing permission", async () => {
  const file = new FakeFile();
  file.content = new Deno.errors.NotCapable("Requires read access");
  const error = await assertRejects(() => file.tokenFile().ready(), Error);
  assertStringIncludes(error.message, "run it with --allow-read=/run/token");
});

Deno.test("credentials print as [redacted], however they are printed [F38]", async () => {
  const file = new TokenFile("/run/token", hostWith({}, { readTextFile: () => Promise.resolve("hunter2") }), explained);
  await file.ready();
  for (
    const credentials of [
      FixedLogin.bearer("hunter2"),
      file,
      new Secret("hunter2"),
    ]
  ) {
    const printed = [
      Deno.inspect(credentials),
      Deno.inspect({ nested: { credentials } }).replace("{ nested: { credentials: ", "").replace(" } }", ""),
      inspect(credentials),
      String(credentials),
      JSON.stringify(credentials).replaceAll(`"`, ""),
    ];
    assertEquals(printed, ["[redacted]", "[redacted]", "[redacted]", "[redacted]", "[redacted]"]);
  }
});

Deno.test("no login replaces a request's own Authorization, or reads or runs anything for it [C138]", async () => {
  const file = new FakeFile();
  let runs = 0;
  const plugin = new ExecLogin(() => Promise.reject(new Error(`run ${++runs}`)));
  const logins = [FixedLogin.bearer("abc"), file.tokenFile(), plugin];
  for (const login of logins) {
    const headers = new Headers({ authorization: "Bearer own" });
    await login.apply(headers, { refresh: true });
    assertEquals(headers.get("authorization"), "Bearer own");
  }
  assertEquals([file.reads, runs], [0, 0]);
});

Deno.test("TokenFile rejects with the abort reason", async () => {
  const file = new FakeFile();
  const reason = new Error("enough");
  const error = await assertRejects(() => sentTokenFile(file.tokenFile(), { signal: AbortSignal.abort(reason) }));
  assertEquals([error, file.reads], [reason, 0]);
});

/** A JSON Web Token that is valid for so long from now. */
