import { assertEquals } from "@std/assert";
import { Folder } from "../support/servers/serve.ts";
import { run, Session } from "../support/processes/session.ts";

const METADATA = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";

/** Serves until it has written the kubeconfig, and answers with what is in that file. */
async function written(path: string): Promise<string> {
  const session = new Session(["fake", "--kubeconfig", path]);
  await session.out.line(/^http:/);
  session.interrupt();
  assertEquals([await session.code, session.out.lines.length], [0, 1]);
  return await Deno.readTextFile(path);
}

Deno.test("informer fake does not overwrite a file that it has not written itself", async () => {
  await using folder = new Folder();
  const own = await written(folder.file("own"));
  const server = (JSON.parse(own) as { clusters: { cluster: { server: string } }[] }).clusters[0].cluster.server;
  const cases = [
    ["text", "precious credentials"],
    ["added", own.replace(`"user": {}`, `"user": {"token": "precious"}`)],
    ["moved", own.replace(server, "http://127.0.0.1:8001.example")],
    ["blank", "\n"],
  ];
  for (const [name, text] of cases) {
    const path = folder.write(name, text);
    assertEquals(await run("fake", "--kubeconfig", path), {
      code: 2,
      out: [],
      err: [
        `error: --kubeconfig: "${path}" exists and was not written by this command; name another file, or delete it`,
      ],
    });
    assertEquals(await Deno.readTextFile(path), text);
  }
  const { code, err } = await run("fake", "--kubeconfig", folder.path);
  assertEquals([code, err], [2, [`error: --kubeconfig: "${folder.path}" is a folder; name a file`]]);
});

Deno.test("informer fake replaces its own kubeconfig or an empty file atomically", async () => {
  await using folder = new Folder();
  const path = folder.write("config", "");
  const first = await written(path);
  // A reader that has the file open keeps the earlier contents.
  using open = await Deno.open(path);
  const second = await written(path);
  assertEquals(await new Response(open.readable).text(), first);
  assertEquals(JSON.parse(second).clusters[0].name, "fake");
  assertEquals((await Array.fromAsync(Deno.readDir(folder.path))).map(({ name }) => name), ["config"]);
});

Deno.test("informer fake writes its kubeconfig before it creates the pods, and ends while it does", async () => {
  await using folder = new Folder();
  const path = folder.file("config");
  const session = new Session(["fake", "--pods", "1000000", "--kubeconfig", path]);
  await session.err.line(/^creating 1000000 pods on http/);
  const { server, ...rest } = JSON.parse(await Deno.readTextFile(path)).clusters[0].cluster;
  assertEquals(session.err.lines, [`creating 1000000 pods on ${server}, which responds as soon as they exist`]);
  // Without it client-node 2 sends nothing over http.
  assertEquals(rest, { "insecure-skip-tls-verify": true });
  session.interrupt();
  assertEquals([await session.code, session.out.lines], [0, []]);
});

Deno.test("informer fake answers a request that comes early when all pods are there", async () => {
  await using folder = new Folder();
  const session = new Session(["fake", "--pods", "2500", "--kubeconfig", folder.file("config")]);
  await session.err.line(/^creating/);
  const [address] = /http:[^,]*/.exec(session.err.lines[0])!;
  const response = await fetch(`${address}/api/v1/pods`, { headers: { accept: METADATA } });
  assertEquals((await response.json()).items.length, 2_500);
  session.interrupt();
  assertEquals([await session.code, session.out.lines], [0, [address]]);
});

Deno.test("informer fake --namespaces real refuses objects of absent namespaces, and ends empty ones", async () => {
  const session = new Session(["fake", "--pods", "50", "--namespaces", "real"]);
  await session.out.line(/^http:/);
  const core = `${session.out.lines[0]}/api/v1`;
  const send = async (method: string, path: string, body?: Readonly<Record<string, unknown>>): Promise<number> => {
    const headers = { "content-type": "application/json" };
    const response = await fetch(`${core}/${path}`, { method, headers, body: body && JSON.stringify(body) });
    await response.body?.cancel();
    return response.status;
  };
  const map = { metadata: { name: "settings" } };
  assertEquals(await send("GET", "namespaces/default"), 200);
  assertEquals(await send("POST", "namespaces/shop2/configmaps", map), 404);
  assertEquals(await send("POST", "namespaces", { metadata: { name: "shop2" } }), 201);
  assertEquals(await send("POST", "namespaces/shop2/configmaps", map), 201);
  assertEquals(await send("DELETE", "namespaces/shop2"), 200);
  assertEquals(await send("GET", "namespaces/shop2/configmaps/settings"), 404);
  assertEquals(await send("GET", "namespaces/shop2"), 404);
  session.interrupt();
  assertEquals(await session.code, 0);
  const words = await run("completions", "complete", "--", "fake", "--namespaces", "");
  assertEquals(words.out, ["any", "real"]);
});

Deno.test("informer fake and serve answer under the names of this machine, and those that --host adds, with the reason", async () => {
  for (const [args, path] of [[["fake"], "/api"], [["serve", "pods", "--fake"], "/"]] as const) {
    const session = new Session([...args, "--host", "tunnel.example"]);
    await session.out.line(/^http:/);
    const { port } = new URL(session.out.lines[0]);
    const ask = async (host: string): Promise<[string, string]> => {
      using connection = await Deno.connect({ hostname: "127.0.0.1", port: Number(port) });
      const head = `GET ${path} HTTP/1.1\r\nhost: ${host}\r\nconnection: close\r\n\r\n`;
      await connection.write(new TextEncoder().encode(head));
      const answer = await new Response(connection.readable).text();
      return [answer.slice(9, 12), answer];
    };
    assertEquals((await ask(`localhost:${port}`))[0], "200");
    assertEquals((await ask("tunnel.example"))[0], "200");
    const [status, answer] = await ask("evil.example");
    assertEquals([status, answer.includes("add it to the option hosts")], ["421", true], answer);
    session.interrupt();
    assertEquals(await session.code, 0);
  }
});
