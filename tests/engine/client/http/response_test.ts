import { assert, assertEquals, assertFalse, assertInstanceOf, assertMatch, assertRejects } from "@std/assert";
import type { KubernetesObject } from "../../../../src/engine/api/object.ts";
import { defineResource, type Resource } from "../../../../src/engine/api/resource.ts";
import {
  DecodeError,
  isAlreadyExists,
  isExpired,
  isForbidden,
  isNotFound,
  isThrottled,
  isUnauthorized,
  StatusError,
} from "../../../../src/engine/api/status.ts";
import { Client } from "../../../../src/engine/client/client.ts";
import { retryAfterMsOf, statusErrorOf, warningsOf } from "../../../../src/engine/client/http/response.ts";
import type { ResourceClient } from "../../../../src/engine/client/resource_client.ts";
import { FakeTime } from "../../../support/times/fake_time.ts";
import {
  type Answer,
  json,
  pod,
  podList,
  refusal,
  ScriptedTransport,
  statusObject,
  text,
  watchOf,
} from "../../../support/servers/transport.ts";

const Pod = defineResource({ version: "v1", plural: "pods", kind: "Pod" });

const Secret = defineResource({ version: "v1", plural: "secrets", kind: "Secret" });

function podsOf(...answers: Answer[]): ResourceClient<KubernetesObject> {
  return clientOf(Pod, ...answers);
}

function clientOf(resource: Resource, ...answers: Answer[]): ResourceClient<KubernetesObject> {
  const client = new Client({
    server: "https://kube.test:6443",
    transport: new ScriptedTransport(...answers),
    retries: 0,
  });
  return client.resource(resource, { namespace: "shop" });
}

Deno.test("statusErrorOf makes an error by the HTTP status of a response without a Status, its text cut at 2048 bytes [C135]", async () => {
  const reasons: [number, string][] = [
    [400, "BadRequest"],
    [401, "Unauthorized"],
    [403, "Forbidden"],
    [404, "NotFound"],
    [405, "MethodNotAllowed"],
    [406, "NotAcceptable"],
    [409, "Conflict"],
    [410, "Gone"],
    [415, "UnsupportedMediaType"],
    [418, "Unknown"],
    [422, "Invalid"],
    [429, "TooManyRequests"],
    [500, "InternalError"],
    [502, "InternalError"],
    [503, "ServiceUnavailable"],
    [504, "Timeout"],
  ];
  for (const [code, reason] of reasons) {
    const error = await statusErrorOf('get "pods/a"', "GET", text(code, " some\n text \n"));
    assertEquals([error.status.code, error.status.reason, error.status.message], [code, reason, "some text"]);
    assert(error.message.startsWith(`Cannot get "pods/a": ${code} ${reason}: some text`), error.message);
  }
  const exists = await statusErrorOf("create", "POST", text(409, "there"));
  assert(isAlreadyExists(exists));
  let read = 0;
  let cancelled = false;
  const endless = new ReadableStream<Uint8Array>({
    pull: (controller): void => {
      read++;
      controller.enqueue(new TextEncoder().encode("é".repeat(500)));
    },
    cancel: (): void => void (cancelled = true),
  }, { highWaterMark: 0 });
  const long = await statusErrorOf("get", "GET", new Response(endless, { status: 500 }));
  assertEquals(long.status.message, "é".repeat(1024));
  assertEquals([read, cancelled], [3, true]);
  // Warnings of a refusal go to the client that was refused, and to no other.
  const warnings: string[][] = [[], []];
  const clients = warnings.map((texts) =>
    new Client({
      server: "https://kube.test",
      transport: new ScriptedTransport(text(415, "no", { warning: `299 - "for ${warnings.indexOf(texts)}"` })),
      onWarning: (warning) => texts.push(warning),
    })
  );
  for (const client of clients) await assertRejects(() => client.resource(Pod).list(), StatusError, "415");
  assertEquals(warnings, [["for 0"], ["for 1"]]);
});

Deno.test("Client reads at most maxObjectBytes of one response", async () => {
  const exact = { metadata: { name: "é" } };
  const maxObjectBytes = new TextEncoder().encode(JSON.stringify(exact)).length;
  const transport = new ScriptedTransport();
  using client = new Client({ server: "https://kube.test", namespace: "shop", transport, maxObjectBytes, retries: 0 });
  const pods = client.resource(Pod);
  transport.add(json(exact));
  assertEquals((await pods.get("a")).metadata.name, "é");
  const object = { metadata: { name: "a" } };
  const asks: [string, () => Promise<unknown>, number][] = [
    ['get "pods/a" in namespace "shop"', () => pods.get("a"), 1],
    ['create "pods/a" in namespace "shop"', () => pods.create(object), 1],
    ['discover "/api"', () => client.discover(), 2],
  ];
  for (const [action, ask, requests] of asks) {
    let cancelled = 0;
    for (let i = 0; i < requests; i++) {
      let left = 1_000;
      const long = new ReadableStream<Uint8Array>({
        pull: (controller) => left-- === 0 ? controller.close() : controller.enqueue(new TextEncoder().encode("1")),
        cancel: () => void cancelled++,
      }, { highWaterMark: 0 });
      transport.add(new Response(long));
    }
    const message = `Cannot ${action}: the response is longer than ${maxObjectBytes} bytes. Raise maxObjectBytes`;
    await assertRejects(ask, DecodeError, message);
    assertEquals(cancelled, requests, action);
  }
});

