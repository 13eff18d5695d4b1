import {
  assert,
  assertEquals,
  assertFalse,
  assertInstanceOf,
  assertRejects,
  assertStrictEquals,
  assertStringIncludes,
  assertThrows,
} from "@std/assert";
import { inspect } from "node:util";
import {
  CredentialPluginError,
  ExecLogin,
  FixedLogin,
  pluginCommand,
  redactMessage,
  TokenFile,
  tokenLogin,
} from "../../../src/host/connect/credentials.ts";
import type { FileProblem } from "../../../src/host/connect/files.ts";
import { ExecCredential } from "../../../src/host/connect/kubeconfig/exec_plugin.ts";
import { Secret } from "../../../src/host/connect/kubeconfig/secrets.ts";
import type { Program } from "../../../src/host/connect/runtime/programs.ts";
import { errorLine } from "../../../src/engine/errors/errors.ts";
import { InformerError } from "../../../src/engine/errors/informer_error.ts";
import { makeCertificates } from "../../support/certificates.ts";
import { FakeTime } from "../../support/fake_time.ts";
import { hostWith, notCapable } from "../../support/host.ts";
import { authorization, loginBy, pluginOf, run, Scripts, V1 } from "../../support/plugin.ts";

function sent(credentials: { apply(headers: Headers): void }, init?: HeadersInit): string | null {
  const headers = new Headers(init);
  credentials.apply(headers);
  return headers.get("authorization");
}

Deno.test("FixedLogin.bearer sends its token", () => {
  assertEquals(sent(FixedLogin.bearer("abc.def")), "Bearer abc.def");
});

Deno.test("FixedLogin.basic sends name and password in UTF-8 [C147]", () => {
  assertEquals(sent(FixedLogin.basic("ada", "a:b")), `Basic ${btoa("ada:a:b")}`);
  assertEquals(sent(FixedLogin.basic("ada", "ü✓")), "Basic YWRhOsO84pyT");
  assertEquals(sent(FixedLogin.basic("ada", "")), `Basic ${btoa("ada:")}`);
});

Deno.test("FixedLogin.bearer refuses characters that a header cannot have, without showing the token", () => {
  for (const token of ["", "hunter2\nhunter3", "hunter✓"]) {
    const error = assertThrows(() => FixedLogin.bearer(token), TypeError, "Cannot use token: it ");
    assertFalse(Deno.inspect(error).includes("hunter"));
  }
});

