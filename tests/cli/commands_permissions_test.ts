// Each command with exactly the permissions that it prints, in a process of its own.
import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { fileURLToPath } from "node:url";
import { Pod } from "../../src/engine/kinds/core/v1.ts";
import { FakeApiServer, pod } from "../../src/testing/mod.ts";
import { CRONTAB_FILE } from "../support/sources/crontab.ts";
import { writeKubeconfig } from "../support/processes/host.ts";
import { Folder, serve } from "../support/servers/serve.ts";
import { run } from "../support/processes/session.ts";

const ROOT = new URL("../../", import.meta.url);

interface Ended {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Runs a command with these flags of Deno and variables, and nothing else; `until` ends it by SIGINT. */
async function informer(
  flags: readonly string[],
  args: readonly string[],
  options: { readonly env?: Record<string, string>; readonly until?: string; readonly cwd?: string | URL } = {},
): Promise<Ended> {
  const { env = {}, until, cwd = ROOT } = options;
  const program = ["--config", fileURLToPath(new URL("deno.json", ROOT)), new URL("src/cli/main.ts", ROOT).href];
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "--quiet", "--no-prompt", "--no-check", ...flags, ...program, ...args],
    cwd,
    env,
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const read = async (stream: ReadableStream<Uint8Array>): Promise<string> => {
    let text = "";
    for await (const part of stream.pipeThrough(new TextDecoderStream())) {
      text += part;
      if (until !== undefined && part.includes(until)) child.kill("SIGINT");
    }
    return text;
  };
  const [out, err, { code }] = await Promise.all([read(child.stdout), read(child.stderr), child.status]);
  return { code, out, err };
}

/** The flags in the help of a command. */
async function flagsIn(command: string): Promise<string[]> {
  const { out } = await informer([], [command, "--help"], { env: { NO_COLOR: "1" } });
  assertStringIncludes(out, "Permissions:");
  return [...out.slice(out.indexOf("Permissions:")).matchAll(/--allow-[a-z]+=[\w.:]+\w/g)].map(([flag]) => flag);
}

Deno.test("get, watch, logs and doctor run with exactly the permissions that doctor prints", async () => {
  await using folder = new Folder();
  using server = new FakeApiServer();
  server.create(Pod, pod({ name: "web-0" }));
  server.writeLog("web-0", "ready");
  await using served = await serve(server);
  const kubeconfig = await writeKubeconfig(folder.file("config"), { server: served.url });
  const report = await run("doctor", "-o", "json", "--kubeconfig", kubeconfig);
  const flags: string[] = JSON.parse(report.out.join("\n")).permissions;
  assertEquals(flags.map((flag) => flag.split("=")[0]), ["--allow-read", "--allow-net"]);
  const at = ["--kubeconfig", kubeconfig];
  for (
    const [args, expected] of [
      [["get", "pods"], /^NAME .*\nweb-0 /],
      [["get", "pods", "-A", "-o", "yaml"], /name: web-0/],
      [["logs", "web-0", "--tail", "1"], /^web-0 app ready\n$/],
      [["watch", "pods", "--until-synced"], /^added {3}web-0/],
      [["watch", "pods", "-o", "json", "--until-synced"], /"synced"/],
      [["doctor", "pods"], /all is well|informers can run/],
      [["doctor", "pods", "--rbac"], /kind: Role/],
    ] as const
  ) {
    const { code, out, err } = await informer(flags, [...args, ...at]);
    assertEquals(code, 0, `${args.join(" ")}: ${err}`);
    assertMatch(out, expected, args.join(" "));
  }
  for (const left of flags) {
    const less = await informer(flags.filter((flag) => flag !== left), ["get", "pods", ...at]);
    assert(less.code !== 0, `get does not need ${left}`);
  }
});

Deno.test("get, watch and doctor need no permission for the fake server in their process", async () => {
  for (const args of [["get", "pods"], ["watch", "pods", "--until-synced"], ["doctor"]]) {
    const { code, err } = await informer([], [...args, "--fake"]);
    assertEquals(code, 0, `${args.join(" ")}: ${err}`);
  }
  assertEquals((await informer([], ["completions", "bash"])).code, 0);
});

Deno.test("watch --cache names the permissions that it needs, and runs with them", async () => {
  await using folder = new Folder();
  const args = ["watch", "pods", "--fake", "--until-synced", "--cache", folder.file("cache.json")];
  const refused = await informer([], args);
  assertEquals([refused.code, refused.out], [2, ""]);
  const flags = [...refused.err.matchAll(/--allow-\S+/g)].map(([flag]) => flag);
  assertEquals(flags, [`--allow-read=${folder.path}`, `--allow-write=${folder.path}`]);
  const { code, err } = await informer(flags, args);
  assertEquals(code, 0, err);
  assert(JSON.parse(await Deno.readTextFile(folder.file("cache.json"))).length > 10);
});

Deno.test("kinds --file --out names the permissions that it needs, and runs with them", async () => {
  await using folder = new Folder();
  const args = ["kinds", "--file", CRONTAB_FILE, "--out", folder.file("kinds.ts")];
  const flags: string[] = [];
  for (let round = 0; round < 2; round++) {
    const refused = await informer(flags, args);
    assertEquals([refused.code, refused.out], [2, ""]);
    flags.push(...[...refused.err.matchAll(/--allow-\S+/g)].map(([flag]) => flag));
  }
  const expected = [`--allow-read=${folder.path}`, `--allow-write=${folder.path}`, `--allow-read=${CRONTAB_FILE}`];
  assertEquals(flags, expected);
  const { code, err } = await informer([`--allow-read=${folder.path},${CRONTAB_FILE}`, flags[1]], args);
  assertEquals(code, 0, err);
  assertStringIncludes(await Deno.readTextFile(folder.file("kinds.ts")), "export interface CronTab ");
});

