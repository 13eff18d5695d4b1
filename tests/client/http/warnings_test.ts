import { assertEquals } from "@std/assert";
import { defineResource } from "../../../src/api/resource.ts";
import { Client } from "../../../src/client/client.ts";
import { warningsOf } from "../../../src/client/http/warnings.ts";
import { json, pod, podList, refusal, ScriptedTransport, watchOf } from "../../support/transport.ts";

const Pod = defineResource({ version: "v1", plural: "pods", kind: "Pod" });

Deno.test("warningsOf reads quoted texts, several per header, and skips other warn codes", () => {
  const cases: [string, string[]][] = [
    ['299 - "v1 ComponentStatus is deprecated in v1.19+"', ["v1 ComponentStatus is deprecated in v1.19+"]],
    ['299 - "a, \\"b\\" and \\\\"', ['a, "b" and \\']],
    ['299 - "a", 299 kube.example:443 "b"', ["a", "b"]],
    ['299 - "a" "Sat, 21 Nov 2026 13:06:37 GMT",299 - "b"', ["a", "b"]],
    ['110 cache "stale", 299 - "a", 214 proxy "changed"', ["a"]],
    ['299 - ""', [""]],
    ["something else", ["something else"]],
    ['299 - "a", broken', ["a", "broken"]],
    ['299 - "not closed', ['299 - "not closed']],
    ["", []],
  ];
  for (const [header, texts] of cases) assertEquals(warningsOf(new Headers({ warning: header })), texts, header);
  assertEquals(warningsOf(new Headers()), []);
});

Deno.test("warningsOf decodes UTF-8 that the runtime's headers return as Latin-1", () => {
  assertEquals(warningsOf(new Headers({ warning: '299 - "grÃ¼n"' })), ["grün"]);
  assertEquals(warningsOf(new Headers({ warning: '299 - "gr\u00fcn"' })), ["grün"]);
});

Deno.test("Client calls onWarning with the warnings of every response", async () => {
  const warnings: string[] = [];
  const warning = (text: string): Record<string, string> => ({ warning: `299 - "${text}"` });
  const transport = new ScriptedTransport(
    json(podList([]), 200, warning("list")),
    refusal(404, "NotFound", "no", warning("refused")),
    new Response(null, { status: 200, headers: { "content-type": "application/json", ...warning("watch") } }),
    watchOf(),
    new Response("ok", { headers: warning("raw") }),
  );
  const client = new Client({
    server: "https://kube.test",
    transport,
    namespace: "shop",
    onWarning: (text) => warnings.push(text),
  });
  const pods = client.resource(Pod);
  await pods.list();
  await pods.get("web-0").then(() => warnings.push("not refused"), () => undefined);
  for await (const event of pods.watch()) warnings.push(event.type);
  for await (const event of pods.watch()) warnings.push(event.type);
  await (await client.fetch("/version")).text();
  assertEquals(warnings, ["list", "refused", "watch", "raw"]);
});

Deno.test("Client rejects with the error that onWarning throws, and cancels the body", async () => {
  let cancelled = false;
  const body = new ReadableStream({ cancel: (): void => void (cancelled = true) });
  const transport = new ScriptedTransport(
    new Response(body, { headers: { warning: '299 - "a"' } }),
    json(pod("a", "1")),
  );
  const client = new Client({
    server: "https://kube.test",
    transport,
    namespace: "shop",
    onWarning: (): void => {
      throw new Error("no warnings here");
    },
  });
  const error = await client.resource(Pod).get("a").then(() => undefined, (error) => error);
  assertEquals([error.message, cancelled], ["no warnings here", true]);
  assertEquals((await client.resource(Pod).get("a")).metadata.name, "a");
});
