/**
 * The cases of controller-runtime's own tests of webhooks (86a0d40e, pkg/webhook: admission and conversion), written
 * again for this package. There are 87:
 *
 * - 67 are here, and pass: 77 %, or 94 % of the cases that apply. Its handlers return responses, ours return or throw.
 *   It answers bad requests and panics by a review with a code. Here the code is the HTTP status, so that the server
 *   counts a failed call, and a wrong content type gets 415, not 400.
 * - 4 differ on purpose. A review without a version, or of v1beta1, gets 400: the configuration only asks for v1, which
 *   all supported servers send. An allowed response has no status: the server does not read it. A mutation of a DELETE
 *   cannot be registered: the server refuses its patch.
 * - 16 do not apply: a context and loggers in it (5), a broken writer (1), panics that end the process (1), a message
 *   or status of an allowed response (4), dropping fields that a Go type lacks (2), and Go's scheme (3).
 */
import { assert, assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import type { DynamicObject } from "../../../src/engine/api/object.ts";
import { defineResource } from "../../../src/engine/api/resource.ts";
import { Node, Pod } from "../../../src/engine/kinds/core/v1.ts";
import { defineKind } from "../../../src/operator/schema/mod.ts";
import { refuse, roundTrips, Webhooks } from "../../../src/operator/webhooks/mod.ts";
import { ADMISSION, type Answer, convert, pathOf, post, requestOf, review, Website, website } from "./_reviews.ts";

const quiet = { onError: () => {} };
const allow = new Webhooks(quiet).validate(Website, () => {});

let cases = 0;

/** Declares `count` cases of controller-runtime, of which one test has the same assertions. */
function of(count: number, name: string, run: () => Promise<void> | void): void {
  cases += count;
  Deno.test(`controller-runtime: ${name}`, run);
}

async function sent(request: Request, webhooks = allow): Promise<[number, Answer]> {
  const answer = await webhooks.fetch(request);
  return [answer.status, await answer.json()];
}

of(2, "bad-request when given an empty body, or no body", async () => {
  const path = pathOf(allow);
  for (const init of [{}, { body: undefined }]) {
    const [status, { message }] = await sent(post(path, "", init));
    assertEquals(status, 400);
    assertStringIncludes(message, "empty");
  }
});

of(1, "refuses the wrong content-type", async () => {
  const [status] = await sent(post(pathOf(allow), "", { headers: { "content-type": "application/foo" } }));
  assertEquals(status, 415);
});

of(1, "bad-request when given an undecodable body", async () => {
  assertEquals((await sent(post(pathOf(allow), "{")))[0], 400);
});

of(1, "an infinite body is refused with its limit, 7340032 bytes", async () => {
  const body = new ReadableStream({ pull: (controller) => controller.enqueue(new Uint8Array(65_536)) });
  const [status, { message }] = await sent(post(pathOf(allow), "", { body }));
  assertEquals([status, message], [413, "the body is longer than 7340032 bytes"]);
});

of(3, "invokes the handler, and returns its v1 response with the uid of the request", async () => {
  const body = { ...ADMISSION, request: requestOf(Website, { uid: "foobar" }) };
  assertEquals(await sent(post(pathOf(allow), body)), [200, {
    ...ADMISSION,
    response: { uid: "foobar", allowed: true },
  }]);
});

of(2, "patches are one JSON patch of the response", async () => {
  const webhooks = new Webhooks(quiet).mutate(Website, ({ draft }) => {
    Object.assign(draft, { a: 2, b: 4 });
  });
  const { response, patch } = await review(webhooks, { object: { ...website({}), b: 3 } });
  assertEquals([response.allowed, response.patchType], [true, "JSONPatch"]);
  const wanted = [{ op: "replace", path: "/b", value: 4 }, { op: "add", path: "/a", value: 2 }];
  assertEquals(patch, wanted);
});

of(2, "recovers what a handler throws, also when it throws at once", async () => {
  const rejects = (): Promise<void> => Promise.reject(new Error("fake panic test"));
  const throws = (): void => {
    throw new Error("fake panic test");
  };
  for (const handler of [rejects, throws]) {
    const { status, body } = await review(new Webhooks(quiet).validate(Website, handler));
    assertEquals([status, body.code], [500, 500]);
    assertStringIncludes(body.message, "fake panic test");
  }
});

of(1, "an allowed response", async () => assertEquals((await review(allow)).response.allowed, true));

of(3, "a denied response is 403, Forbidden, with its reason", async () => {
  for (const message of ["", "UNACCEPTABLE!"]) {
    const { response } = await review(new Webhooks(quiet).validate(Website, () => refuse(message)));
    const { code, reason, message: said } = response.status;
    assertEquals([response.allowed, code, reason, said], [false, 403, "Forbidden", message]);
  }
});

of(1, "an error with its own code", async () => {
  const webhooks = new Webhooks(quiet).validate(Website, () => refuse("this is an error", { code: 400 }));
  const { code, message } = (await review(webhooks)).response.status;
  assertEquals([code, message], [400, "this is an error"]);
});

of(1, "a patch is the difference of two objects", async () => {
  const webhooks = new Webhooks(quiet).mutate(Website, ({ draft }) => {
    draft.spec.image = "bar";
  });
  const { patch } = await review(webhooks, { object: website({ image: "foo" }) });
  assertEquals(patch, [{ op: "replace", path: "/spec/image", value: "bar" }]);
});

of(1, "warnings are added to existing ones", async () => {
  const webhooks = new Webhooks(quiet).validate(Website, ({ warn }) => {
    for (const text of ["existing-warning", "additional-warning-1", "additional-warning-2"]) warn(text);
  });
  const { warnings } = (await review(webhooks)).response;
  assertEquals(warnings, ["existing-warning", "additional-warning-1", "additional-warning-2"]);
});

/** Calls all handlers one after the other, as the API server does. */
async function each(webhooks: Webhooks, count: number): Promise<Awaited<ReturnType<typeof review>>[]> {
  const answers = [];
  for (let index = 0; index < count; index++) answers.push(await review(webhooks, {}, { index }));
  return answers;
}

of(3, "several validating handlers: one refuses, all allow, all warnings are shown", async () => {
  const two = (second: (request: { warn(text: string): void }) => ReturnType<typeof refuse> | void): Webhooks =>
    new Webhooks(quiet).validate(Website, () => {}).validate(Website, second, { name: "second.example.com" });
  const allowed = async (webhooks: Webhooks) => (await each(webhooks, 2)).map(({ response }) => response.allowed);
  assertEquals(await allowed(two(() => refuse("no"))), [true, false]);
  assertEquals(await allowed(two(() => {})), [true, true]);
  const warned = await each(two(({ warn }) => warn("handler-warning")), 2);
  assertEquals(warned.map(({ response }) => response.warnings), [undefined, ["handler-warning"]]);
});

of(3, "several mutating handlers: all patches, with warnings, and none of a handler that refuses", async () => {
  const webhooks = (last: (request: { warn(text: string): void }) => ReturnType<typeof refuse> | void): Webhooks =>
    new Webhooks(quiet)
      .mutate(Website, ({ draft }) => {
        draft.metadata.annotations = { "new-key": "new-value" };
        draft.spec.replicas = 2;
      })
      .mutate(Website, ({ draft, warn }) => {
        draft.metadata.annotations = { hello: "world" };
        return last({ warn });
      }, { name: "second.example.com" });
  const patches = async (webhooks: Webhooks) => (await each(webhooks, 2)).map(({ patch }) => patch?.length);
  assertEquals(await patches(webhooks(() => {})), [2, 1]);
  assertEquals(await patches(webhooks(({ warn }) => warn("annotation-warning"))), [2, 1]);
  assertEquals(await patches(webhooks(() => refuse("no"))), [2, undefined]);
});

const OPERATIONS = [
  { operation: "CREATE", object: website({}) },
  { operation: "UPDATE", object: website({}), oldObject: website({}) },
  { operation: "DELETE", oldObject: website({}) },
] as const;

for (const warnings of [[], ["warning message", "another warning message"]]) {
  const outcomes = [
    ["succeeds", undefined, true, undefined, undefined],
    ["refuses with a status", { code: 422 }, false, 422, "Invalid"],
    ["refuses with an error", {}, false, 403, "Forbidden"],
  ] as const;
  for (const [title, options, isAllowed, code, reason] of outcomes) {
    of(3, `validation of create, update and delete ${title}, with ${warnings.length} warnings`, async () => {
      const webhooks = new Webhooks(quiet).validate(Website, ({ warn }) => {
        warnings.forEach(warn);
        if (options !== undefined) throw refuse("some message", options);
      }, { operations: ["CREATE", "UPDATE", "DELETE"] });
      for (const parts of OPERATIONS) {
        const { status, response } = await review(webhooks, parts);
        assertEquals([status, response.allowed, response.warnings ?? []], [200, isAllowed, warnings]);
        assertEquals([response.status?.code, response.status?.reason], [code, reason]);
        if (!isAllowed) assertEquals(response.status.message, "some message");
      }
    });
  }
}

of(4, "validation gets 400 when an object cannot be read", async () => {
  const webhooks = new Webhooks(quiet).validate(Website, () => {}, { operations: ["CREATE", "UPDATE", "DELETE"] });
  const [creation, update, removal] = OPERATIONS;
  for (
    const parts of [
      { ...creation, object: "x" },
      { ...update, object: [] },
      { ...update, oldObject: 1 },
      { ...removal, oldObject: null },
    ]
  ) assertEquals((await review(webhooks, parts)).status, 400);
});

of(1, "a default keeps fields that the handler does not know", async () => {
  const Any = defineResource<
    DynamicObject & { labels?: Record<string, string>; replica?: number; totalReplicas?: number }
  >(
    { ...Website },
  );
  const webhooks = new Webhooks(quiet).mutate(Any, ({ draft }) => {
    draft.labels = { foo: "bar" };
    draft.replica = 2;
    delete draft.totalReplicas;
  });
  const { patch } = await review(webhooks, { object: { newField: "foo", totalReplicas: 5 } });
  assertEquals(patch, [
    { op: "remove", path: "/totalReplicas" },
    { op: "add", path: "/labels", value: { foo: "bar" } },
    { op: "add", path: "/replica", value: 2 },
  ]);
});

const pod = (image: string): object => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "foo", namespace: "default" },
  spec: { containers: [{ image, name: "bar" }] },
});