Deno.test("crds needs to read its files, and nothing else", async () => {
  await using folder = new Folder();
  const [file, module] = [CRONTAB_FILE, folder.write("kinds.ts", "export const Tab = { crd: { kind: 1 } };")];
  const refused = await informer([], ["crds", file]);
  assertEquals([refused.code, refused.out], [2, ""]);
  const flags = [...refused.err.matchAll(/--allow-\S+/g)].map(([flag]) => flag);
  assertEquals(flags, [`--allow-read=${file}`]);
  const { code, out, err } = await informer(flags, ["crds", "--compare", file, file]);
  assertEquals([code, out, err], [0, "", "1 compared, 0 breaking changes, 0 to check\n"]);
  assertStringIncludes((await informer([], ["crds", module])).err, "--allow-read");
  assertStringIncludes((await informer([`--allow-read=${module}`], ["crds", module])).err, "exports no kind");
});

Deno.test("dashboard and alerts need no permission", async () => {
  for (const [command, text] of [["dashboard", '"panels": ['], ["alerts", "alert: ControllerNotSynced"]]) {
    assertEquals(await flagsIn(command), []);
    const { code, out, err } = await informer([], [command]);
    assertEquals([code, err], [0, ""]);
    assertStringIncludes(out, text);
  }
});

Deno.test("fake and serve run with exactly the permissions in their help", async () => {
  await using folder = new Folder();
  const flags = await flagsIn("fake");
  assertEquals(flags, ["--allow-net=127.0.0.1"]);
  const served = await informer(flags, ["fake", "--pods", "3"], { until: "serving" });
  assertEquals(served.code, 0, served.err);
  assertEquals(
    (await informer([], ["fake"])).err,
    "error: this program may not listen; run Deno with --allow-net=127.0.0.1\n",
  );
  const args = ["fake", "--kubeconfig", folder.file("kubeconfig")];
  const refused = await informer(flags, args);
  const more = [...refused.err.matchAll(/--allow-\S+/g)].map(([flag]) => flag);
  assertEquals(more, [`--allow-read=${folder.path}`, `--allow-write=${folder.path}`]);
  assertStringIncludes(refused.err, " or install it again with them");
  const written = await informer([...flags, ...more], args, { until: "serving" });
  assertEquals(written.code, 0, written.err);
  const serve = await informer(["--allow-net=127.0.0.1"], ["serve", "pods", "--fake"], { until: "serving" });
  assertEquals(serve.code, 0, serve.err);
});

Deno.test("installed as documented, commands write in the folder of the call, and name what another one needs", async () => {
  const lines = ["README.md", "docs/reference/command-line.md", "src/cli/main.ts"].flatMap((path) =>
    Deno.readTextFileSync(new URL(path, ROOT)).match(/deno install --global --name informer .*/g) ?? []
  );
  assert(lines.length >= 4, lines.join("\n"));
  const flags = "--allow-env --allow-read --allow-net --allow-write=.".split(" ");
  for (const line of lines) assertEquals(line.match(/--allow-\S+/g), flags, line);
  await using folder = new Folder();
  const cwd = `${folder.path}/here`;
  await Deno.mkdir(cwd);
  using server = new FakeApiServer();
  await using served = await serve(server);
  const at = ["--server", served.url];
  const written: readonly (readonly [command: string, ...more: readonly string[]])[] = [
    ["init web --kind A --dir"],
    [`kinds --file ${CRONTAB_FILE} --out`],
    ["watch pods --fake --until-synced --cache"],
    ["record pods --timeout 100ms --out", ...at],
    ["fake --port 0 --kubeconfig"],
  ];
  for (const [command, ...more] of written) {
    const run = (path: string): Promise<Ended> =>
      informer(flags, [...command.split(" "), path, ...more], { cwd, until: "serving" });
    const name = command.split(" ", 1)[0];
    const [inside, outside] = [await run(name), await run(`../${name}`)];
    assertEquals(inside.code, 0, `${command}: ${inside.err}`);
    assert((await Deno.lstat(`${cwd}/${name}`)) !== undefined);
    assertEquals(outside.code, 2, command);
    assertMatch(
      outside.err,
      /; run Deno with --allow-read=\S+ --allow-write=\S+ or install it again with them\n$/,
      command,
    );
  }
});

Deno.test("plan runs with exactly the permissions that it and doctor print", async () => {
  await using folder = new Folder();
  using server = new FakeApiServer();
  await using served = await serve(server);
  const kubeconfig = await writeKubeconfig(folder.file("config"), { server: served.url });
  const { out } = await run("doctor", "-o", "json", "--kubeconfig", kubeconfig);
  const printed = await flagsIn("plan");
  assert(printed.includes("--allow-run=deno"), printed.join());
  // In PATH may be another deno than this one.
  const own = printed.map((flag) => flag === "--allow-run=deno" ? `--allow-run=${Deno.execPath()}` : flag);
  const flags = [...JSON.parse(out.join("\n")).permissions, ...own, "--allow-read"];
  const args = ["plan", "examples/website/main.ts", "--kubeconfig", kubeconfig, "-n", "shop"];
  const lacking = await informer(flags, args);
  assertEquals(lacking.code, 1, lacking.err); // it runs, and the server has no Websites
  assertMatch(lacking.out, /websites\.example\.com/, lacking.err);
  const stopped = await informer(flags.filter((flag) => !flag.startsWith("--allow-run")), args);
  assertMatch(stopped.err, /--allow-run/);
});
