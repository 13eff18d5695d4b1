import { assertEquals, assertFalse, assertRejects, assertStrictEquals } from "@std/assert";
import { ExecLogin, tokenLogin } from "../../../src/host/connect/exec_login.ts";
import { ExecCredential } from "../../../src/host/connect/kubeconfig/exec_plugin.ts";
import { Secret } from "../../../src/host/connect/kubeconfig/secrets.ts";
import { errorLine } from "../../../src/engine/errors/errors.ts";
import { FakeTime } from "../../support/times/fake_time.ts";
import { authorization, loginBy, pluginOf, Scripts } from "../../support/servers/plugin.ts";

/** A login whose plugin is a function that gives `token-1`, `token-2` and so on. */
class Counted {
  runs = 0;
  expiresMs: number | undefined;
  failure: Error | undefined;
  readonly login = new ExecLogin(() => {
    this.runs++;
    if (this.failure !== undefined) return Promise.reject(this.failure);
    const { expiresMs } = this;
    const token = new Secret(`token-${this.runs}`);
    return Promise.resolve(new ExecCredential({ token, ...(expiresMs !== undefined && { expiresMs }) }));
  });
}

Deno.test("ExecLogin reuses the plugin's credentials until shortly before they expire [C149]", async () => {
  using time = new FakeTime();
  const plugin = new Counted();
  plugin.expiresMs = Date.now() + 60_000;
  assertEquals(await authorization(plugin.login), "Bearer token-1");
  time.tick(49_999);
  assertEquals(await authorization(plugin.login), "Bearer token-1");
  plugin.expiresMs = undefined;
  time.tick(1);
  assertEquals(await authorization(plugin.login), "Bearer token-2");
  time.tick(10 * 365 * 86_400_000);
  assertEquals(await authorization(plugin.login), "Bearer token-2");
});

Deno.test("ExecLogin reuses credentials that live for seconds, or have expired by this clock, for some seconds", async () => {
  using time = new FakeTime();
  const plugin = new Counted();
  for (const [lifeMs, usedMs] of [[16_000, 8_000], [-60_000, 5_000], [1_000, 5_000]]) {
    plugin.expiresMs = Date.now() + lifeMs;
    plugin.runs = 0;
    await authorization(plugin.login);
    time.tick(usedMs - 1);
    await authorization(plugin.login);
    assertEquals(plugin.runs, 1);
    time.tick(1);
  }
});

Deno.test("ExecLogin runs the plugin once for simultaneous requests", async () => {
  await using scripts = await Scripts.make();
  await scripts.printer({ token: "abc" });
  const login = loginBy(pluginOf(scripts.folder, { command: "./plugin" }));
  const all = await Promise.all(Array.from({ length: 10 }, () => authorization(login)));
  assertEquals(new Set(all), new Set(["Bearer abc"]));
  await Promise.all(Array.from({ length: 10 }, () => authorization(login, { refresh: true })));
  assertEquals(await scripts.runs(), 2);
});

Deno.test("ExecLogin runs the plugin again when the server refuses its credentials, then waits longer and longer", async () => {
  using time = new FakeTime();
  const plugin = new Counted();
  await authorization(plugin.login);
  const runsAt: number[] = [];
  const start = Date.now();
  for (let second = 0; second < 260; second++) {
    const before = plugin.runs;
    await authorization(plugin.login, { refresh: true });
    if (plugin.runs > before) runsAt.push((Date.now() - start) / 1_000);
    time.tick(1_000);
  }
  assertEquals(runsAt, [0, 10, 30, 70, 130, 190, 250]);
  time.tick(1_000_000);
  await authorization(plugin.login, { refresh: true });
  time.tick(10_000);
  await authorization(plugin.login, { refresh: true });
  // All was well for long enough, so that the pauses are short again.
  assertEquals(plugin.runs, 1 + runsAt.length + 2);
});

Deno.test("ExecLogin rejects with the error of a failed plugin for a while, then runs it again", async () => {
  using time = new FakeTime();
  const plugin = new Counted();
  plugin.failure = new Error("no login");
  for (const [tickMs, runs] of [[0, 1], [999, 1], [1, 2], [1_999, 2], [1, 3]]) {
    time.tick(tickMs);
    assertStrictEquals(await authorization(plugin.login).catch((error) => error), plugin.failure);
    assertEquals(plugin.runs, runs);
  }
  plugin.failure = undefined;
  time.tick(4_000);
  assertEquals(await authorization(plugin.login), "Bearer token-4");
});