Deno.test("StatusError has the details of the server's Status, and names the request", async () => {
  const details = { name: "a", kind: "pods", causes: [{ reason: "FieldValueInvalid", field: "metadata.name" }] };
  const message = 'pods is forbidden: User "limited" cannot list resource "pods"';
  const error = await assertRejects(
    () => podsOf(refusal(403, "Forbidden", message, {}, { details })).list(),
    StatusError,
  );
  assert(isForbidden(error));
  assertEquals(error.message, `Cannot list "pods" in namespace "shop": 403 Forbidden: ${message}`);
  assertEquals(error.status.details?.causes?.[0].field, "metadata.name");
});

Deno.test("StatusError's message has the causes that the server's message lacks, each once", async () => {
  const messageOf = async (message: string, causes: readonly object[], code = 429): Promise<string> => {
    const answer = refusal(code, "Why", message, {}, { details: { causes } });
    return (await assertRejects(() => podsOf(answer).list(), StatusError)).message;
  };
  const prefix = 'Cannot list "pods" in namespace "shop": 429 Why: ';
  const budget = { reason: "DisruptionBudget", message: "The disruption budget solo needs 1 healthy pods" };
  const violation = "Cannot evict pod as it would violate the pod's disruption budget.";
  assertEquals(await messageOf(violation, [budget, budget]), `${prefix}${violation} ${budget.message}`);
  assertEquals(
    await messageOf("slow down", [{ message: "b", field: "a" }, { message: "c" }]),
    `${prefix}slow down. a: b; c`,
  );
  const said = 'Pod "a" is invalid: spec.x: Required value';
  assertEquals(await messageOf(said, [{ message: "Required value", field: "spec.x" }, {}]), `${prefix}${said}`);
  const many = Array.from({ length: 9 }, (_, i) => ({ message: `cause ${i}` }));
  assertMatch(await messageOf("no", many), /: no\. cause 0; .*; cause 4; and 4 more causes$/);
  assertMatch(
    await messageOf("no", [{ message: "expired" }], 401),
    /401 Why: no\. expired\. The server does not accept /,
  );
});