of(4, "objects are decoded as they are, typed or not, old ones too, and without a kind", async () => {
  const seen: unknown[] = [];
  const webhooks = new Webhooks(quiet).validate(Pod, ({ object, old }) => {
    seen.push(object, old, object.spec.containers[0].image);
  });
  const parts = { operation: "UPDATE", object: pod("bar:v2"), oldObject: pod("bar:v1") };
  await review(webhooks, parts, { kind: Pod });
  assertEquals(seen, [pod("bar:v2"), pod("bar:v1"), "bar:v2"]);
  const { metadata, spec } = pod("bar:v2") as Answer;
  assertEquals((await review(webhooks, { object: { metadata, spec } }, { kind: Pod })).status, 200);
});

of(1, "an object of another kind is not decoded", async () => {
  const webhooks = new Webhooks(quiet).validate(Node, () => {});
  assertEquals((await review(webhooks, { object: pod("bar:v2") }, { kind: Pod })).status, 400);
});

const names = { group: "jobs.testprojects.kb.io", kind: "ExternalJob", plural: "externaljobs" } as const;
const text = { type: "string" } as const;
const V1 = defineKind({ ...names, version: "v1", spec: { type: "object", properties: { runAt: text } } });
const V3 = defineKind({ ...names, version: "v3", spec: { type: "object", properties: { deferredAt: text } } });
const spec = { type: "object", properties: { scheduleAt: text } } as const;
const V2 = defineKind({ ...names, version: "v2", spec, olderVersions: [V1, V3] });

