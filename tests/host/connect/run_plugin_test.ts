import { assert, assertEquals, assertFalse, assertRejects, assertStringIncludes } from "@std/assert";
import { CredentialPluginError, pluginCommand, redactMessage } from "../../../src/host/connect/run_plugin.ts";
import type { Program } from "../../../src/host/connect/runtime/programs.ts";
import { makeCertificates } from "../../support/servers/certificates.ts";
import { notCapable } from "../../support/processes/host.ts";
import { pluginOf, run, Scripts, V1 } from "../../support/servers/plugin.ts";

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
