import { assert, assertEquals } from "@std/assert";
import { ConfigMap, Pod } from "../../src/engine/kinds/core/v1.ts";
import { configMap, FakeApiServer, pod } from "../../src/testing/mod.ts";
import { BUNDLED_NODE, findNode } from "../support/node/find_node.ts";

/** Lowers what Node 22 cannot parse, which is `using`. The one that `deno bundle` is made of, too. */
const ESBUILD = "npm:esbuild@0.25.5";
const DEADLINE_MS = 60_000;

/** Returns the output of a command; fails with its standard error when it fails. */
async function run(command: string, ...args: string[]): Promise<string> {
  const { success, stdout, stderr } = await new Deno.Command(command, { args, stdin: "null" }).output();
  const [out, said] = [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes));
  assert(success, `Cannot run ${[command, ...args].join(" ")}: ${said || out}`);
  return out;
}

/** The program and the whole core in one file, as a bundler makes it for that Node. */
async function bundle(folder: string): Promise<string> {
  const [whole, lowered] = [`${folder}/whole.js`, `${folder}/program.mjs`];
  const program = new URL("_program.ts", import.meta.url).pathname;
  await run(Deno.execPath(), "bundle", "--quiet", "--no-lock", "--platform=browser", "--output", whole, program);
  await run(
    Deno.execPath(),
    ...[
      "run",
      "-A",
      "--quiet",
      "--no-lock",
      ESBUILD,
      whole,
      `--target=node${BUNDLED_NODE}`,
      "--format=esm",
      `--outfile=${lowered}`,
    ],
    "--log-level=warning",
  );
  return lowered;
}

/** The lines of JSON that a stream brings. */
async function* lines(stream: ReadableStream<Uint8Array>): AsyncGenerator<[string, unknown], void, undefined> {
  let rest = "";
  for await (const text of stream.pipeThrough(new TextDecoderStream() as TransformStream<Uint8Array, string>)) {
    const found = (rest + text).split("\n");
    rest = found.pop()!;
    for (const line of found) yield JSON.parse(line);
  }
}

Deno.test({
  name:
    `SharedIndexInformer in a bundle for Node ${BUNDLED_NODE} follows a server over HTTP, recovers from lost watches, and leaves nothing behind`,
  ignore: Deno.build.os === "windows",
  timeout: 300_000,
  fn: async () => {
    const folder = await Deno.makeTempDir();
    const server = new FakeApiServer();
    for (const name of ["a", "b", "c"]) server.create(Pod, pod({ namespace: "shop", name, node: "worker-1" }));
    server.create(ConfigMap, configMap({ namespace: "shop", name: "settings" }));
    server.create(ConfigMap, configMap({ namespace: "elsewhere", name: "settings" }));
    const options = {
      port: 0,
      hostname: "127.0.0.1",
      onListen: (): void => {},
      // The client has gone away, which is how a watch ends: nobody reads this.
      onError: (): Response => new Response(null, { status: 500 }),
    };
    await using http = Deno.serve(options, (request) => server.fetch(request));
    try {
      const node = await findNode(folder, BUNDLED_NODE, BUNDLED_NODE);
      const program = await bundle(folder);
      const child = new Deno.Command(node, {
        args: [program, `http://127.0.0.1:${http.addr.port}`],
        stdin: "null",
        stdout: "piped",
        stderr: "piped",
      }).spawn();
      const deadline = setTimeout(() => child.kill("SIGKILL"), DEADLINE_MS);
      const complaints = new Response(child.stderr).text();
      const said = new Map<string, unknown>();
      for await (const [what, more] of lines(child.stdout)) {
        said.set(what, more);
        if (what === "written") {
          server.dropWatches();
          server.create(Pod, pod({ namespace: "shop", name: "late", phase: "Pending" }));
          server.patch(Pod, "shop/late", { status: { phase: "Running" } });
        }
        if (what === "late") server.delete(Pod, "shop/late");
      }
      const { code, signal } = await child.status;
      clearTimeout(deadline);
      assertEquals([code, signal, await complaints], [0, null, ""], `node ${node}: ${JSON.stringify([...said])}`);
      assertEquals(Object.fromEntries(said), {
        uncaught: 'Handler "handler 1" failed on "added" of "shop/settings": thrown on purpose',
        synced: { pods: 3, onNode: ["shop/a", "shop/b", "shop/c"], maps: 1 },
        pages: [2, 1],
        written: "größer 大",
        late: ["+ shop/late", "~ shop/late Running"],
        deleted: { state: "live", again: true },
        stopped: [],
      });
      assertEquals(server.watches, 0);
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  },
});