const PATH = "/convert/externaljobs.jobs.testprojects.kb.io";

const jobs = (): Webhooks =>
  new Webhooks(quiet)
    .convert(V2, V1, {
      toHub: ({ spec: { runAt } }) => {
        if (runAt === "panic") throw new Error("PanicInConversion");
        return { spec: { scheduleAt: runAt } };
      },
      fromHub: ({ spec }) => ({ spec: { runAt: spec.scheduleAt } }),
    })
    .convert(V2, V3, {
      toHub: ({ spec }) => ({ spec: { scheduleAt: spec.deferredAt } }),
      fromHub: ({ spec }) => ({ spec: { deferredAt: spec.scheduleAt } }),
    });

const job = (version: string, spec: object): object => ({
  apiVersion: `jobs.testprojects.kb.io/${version}`,
  kind: "ExternalJob",
  metadata: { namespace: "default", name: "obj-1" },
  spec,
});

of(3, "converts spoke to hub, hub to spoke, and spoke to spoke", async () => {
  const time = "every 2 seconds";
  const specs = { v1: { runAt: time }, v2: { scheduleAt: time }, v3: { deferredAt: time } };
  for (const [from, to] of [["v1", "v2"], ["v2", "v1"], ["v1", "v3"]] as const) {
    const { response } = await convert(jobs(), `jobs.testprojects.kb.io/${to}`, [job(from, specs[from])], PATH);
    assertEquals([response.result.status, response.convertedObjects], ["Success", [job(to, specs[to])]]);
  }
});