Deno.test("StatusError has a reason also when the body is another object, broken JSON, HTML, or empty", async () => {
  const bodies: [Response, string][] = [
    [json({ error: "nope" }, 404), 'the response is not a Status: "{\\"error\\":\\"nope\\"}"'],
    [
      json({ paths: Array(100).fill("/apis") }, 404),
      `the response is not a Status: ${JSON.stringify(`{"paths":["/apis",${'"/apis",'.repeat(7)}"/apis…`)}`,
    ],
    [text(404, '{"kind":"Status",', { "content-type": "application/json" }), '{"kind":"Status",'],
    [text(404, "<html>\n<h1>404</h1>", { "content-type": "text/html" }), "<html> <h1>404</h1>"],
    [text(404, "no such\n  page\n"), "no such page"],
    [
      text(404, "404 page not found\n"),
      'the server has no resource "pods". Check whether its CustomResourceDefinition or APIService is installed',
    ],
    [new Response(null, { status: 404 }), "the server answered 404"],
  ];
  for (const [response, message] of bodies) {
    const error = await assertRejects(() => podsOf(response).get("a"), StatusError, message);
    assert(isNotFound(error));
    assertEquals(error.status.message, message);
  }
});

Deno.test("StatusError reads a Status longer than 2048 bytes to its end, also with content type text", async () => {
  const message = "x".repeat(5_000);
  const long = await assertRejects(() => podsOf(refusal(422, "Invalid", message)).get("a"), StatusError);
  assertEquals(long.status.message, message);
  const plain = text(410, JSON.stringify(statusObject(410, "Expired", "too old resource version")));
  const error = await assertRejects(() => podsOf(plain).list(), StatusError);
  assert(isExpired(error));
  assertEquals(error.status.message, "too old resource version");
});

Deno.test("StatusError of a 401 advises to check the credentials", async () => {
  const error = await assertRejects(() => podsOf(refusal(401, "Unauthorized", "Unauthorized")).list(), StatusError);
  assert(isUnauthorized(error));
  assertEquals(
    error.message,
    'Cannot list "pods" in namespace "shop": 401 Unauthorized: Unauthorized. The server does not accept these credentials. Log in again, or renew the token',
  );
});

Deno.test("StatusError of a redirect names its target, and the redirect is not followed", async () => {
  const pods = podsOf(new Response(null, { status: 302, headers: { location: "https://login.test/" } }));
  const error = await assertRejects(() => pods.list(), StatusError);
  assertEquals(error.status.code, 302);
  assert(error.message.includes('redirects to "https://login.test/"'), error.message);
});

Deno.test("StatusError has as much of the message as arrived when the body breaks off", async () => {
  const broken = new ReadableStream<Uint8Array>({
    start: (controller): void => controller.enqueue(new TextEncoder().encode("half a sen")),
    pull: (controller): void => controller.error(new TypeError("connection lost")),
  }, { highWaterMark: 0 });
  const error = await assertRejects(() => podsOf(new Response(broken, { status: 500 })).get("a"), StatusError);
  assertEquals([error.status.code, error.status.message], [500, "half a sen"]);
  assertInstanceOf(error.cause, TypeError);
});

Deno.test("StatusError has Retry-After in seconds, from the header or else from the body", async () => {
  const header = await assertRejects(
    () => podsOf(text(429, "Too many requests, please try again later.", { "retry-after": "3" })).list(),
    StatusError,
  );
  assert(isThrottled(header));
  assertEquals(header.status.retryAfterSeconds, 3);
  const details = { retryAfterSeconds: 7 };
  const body = await assertRejects(
    () => podsOf(refusal(503, "ServiceUnavailable", "wait", {}, { details })).list(),
    StatusError,
  );
  assertEquals(body.status.retryAfterSeconds, 7);
});

Deno.test("retryAfterMsOf reads seconds and dates", () => {
  using time = new FakeTime();
  const of = (value: string): number | undefined => retryAfterMsOf(new Headers({ "retry-after": value }));
  assertEquals(of("1"), 1_000);
  assertEquals(of(" 120 "), 120_000);
  assertEquals(of("0"), 0);
  assertEquals(of(new Date(time.now + 5_000).toUTCString()), 5_000);
  assertEquals(of(new Date(time.now - 5_000).toUTCString()), 0);
  assertEquals(of("soon"), undefined);
  assertEquals(of("-1x"), undefined);
  assertEquals(retryAfterMsOf(new Headers()), undefined);
});

Deno.test("Client refuses a response that is not JSON, and says what to check", async () => {
  const page = (): Response => text(200, "<!doctype html>\n<title>Log in</title>", { "content-type": "text/html" });
  const calls = [
    () => podsOf(page()).get("a"),
    () => podsOf(page()).list(),
    () => podsOf(page()).watch().next(),
    () => podsOf(page()).listEntries().next(),
    () => podsOf(page()).create({ metadata: { name: "a" } }),
  ];
  for (const call of calls) {
    const error = await assertRejects(call, DecodeError, 'the response is "text/html" instead of JSON');
    assert(error.message.includes("<title>Log in</title>"), error.message);
    assert(
      error.message.endsWith('Check that "https://kube.test:6443" is an API server and not a proxy or a login page'),
    );
  }
});

Deno.test("Client refuses a list response that is broken JSON, empty, or not a list", async () => {
  const type = { "content-type": "application/json" };
  const cut = await assertRejects(() => podsOf(text(200, '{"kind":"Pod"', type)).get("a"), DecodeError);
  assert(cut.message.startsWith('Cannot get "pods/a" in namespace "shop": the response is not JSON'), cut.message);
  assertInstanceOf(cut.cause, SyntaxError);
  const secrets = clientOf(Secret, text(200, '{"data":{"a":PLANTED"}}', type));
  const damaged = await assertRejects(() => secrets.get("a"), DecodeError, "23 characters, which may");
  assertFalse(Deno.inspect(damaged).includes("PLANTED"), "data of a Secret, or the error that quotes it");
  await assertRejects(() => podsOf(new Response(null, { headers: type })).get("a"), DecodeError);
  await assertRejects(() => podsOf(new Response(null, { headers: type })).list(), DecodeError);
  await assertRejects(() => podsOf(json({ kind: "Pod", apiVersion: "v1", metadata: {} })).list(), DecodeError);
  const list = JSON.stringify(podList(["a", "b"]));
  await assertRejects(() => podsOf(text(200, list.slice(0, -10), type)).list(), DecodeError);
});

Deno.test("Client accepts JSON under its other content types, and a response without a content type", async () => {
  for (const type of ["application/json;charset=utf-8", "APPLICATION/JSON", "application/vnd.kube+json", ""]) {
    const answer = new Response(new Blob([JSON.stringify(podList(["a"]))]).stream());
    if (type !== "") answer.headers.set("content-type", type);
    assertEquals((await podsOf(answer).list()).items.length, 1, type);
  }
  await assertRejects(() => podsOf(text(200, "[]", { "content-type": "application/jsonp" })).get("a"), DecodeError);
});

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