Deno.test("ExecLogin keeps its waits when the time of day is set, back or forward", async () => {
  for (const jumpMs of [-3_600_000, 3_600_000]) {
    using time = new FakeTime();
    const plugin = new Counted();
    plugin.failure = new Error("no login");
    await authorization(plugin.login).catch((error) => error);
    time.setClock(time.now + jumpMs);
    time.tick(999);
    await authorization(plugin.login).catch((error) => error);
    assertEquals(plugin.runs, 1);
    time.tick(1);
    plugin.failure = undefined;
    plugin.expiresMs = Date.now() - 60_000;
    await authorization(plugin.login);
    assertEquals(plugin.runs, 2);
    time.setClock(time.now + jumpMs);
    time.tick(4_999); // used for 5 s although it has expired
    await authorization(plugin.login);
    assertEquals(plugin.runs, 2);
    plugin.expiresMs = undefined;
    await authorization(plugin.login, { refresh: true });
    time.setClock(time.now + jumpMs);
    time.tick(9_999);
    await authorization(plugin.login, { refresh: true });
    assertEquals(plugin.runs, 3);
    time.tick(1);
    await authorization(plugin.login, { refresh: true });
    assertEquals(plugin.runs, 4);
  }
});

Deno.test("ExecLogin runs the plugin again when the time of day has reached its credentials' expiry", async () => {
  using time = new FakeTime();
  const plugin = new Counted();
  plugin.expiresMs = Date.now() + 3_600_000;
  await authorization(plugin.login);
  time.tick(5_000);
  assertEquals(await authorization(plugin.login), "Bearer token-1");
  time.setClock(plugin.expiresMs);
  assertEquals(await authorization(plugin.login), "Bearer token-2");
});

Deno.test("ExecLogin ends its plugin when all waiting requests have been aborted, and not before", async () => {
  const signals: AbortSignal[] = [];
  const login = new ExecLogin((signal) => {
    signals.push(signal);
    return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
  });
  const [first, second] = [new AbortController(), new AbortController()];
  const waits = [first, second].map(({ signal }) => authorization(login, { signal }).catch((error) => error.message));
  first.abort(new Error("first"));
  assertEquals(await waits[0], "first");
  assertFalse(signals[0].aborted);
  second.abort(new Error("second"));
  assertEquals(await waits[1], "second");
  assertEquals([signals.length, signals[0].aborted], [1, true]);
});

function webToken(ms: number): string {
  return `h.${btoa(JSON.stringify({ exp: Math.floor((Date.now() + ms) / 1_000) }))}.s`;
}

async function header(login: ReturnType<typeof tokenLogin>, refresh = false): Promise<string | null> {
  const headers = new Headers();
  await login.apply(headers, { refresh });
  return headers.get("authorization");
}

Deno.test("tokenLogin asks for a token 10 s before the last one expires, once for all requests", async () => {
  using time = new FakeTime();
  const tokens: string[] = [];
  const login = tokenLogin(() => {
    tokens.push(webToken(300_000));
    return tokens.at(-1)!;
  });
  assertEquals(tokens.length, 0);
  await Promise.all([header(login), header(login)]);
  await time.tickAsync(289_000);
  assertEquals([await header(login), tokens.length], [`Bearer ${tokens[0]}`, 1]);
  await time.tickAsync(1_000);
  assertEquals([await header(login), tokens.length], [`Bearer ${tokens[1]}`, 2]);
});

Deno.test("tokenLogin keeps a token that does not say when it expires until the server refuses it", async () => {
  using time = new FakeTime();
  let calls = 0;
  const login = tokenLogin(() => Promise.resolve(`token-${++calls}`));
  await header(login);
  await time.tickAsync(86_400_000);
  assertEquals(await header(login), "Bearer token-1");
  assertEquals(await header(login, true), "Bearer token-2");
});

Deno.test("tokenLogin says why there is no token, and never quotes one", async () => {
  const thrown = await assertRejects(() => header(tokenLogin(() => Promise.reject(new Error("no issuer")))), Error);
  assertEquals(errorLine(thrown), 'Cannot get a token: the function of option "token" failed: no issuer');
  const problem = await assertRejects(() => header(tokenLogin(() => "two words")), TypeError);
  assertEquals(
    problem.message,
    'Cannot use the token that option "token" returned: it holds blanks, line ends or characters beyond ASCII, which no ' +
      "token has",
  );
  const other = await assertRejects(() => header(tokenLogin(() => undefined as unknown as string)), TypeError);
  assertEquals(other.message.split(": it ")[1], "is of type undefined and not a string");
});