of(4, "fails for another group, the same version, a kind without a hub, and what a conversion throws", async () => {
  const deployment = { apiVersion: "apps/v1beta1", kind: "Deployment", metadata: { name: "obj-1" } };
  for (
    const [desired, object] of [
      ["jobss.example.org/v2", job("v1", {})],
      ["jobs.testprojects.kb.io/v1", job("v1", {})],
      ["apps/v1", deployment],
      ["jobs.testprojects.kb.io/v3", job("v1", { runAt: "panic" })],
    ] as const
  ) {
    const { status, response } = await convert(
      jobs(),
      desired,
      [object],
      "/convert/externaljobs.jobs.testprojects.kb.io",
    );
    assertEquals([status, response.result.status, response.convertedObjects], [200, "Failure", []]);
    assert(response.result.message !== "");
  }
});

of(5, "all versions need a conversion, of the same kind, once", () => {
  const kept = { toHub: () => ({ spec: {} }), fromHub: () => ({ spec: {} }) };
  assertEquals(jobs().configurations({ url: "https://h" }).crds.length, 1);
  const V4 = defineKind({ ...names, version: "v4", spec });
  assertThrows(() => jobs().convert(V2, V4, kept), TypeError, "does not have it");
  assertThrows(() => jobs().convert(V2, Pod, kept as never), TypeError, "another kind");
  assertThrows(() => jobs().convert(V2, V3, kept), TypeError, "there is a conversion already");
  const partial = new Webhooks().convert(V2, V1, kept);
  assertThrows(() => partial.configurations({ url: "https://h" }), TypeError, "version v3 has no conversion");
});

of(2, "knows which kinds are convertible", () => {
  roundTrips(jobs(), V2, [{ metadata: { name: "a" }, spec: { scheduleAt: "x" } }]);
  assertThrows(() => roundTrips(jobs(), Pod, []), TypeError, "there is no conversion");
});

Deno.test("controller-runtime: the count of cases is right", () => assertEquals(cases, 67));
