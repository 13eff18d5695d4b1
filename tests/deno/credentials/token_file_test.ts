import { assertEquals, assertFalse, assertInstanceOf, assertRejects, assertStringIncludes } from "@std/assert";
import { TokenFile, type TokenFileOptions } from "../../../src/deno/credentials/token_file.ts";
import { Secret } from "../../../src/kubeconfig/text/secret.ts";
import { FakeTime } from "../../support/fake_time.ts";

/** A file whose content, or failure, a test sets. */
class FakeFile {
  content: string | Error = "first\n";
  reads = 0;

  readTextFile = (): Promise<string> => {
    this.reads++;
    return this.content instanceof Error ? Promise.reject(this.content) : Promise.resolve(this.content);
  };

  tokenFile(options?: TokenFileOptions): TokenFile {
    return new TokenFile("/run/token", this, options);
  }
}

async function sent(
  token: TokenFile,
  options: { refresh?: boolean; signal?: AbortSignal } = {},
): Promise<string | null> {
  const headers = new Headers();
  await token.apply(headers, { refresh: false, ...options });
  return headers.get("authorization");
}

Deno.test("TokenFile reads its file again 50 s after it was last read", async () => {
  using time = new FakeTime();
  const file = new FakeFile();
  const token = file.tokenFile();
  assertEquals(await sent(token), "Bearer first");
  file.content = "second";
  time.tick(49_999);
  assertEquals(await sent(token), "Bearer first");
  assertEquals(file.reads, 1);
  time.tick(1);
  assertEquals(await sent(token), "Bearer second");
  time.tick(49_999);
  assertEquals(await sent(token), "Bearer second");
  assertEquals(file.reads, 2);
});

Deno.test("TokenFile reads its file again at once when the server has refused the token", async () => {
  using _time = new FakeTime();
  const file = new FakeFile();
  const token = file.tokenFile();
  await sent(token);
  file.content = "second";
  assertEquals(await sent(token, { refresh: true }), "Bearer second");
  assertEquals(await sent(token), "Bearer second");
  assertEquals(file.reads, 2);
});

Deno.test("TokenFile keeps its period of 50 s when the time of day is set, back or forward", async () => {
  for (const jumpMs of [-3_600_000, 3_600_000]) {
    using time = new FakeTime();
    const file = new FakeFile();
    const token = file.tokenFile();
    await sent(token);
    time.setClock(time.now + jumpMs);
    file.content = "second";
    time.tick(49_999);
    assertEquals(await sent(token), "Bearer first");
    time.tick(1);
    assertEquals(await sent(token), "Bearer second");
  }
});

Deno.test("TokenFile reads its file once for simultaneous requests", async () => {
  const file = new FakeFile();
  const token = file.tokenFile();
  const all = await Promise.all(Array.from({ length: 20 }, () => sent(token, { refresh: true })));
  assertEquals(new Set(all), new Set(["Bearer first"]));
  assertEquals(file.reads, 1);
});

Deno.test("TokenFile keeps the last token when the file cannot be read any more, and reports that once", async () => {
  using time = new FakeTime();
  const warnings: string[] = [];
  const file = new FakeFile();
  const token = file.tokenFile({ onWarning: (warning) => warnings.push(warning) });
  await sent(token);
  file.content = new Deno.errors.NotFound("no such file");
  time.tick(60_000);
  assertEquals(await sent(token), "Bearer first");
  assertEquals(await sent(token), "Bearer first");
  assertEquals(file.reads, 3);
  assertEquals(warnings, [
    `Cannot use token file "/run/token": there is no such file; the previous token stays in use`,
  ]);
  file.content = "second";
  assertEquals(await sent(token), "Bearer second");
  file.content = "";
  time.tick(60_000);
  assertEquals(await sent(token), "Bearer second");
  assertEquals(warnings.length, 2);
});

Deno.test("TokenFile does not send a refused token again", async () => {
  const file = new FakeFile();
  const token = file.tokenFile();
  await sent(token);
  file.content = new Deno.errors.NotFound("ENOENT");
  const error = await assertRejects(() => sent(token, { refresh: true }), Error, "there is no such file");
  assertInstanceOf(error.cause, Deno.errors.NotFound);
  await assertRejects(() => sent(token), Error, "there is no such file");
});

Deno.test("TokenFile uses the static token while the file has never been read", async () => {
  const warnings: string[] = [];
  const file = new FakeFile();
  file.content = new Deno.errors.NotFound("no such file");
  const token = file.tokenFile({ fallback: new Secret("static"), onWarning: (warning) => warnings.push(warning) });
  assertEquals(await sent(token), "Bearer static");
  assertEquals(warnings.length, 1);
  file.content = "first";
  assertEquals(await sent(token), "Bearer first");
});

Deno.test("TokenFile refuses a file without a token, and never shows its contents", async () => {
  const file = new FakeFile();
  for (const content of ["", " \n", "two words", "hunter2\nhunter3"]) {
    file.content = content;
    const error = await assertRejects(
      () => file.tokenFile().ready(),
      Error,
      `Cannot use token file "/run/token": what it holds `,
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

Deno.test("TokenFile does not replace a request's own Authorization", async () => {
  const file = new FakeFile();
  const headers = new Headers({ authorization: "Basic own" });
  await file.tokenFile().apply(headers, { refresh: true });
  assertEquals([headers.get("authorization"), file.reads], ["Basic own", 0]);
});

Deno.test("TokenFile rejects with the abort reason", async () => {
  const file = new FakeFile();
  const reason = new Error("enough");
  const error = await assertRejects(() => sent(file.tokenFile(), { signal: AbortSignal.abort(reason) }));
  assertEquals([error, file.reads], [reason, 0]);
});