Deno.test("credentials print as [redacted], however they are printed [F38]", async () => {
  const file = new TokenFile("/run/token", hostWith({}, { readTextFile: () => Promise.resolve("hunter2") }), explained);
  await file.ready();
  for (
    const credentials of [
      FixedLogin.bearer("hunter2"),
      FixedLogin.basic("hunter2", "hunter2"),
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

const NOTHING = { args: [], env: [] };

Deno.test("redactMessage removes secrets recognized by their form or by the word before them", () => {
  const hex = "0123456789abcdef".repeat(2);
  const cases: readonly [said: string, shown: string][] = [
    ["running: oc login --token hunter2hunter2", "running: oc login --token [redacted]"],
    [`login --password "hunter2 and more" -v`, `login --password "[redacted]" -v`],
    ["login '--client-secret' hunter2 -v", "login '--client-secret' [redacted] -v"],
    [`{"access_token": "hunter2 hunter2", "a": 1}`, `{"access_token": "[redacted]", "a": 1}`],
    [`request failed with token dop_v1_${hex}${hex}`, "request failed with token [redacted]"],
    [`secret is ${hex}`, "secret is [redacted]"],
    [`secret is ${hex.toUpperCase()}`, "secret is [redacted]"],
    ["passphrase: hunter2", "passphrase: [redacted]"],
  ];
  for (const [said, shown] of cases) assertEquals(redactMessage(said, NOTHING), shown);
});

Deno.test("redactMessage keeps text that is not secret", () => {
  for (
    const said of [
      "the --token flag must be given, or --token-file must be",
      "context gke_my-project-123456_europe-west1-b_cluster-1 not found",
      "request id 6ba7b810-9dad-11d1-80b4-00c04fd430c8 of arn:aws:eks:eu-west-1:123456789012:cluster/shop failed",
      "open /home/ada/.config/gcloud/application_default_credentials.json: no such file or directory",
    ]
  ) assertEquals(redactMessage(said, NOTHING), said);
});

Deno.test("redactMessage is fast for any text of a megabyte", () => {
  for (const part of [" ", "token", "--token", "a-", "key = ", "eyJ", "://a:", `--key "`, "0a"]) {
    const startedAt = performance.now();
    redactMessage(part.repeat(1_048_576 / part.length), NOTHING);
    assert(performance.now() - startedAt < 5_000, part);
  }
});

const V1BETA1 = "client.authentication.k8s.io/v1beta1";
const GOOD = JSON.stringify({ apiVersion: V1, kind: "ExecCredential", status: { token: "abc" } });

Deno.test("runPlugin passes arguments, variables and KUBERNETES_EXEC_INFO, for both versions [C148]", async () => {
  await using scripts = await Scripts.make();
  await scripts.write(
    "plugin",
    `printf '%s\\n' "$@" "$SHOP" "$HOME" > args; printf %s "$KUBERNETES_EXEC_INFO" > info
echo '{"apiVersion":"'"$VERSION"'","kind":"ExecCredential","status":{"token":"abc"}}'`.replaceAll(
      /> (args|info)/g,
      `> "${scripts.folder}/$1"`,
    ),
  );
  for (const apiVersion of [V1, V1BETA1]) {
    for (const provideClusterInfo of [true, false]) {
      const plugin = pluginOf(scripts.folder, {
        ...{ apiVersion, provideClusterInfo, command: "./plugin", args: ["get", "a b"] },
        env: [{ name: "SHOP", value: "x=y" }, { name: "VERSION", value: apiVersion }],
      });
      assertEquals((await run(plugin)).token?.reveal(), "abc");
      assertEquals(await Deno.readTextFile(`${scripts.folder}/args`), `get\na b\nx=y\n${Deno.env.get("HOME") ?? ""}\n`);
      assertEquals(JSON.parse(await Deno.readTextFile(`${scripts.folder}/info`)), {
        ...{ apiVersion, kind: "ExecCredential" },
        spec: { ...(provideClusterInfo && { cluster: { server: "https://farm.example" } }), interactive: false },
      });
    }
  }
});

Deno.test("runPlugin gives the plugin the terminal according to interactiveMode and whether there is one", async () => {
  const cases = [
    ["Never", true, false],
    ["Never", false, false],
    ["IfAvailable", true, true],
    ["IfAvailable", false, false],
    ["Always", true, true],
  ] as const;
  for (const [interactiveMode, isTerminal, interactive] of cases) {
    const seen: Program[] = [];
    const host = {
      isTerminal: () => isTerminal,
      runProgram: (program: Program) => {
        seen.push(program);
        return Promise.resolve({ code: 0, stdout: GOOD, stderr: "" });
      },
    };
    await run(pluginOf("/f", { command: "aws", interactiveMode }), { host });
    assertEquals(seen.map((program) => program.interactive), [interactive]);
    assertEquals(JSON.parse(seen[0].env.KUBERNETES_EXEC_INFO).spec.interactive, interactive);
  }
  const error = await assertRejects(
    () => run(pluginOf("/f", { command: "aws", interactiveMode: "Always" })),
    CredentialPluginError,
  );
  assertStringIncludes(error.message, "standard input is not a terminal");
});

Deno.test("runPlugin finds a command with a slash beside the kubeconfig, and one without in PATH only", async () => {
  await using scripts = await Scripts.make();
  await Deno.mkdir(`${scripts.folder}/bin`);
  await scripts.write("bin/plugin", `echo '${GOOD}'`);
  for (const command of ["bin/plugin", "./bin/plugin", `${scripts.folder}/bin/plugin`]) {
    assertEquals((await run(pluginOf(scripts.folder, { command }))).token?.reveal(), "abc");
  }
  const error = await assertRejects(
    () => run(pluginOf(`${scripts.folder}/bin`, { command: "plugin", installHint: "get it from example.com" })),
    CredentialPluginError,
  );
  assertEquals(
    error.message,
    `Cannot get credentials from plugin "plugin" of user "ada" of kubeconfig "${scripts.folder}/bin/config": ` +
      "the program is not in PATH: install it; get it from example.com",
  );
  const path = await assertRejects(() => run(pluginOf(scripts.folder, { command: "./no" })), CredentialPluginError);
  assertStringIncludes(path.message, `there is no file "${scripts.folder}/no"`);
});

Deno.test("pluginCommand resolves a command with a slash, and does not change one without", () => {
  const cases = [
    ["config", "./plugin", "./plugin"],
    ["config", "bin/plugin", "bin/plugin"],
    ["config", "plugin", "plugin"],
    ["/f/config", "../bin/plugin", "/bin/plugin"],
    ["/f/config", "/bin/plugin", "/bin/plugin"],
    ["/f/config", "bin\\plugin", "bin\\plugin"],
  ];
  for (const [file, command, expected] of cases) {
    assertEquals(
      pluginCommand(pluginOf(file.replace(/\/?config$/, ""), { command }, file), { windows: false }),
      expected,
    );
  }
});

Deno.test("runPlugin's error has the exit code and last output of a failed plugin, without secrets", async () => {
  await using scripts = await Scripts.make();
  await scripts.write(
    "plugin",
    `printf '\\033[31mlogin expired\\033[0m for %s\\n' "$TOKEN_SEED" >&2; echo "sent $2, token: hunter2-c" >&2
echo "Bearer hunter2-d eyJhbGciOiJIUzI1NiJ9.eyJodW50ZXIyIjoxfQ.c2ln" >&2; echo '${GOOD}'; exit 7`,
  );
  const plugin = pluginOf(scripts.folder, {
    ...{ command: "./plugin", args: ["--client-secret", "hunter2-a"] },
    env: [{ name: "TOKEN_SEED", value: "hunter2-b" }],
  });
  const error = await assertRejects(() => run(plugin), CredentialPluginError);
  assertEquals([error.exitCode, error.command], [7, "./plugin"]);
  assertStringIncludes(
    error.message,
    "it ended with exit code 7, saying: login expired for [redacted] sent [redacted], token: [redacted] " +
      "Bearer [redacted] [redacted]",
  );
  assertFalse(Deno.inspect(error, { showHidden: true }).includes("hunter2"));
});

Deno.test("runPlugin refuses output that is not a credential, or has a key of another certificate", async () => {
  await using certificates = await makeCertificates();
  await using scripts = await Scripts.make();
  await scripts.printer({});
  const plugin = pluginOf(scripts.folder, { command: "./plugin" });
  const key = certificates.text("client.key");
  for (
    const [status, includes] of [
      [{}, "it printed neither"],
      [{ clientKeyData: key }, `it printed "clientKeyData" without`],
      [
        { clientCertificateData: certificates.text("second.crt"), clientKeyData: key },
        "it printed a certificate that cannot be used: Cannot set up TLS",
      ],
    ] as const
  ) {
    await scripts.credential(status);
    const error = await assertRejects(() => run(plugin), CredentialPluginError);
    assertStringIncludes(error.message, includes);
  }
});

Deno.test("runPlugin ends a plugin that takes too long, even if its child process keeps the output open", async () => {
  await using scripts = await Scripts.make();
  await scripts.write("plugin", "sleep 3; echo late");
  const plugin = pluginOf(scripts.folder, { command: "./plugin" });
  const error = await assertRejects(() => run(plugin, { timeoutMs: 100 }), CredentialPluginError);
  assertStringIncludes(error.message, "it did not end within 0.1 s and was killed");
  const controller = new AbortController();
  const reason = new Error("enough");
  const running = run(plugin, { signal: controller.signal });
  controller.abort(reason);
  assertEquals(await running.catch((error) => error), reason);
});

Deno.test("runPlugin ends a plugin that writes endlessly", async () => {
  await using scripts = await Scripts.make();
  await scripts.write("plugin", "cat /dev/zero");
  const error = await assertRejects(
    () => run(pluginOf(scripts.folder, { command: "./plugin" })),
    CredentialPluginError,
  );
  assertStringIncludes(error.message, "it wrote more than 1048576 bytes");
});

Deno.test("runPlugin names the Deno flag that it needs", async () => {
  for (
    const [exec, flag] of [
      [{ command: "aws" }, "--allow-run=aws"],
      [{ command: "./my plugin" }, `--allow-run="/f/my plugin"`],
      [{ command: "aws", env: [{ name: "LD_PRELOAD", value: "x" }] }, "--allow-run"],
    ] as const
  ) {
    const host = { runProgram: () => Promise.resolve().then(notCapable) };
    const error = await assertRejects(() => run(pluginOf("/f", exec), { host }), CredentialPluginError);
    assertEquals(error.message.split("run it with ")[1], flag);
  }
});

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

Deno.test("no login replaces a request's own Authorization, or reads or runs anything for it [C138]", async () => {
  const file = new FakeFile();
  const plugin = new Counted();
  const logins = [FixedLogin.bearer("abc"), FixedLogin.basic("ada", "b"), file.tokenFile(), plugin.login];
  for (const login of logins) {
    const headers = new Headers({ authorization: "Bearer own" });
    await login.apply(headers, { refresh: true });
    assertEquals(headers.get("authorization"), "Bearer own");
  }
  assertEquals([file.reads, plugin.runs], [0, 0]);
});

Deno.test("TokenFile rejects with the abort reason", async () => {
  const file = new FakeFile();
  const reason = new Error("enough");
  const error = await assertRejects(() => sentTokenFile(file.tokenFile(), { signal: AbortSignal.abort(reason) }));
  assertEquals([error, file.reads], [reason, 0]);
});

/** A JSON Web Token that is valid for so long from now. */
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
