// What is wrong outside of the program: one line on standard error each, and nothing on standard output.
import { assertEquals, assertMatch } from "@std/assert";
import { FakeApiServer } from "../../src/testing/mod.ts";
import { writeKubeconfig } from "../support/host.ts";
import { deno } from "../support/program.ts";
import { Folder, serve } from "../support/serve.ts";
import { run } from "../support/session.ts";

/** Runs get and watch, which end with this code and a line that matches. */
async function ends(code: number, message: RegExp, ...args: string[]): Promise<void> {
  for (const command of ["get", "watch"]) {
    const result = await run(command, ...args);
    const about = `${command} ${args.join(" ")}: ${result.err.join("\n")}`;
    assertEquals([result.code, result.out, result.err.length], [code, [], 1], about);
    assertMatch(result.err[0], message, about);
  }
}

/** A server that gives this answer to everything. */
function serveAnswer(answer: () => Response): { readonly url: string } & AsyncDisposable {
  const http = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, answer);
  return { url: `http://127.0.0.1:${http.addr.port}`, [Symbol.asyncDispose]: () => http.shutdown() };
}

function textOf(text: string, status: number, type: string): () => Response {
  return () => new Response(text, { status, headers: { "content-type": type } });
}

Deno.test("a server that is not there ends get and watch with 3", async () => {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr as Deno.NetAddr;
  listener.close();
  await ends(
    3,
    /refused.*; check the address, and whether the server runs$/,
    "pods",
    "--server",
    `http://127.0.0.1:${port}`,
  );
});

Deno.test("a port on which something else answers ends get and watch with 3", async () => {
  await using web = serveAnswer(textOf("404 page not found", 404, "text/plain"));
  await ends(3, /404.*; check that the address is that of an API server$/, "pods", "--server", web.url);
  await using broken = serveAnswer(textOf("<html>no</html>", 502, "text/html"));
  await ends(3, /502.*; check that the address is that of an API server$/, "pods", "--server", broken.url);
  await using api = serveAnswer(() => Response.json({ hello: 1 }));
  await ends(3, /the server lists none; check that its address is that of an API server$/, "pods", "--server", api.url);
});

Deno.test("HTML from a proxy ends get and watch with 3", async () => {
  await using proxy = serveAnswer(textOf("<html>Please log in</html>", 200, "text/html"));
  await ends(3, /is "text\/html" and not JSON.*not a proxy or a login page$/, "pods", "--server", proxy.url);
});

Deno.test("a namespace without objects is reported in one line, with exit code 0", async () => {
  using server = new FakeApiServer();
  await using served = await serve(server);
  const got = await run("get", "pods", "-n", "shop", "--server", served.url);
  assertEquals([got.code, got.out, got.err], [0, [], ["no pods found in namespace shop"]]);
  const watched = await run("watch", "pods", "-n", "shop", "--until-synced", "--server", served.url);
  assertEquals([watched.code, watched.out, watched.err], [0, [], ["no pods found in namespace shop"]]);
});

Deno.test("a missing permission of Deno is reported in one line that names the flag, with exit code 3", async () => {
  await using folder = new Folder();
  const kubeconfig = await writeKubeconfig(folder.file("config"), { server: "http://127.0.0.1:9" });
  const informer = async (...flags: string[]): Promise<[number, string, string]> => {
    const args = ["src/cli/main.ts", "get", "po", "--kubeconfig", kubeconfig];
    const { code, out, err } = await deno(["run", "--quiet", "--no-prompt", "--no-check", ...flags, ...args]);
    return [code, out, err];
  };
  const read = `--allow-read=${kubeconfig}`;
  assertEquals(await informer(), [
    3,
    "",
    `error: Cannot use kubeconfig "${kubeconfig}": this program may not read it, run it with ${read}\n`,
  ]);
  assertEquals(await informer(read), [
    3,
    "",
    `error: Cannot reach "http://127.0.0.1:9" to discover "/api": missing permission: run this program with --allow-net=127.0.0.1:9\n`,
  ]);
});
