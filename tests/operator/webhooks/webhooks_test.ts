import { assert, assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { defineResource } from "../../../src/engine/api/resource.ts";
import { StatusError } from "../../../src/engine/api/status.ts";
import { openMetricsText } from "../../../src/engine/informer/metrics.ts";
import { Secret } from "../../../src/engine/kinds/core/v1.ts";
import { Deployment } from "../../../src/engine/kinds/apps/v1.ts";
import { AdmissionError, refuse, type ValidateRequest, Webhooks } from "../../../src/operator/webhooks/mod.ts";
import { ADMISSION, pathOf, post, requestOf, review, Website, website } from "./_reviews.ts";
import { Warnings } from "../../support/texts/console.ts";
import { FakeTime } from "../../support/times/fake_time.ts";

Deno.test("a handler sees typed objects, user, options and the rest of the request", async () => {
  const seen: ValidateRequest<Website, "CREATE" | "UPDATE" | "DELETE">[] = [];
  const webhooks = new Webhooks().validate(Website, (request) => {
    seen.push(request);
  }, { operations: ["CREATE", "UPDATE", "DELETE"], subresources: ["", "status"] });
  const [old, object] = [website({ image: "a:1" }), website({ image: "a:2" })];
  await review(webhooks, { operation: "UPDATE", object, oldObject: old, subResource: "status", dryRun: true });
  await review(webhooks, { operation: "DELETE", oldObject: old, name: "", options: null });
  await review(webhooks, { object: website({ image: "b" }, { name: undefined }), name: undefined });
  const [update, removal, creation] = seen;
  assertEquals([update.operation, update.object?.spec.image, update.old?.spec.image], ["UPDATE", "a:2", "a:1"]);
  assertEquals([update.subresource, update.dryRun, update.uid], ["status", true, "uid-1"]);
  assertEquals(update.user, {
    name: "ada",
    uid: "u-1",
    groups: ["system:authenticated"],
    extra: { scopes: ["a", "b"] },
  });
  assertEquals(update.options?.fieldManager, "kubectl");
  assertEquals([removal.object, removal.old?.spec.image, removal.name], [undefined, "a:1", "blog"]);
  assertEquals([removal.options, removal.dryRun, removal.subresource], [undefined, false, undefined]);
  assertEquals([creation.old, creation.name, creation.namespace], [undefined, "", "shop"]);
});

Deno.test("a refusal has its causes by field, and names the object as kubectl prints it", async () => {
  const causes = [{ field: "spec.image", message: "must have a tag" }, {
    field: "spec.replicas",
    message: "too many",
    reason: "FieldValueForbidden",
  }];
  const webhooks = new Webhooks().validate(Website, ({ warn }) => {
    warn("still a warning");
    throw refuse("two things are wrong", { causes });
  });
  const { status, body, response } = await review(webhooks);
  assertEquals([status, body.apiVersion, body.kind], [200, "admission.k8s.io/v1", "AdmissionReview"]);
  assertEquals(response, {
    uid: "uid-1",
    allowed: false,
    warnings: ["still a warning"],
    status: {
      kind: "Status",
      apiVersion: "v1",
      metadata: {},
      status: "Failure",
      message: "two things are wrong",
      reason: "Invalid",
      details: {
        name: "blog",
        group: "example.com",
        kind: "Website",
        causes: [{ reason: "FieldValueInvalid", field: "spec.image", message: "must have a tag" }, {
          field: "spec.replicas",
          message: "too many",
          reason: "FieldValueForbidden",
        }],
      },
      code: 422,
    },
  });
});

Deno.test("a refusal is thrown or returned, with 403 or its own code and reason", async () => {
  const errors: unknown[] = [];
  let refusal = refuse("no");
  const thrown = new Webhooks({ onError: (error) => errors.push(error) }).validate(
    Website,
    () => Promise.reject(refusal),
  );
  const returned = new Webhooks().validate(Website, () => refusal);
  for (const webhooks of [thrown, returned]) {
    const { code, reason, message, details } = (await review(webhooks)).response.status;
    assertEquals([code, reason, message, details], [403, "Forbidden", "no", undefined]);
  }
  refusal = refuse("later", { code: 429, reason: "Busy" });
  const { code, reason } = (await review(thrown)).response.status;
  assertEquals([code, reason, errors], [429, "Busy", []]);
  assertThrows(() => refuse("x", { code: 200 }), RangeError, "from 400 to 599, but it is 200");
  assertThrows(() => refuse("x", { cause: [] } as never), TypeError, 'Did you mean "causes"?');
});

Deno.test("warnings are cut to the server's limits, and have no control characters", async () => {
  const texts = ["a\r\nb\tc", "", "😀".repeat(300), ...Array.from({ length: 20 }, () => "x".repeat(400))];
  const webhooks = new Webhooks().validate(Website, ({ warn }) => texts.forEach(warn));
  const { allowed, warnings } = (await review(webhooks)).response;
  assert(allowed);
  assertEquals(warnings[0], "a b c");
  assertEquals(warnings[1], `${"😀".repeat(255)}…`);
  assertEquals(warnings[2], `${"x".repeat(255)}…`);
  const length = (warnings as string[]).reduce((sum, text) => sum + Array.from(text).length, 0);
  assertEquals(length, 4_096);
  assertEquals((await review(new Webhooks().validate(Website, () => {}))).response, { uid: "uid-1", allowed: true });
});

Deno.test("a mutation is the difference of the draft, and nothing if it did not change", async () => {
  const webhooks = new Webhooks().mutate(Website, ({ draft, object }) => {
    if (object.spec.image.includes(":")) return;
    draft.spec.image += ":latest";
    draft.metadata.labels = { ...draft.metadata.labels, "example.com/a~b": "é" };
  });
  const { response, patch } = await review(webhooks, { object: website({ image: "a" }) });
  assertEquals([response.allowed, response.patchType], [true, "JSONPatch"]);
  assertEquals(patch, [
    { op: "add", path: "/metadata/labels", value: { "example.com/a~b": "é" } },
    { op: "replace", path: "/spec/image", value: "a:latest" },
  ]);
  const same = await review(webhooks);
  assertEquals(same.response, { uid: "uid-1", allowed: true });
  const refusing = new Webhooks().mutate(Website, ({ draft }) => {
    draft.spec.image = "b";
    throw refuse("no");
  });
  assertEquals((await review(refusing)).response.patch, undefined);
});

Deno.test("what a handler throws is 500 with the reason, reported once, also a StatusError of a client", async () => {
  const errors: Error[] = [];
  const causes = [
    new TypeError("image is undefined"),
    new StatusError("Cannot get: gone", { code: 404, reason: "NotFound", message: "gone" }),
    "a text",
  ];
  for (const cause of causes) {
    const webhooks = new Webhooks({ onError: (error) => errors.push(error as Error) })
      .validate(Website, () => Promise.reject(cause));
    const { status, body } = await review(webhooks);
    assertEquals([status, body.kind, body.code, body.reason], [500, "Status", 500, "InternalError"]);
    assertStringIncludes(body.message, 'Cannot validate CREATE of Website "shop/blog": ');
  }
  assertEquals(errors.map(({ cause }) => cause), causes);
});

Deno.test("nothing of a Secret is in responses, reports or on the console", async () => {
  const errors: Error[] = [];
  const leak = (): never => {
    throw new TypeError("cannot use hunter2-of-the-secret");
  };
  const object = {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: "s" },
    stringData: { a: "hunter2-of-the-secret" },
  };
  for (const onError of [undefined, (error: unknown) => errors.push(error as Error)]) {
    const webhooks = new Webhooks({ onError }).validate(Secret, leak);
    using console = new Warnings();
    {
      const { status, body } = await review(webhooks, { object }, { kind: Secret });
      assertEquals(status, 500);
      assertStringIncludes(body.message, "TypeError");
      assert(!JSON.stringify(body).includes("hunter2"));
      const broken = `{"kind": "AdmissionReview", "stringData": "hunter2-of-the-secret" x`;
      const answer = await webhooks.fetch(post(pathOf(webhooks), broken));
      assertEquals(answer.status, 400);
      assert(!(await answer.text()).includes("hunter2"));
    }
    const lines = console.take();
    assertEquals(lines.length, onError === undefined ? 1 : 0);
    assert(!lines.join().includes("hunter2"));
  }
  assertEquals(errors.length, 1);
  assert(!Deno.inspect(errors).includes("hunter2") && !JSON.stringify(errors).includes("hunter2"));
});

Deno.test("one handler's failure does not affect another's request, nor its own next one", async () => {
  const errors: unknown[] = [];
  let fails = true;
  const webhooks = new Webhooks({ onError: (error) => errors.push(error) })
    .validate(Website, () => {
      if (fails) throw new Error("broken");
    })
    .validate(Website, () => {}, { name: "second.example.com" });
  const both = await Promise.all([review(webhooks), review(webhooks, {}, { index: 1 })]);
  assertEquals(both.map(({ status }) => status), [500, 200]);
  fails = false;
  assertEquals((await review(webhooks)).status, 200);
  assertEquals(errors.length, 1);
  // An observer that throws does not fail the response.
  const throwing = new Webhooks({
    onError: () => {
      throw new Error("observer");
    },
  }).validate(Website, () => Promise.reject(new Error("x")));
  const uncaught = Promise.withResolvers<string>();
  const listener = (event: ErrorEvent): void => {
    event.preventDefault();
    uncaught.resolve(event.error.message);
  };
  addEventListener("error", listener, { once: true });
  assertEquals((await review(throwing)).status, 500);
  assertEquals(await uncaught.promise, "observer");
});

Deno.test("the signal aborts when the server no longer waits, and the response is 504", async () => {
  using time = new FakeTime();
  const errors: Error[] = [];
  const signals: AbortSignal[] = [];
  const began = [Promise.withResolvers<void>(), Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const webhooks = new Webhooks({ onError: (error) => errors.push(error as Error) })
    .validate(Website, ({ signal }) => {
      signals.push(signal);
      began[signals.length - 1].resolve();
      return new Promise(() => {});
    }, { timeoutSeconds: 4 });
  for (
    const [index, [query, ms]] of ([["?timeout=2s", 2_000], ["", 4_000], ["?timeout=99999s", 30_000]] as const)
      .entries()
  ) {
    const answer = review(webhooks, {}, { query });
    await began[index].promise;
    await time.tickAsync(ms - 1);
    assert(!signals[index].aborted);
    await time.tickAsync(1);
    const { status, body } = await answer;
    assertEquals([status, body.reason], [504, "Timeout"]);
    assert(signals[index].aborted);
  }
  assertEquals(errors.length, 3);
  assertStringIncludes(errors[0].message, "in 2 s");
});

Deno.test("the signal aborts after the response, so that nothing goes on", async () => {
  let seen: AbortSignal | undefined;
  let wasAborted: boolean | undefined;
  await review(
    new Webhooks().validate(Website, ({ signal }) => {
      seen = signal;
      wasAborted = signal.aborted;
    }),
  );
  assertEquals([wasAborted, seen?.aborted], [false, true]);
});

Deno.test("malformed requests get a Status with the reason, and no handler is called", async () => {
  let calls = 0;
  const errors: unknown[] = [];
  const webhooks = new Webhooks({ onError: (error) => errors.push(error) }).validate(Website, () => void calls++);
  const path = pathOf(webhooks);
  const whole = { ...ADMISSION, request: requestOf(Website, {}) };
  const part = (parts: object): object => ({ ...ADMISSION, request: requestOf(Website, parts as never) });
  const cases: [Request, number, string][] = [
    [new Request(`https://hooks${path}`), 405, 'must be POST, but it is "GET"'.replaceAll('"', "")],
    [post(path, whole, { method: "PUT" }), 405, "it is PUT"],
    [post(`${path}x`, whole), 404, "no webhook"],
    [post("/", whole), 404, "no webhook"],
    [post(path, whole, { headers: { "content-type": "application/foo" } }), 415, "application/json"],
    [post(path, whole, { headers: {} }), 415, "application/json"],
    [post(path, ""), 400, "empty"],
    [post(path, "{"), 400, "not JSON, in 1 characters"],
    [post(path, "[1]"), 400, "of kind AdmissionReview"],
    [post(path, "null"), 400, "AdmissionReview"],
    [post(path, { ...whole, apiVersion: "admission.k8s.io/v1beta1" }), 400, "and version admission.k8s.io/v1"],
    [post(path, { ...whole, kind: "ConversionReview" }), 400, "AdmissionReview"],
    [post(path, ADMISSION), 400, "no request"],
    [post(path, { ...ADMISSION, request: [] }), 400, "no request"],
    [post(path, part({ uid: 1 })), 400, "uid must be a string, but it is 1"],
    [post(path, part({ operation: "DELETE" })), 400, 'CREATE or UPDATE, but it is "DELETE"'],
    [post(path, part({ operation: undefined })), 400, "operation"],
    [post(path, part({ resource: { group: "example.com", version: "v2", resource: "websites" } })), 400, "resource"],
    [post(path, part({ kind: { kind: "Blog" } })), 400, 'kind must be "Website", but it is "Blog"'],
    [post(path, part({ object: null })), 400, "CREATE must have object"],
    [post(path, part({ operation: "UPDATE" })), 400, "UPDATE must have oldObject"],
  ];
  for (const [request, code, reason] of cases) {
    const answer = await webhooks.fetch(request);
    const body = await answer.json();
    assertEquals([answer.status, body.kind, body.code], [code, "Status", code], reason);
    assertStringIncludes(body.message, reason);
    assertEquals(answer.headers.get("allow"), code === 405 ? "POST" : null);
  }
  assertEquals([calls, errors], [0, []]);
  const typed = post(path, whole, { headers: { "content-type": "Application/JSON; charset=utf-8" } });
  assertEquals((await webhooks.fetch(typed)).status, 200);
});

Deno.test("a body is read up to 7 MiB, and its rest is cancelled", async () => {
  const webhooks = new Webhooks().validate(Website, () => {});
  const path = pathOf(webhooks);
  const MIB = 1_048_576;
  const big = (bytes: number): string => {
    const body = { ...ADMISSION, request: requestOf(Website, {}), pad: "" };
    return JSON.stringify({ ...body, pad: "x".repeat(bytes - JSON.stringify(body).length) });
  };
  assertEquals((await webhooks.fetch(post(path, big(7 * MIB)))).status, 200);
  assertEquals((await webhooks.fetch(post(path, big(7 * MIB + 1)))).status, 413);
  let sent = 0;
  let cancelled = false;
  const endless = new ReadableStream<Uint8Array>({
    pull: (controller) => {
      sent += MIB;
      controller.enqueue(new Uint8Array(MIB));
    },
    cancel: () => void (cancelled = true),
  });
  const answer = await webhooks.fetch(post(path, "", { body: endless }));
  assertEquals(answer.status, 413);
  assertStringIncludes((await answer.json()).message, "7340032 bytes");
  assert(cancelled && sent <= 10 * MIB, `${sent}`);
  const broken = new ReadableStream<Uint8Array>({ pull: (controller) => controller.error(new Error("reset")) });
  assertEquals((await webhooks.fetch(post(path, "", { body: broken }))).status, 400);
});

Deno.test("subresources with a kind of their own, and connections, are reviewed", async () => {
  const seen: unknown[] = [];
  const scale = { apiVersion: "autoscaling/v1", kind: "Scale", metadata: { name: "blog" }, spec: { replicas: 3 } };
  const webhooks = new Webhooks()
    .validate(Deployment, ({ object }) => void seen.push(object.kind), { subresources: ["scale"] });
  const kind = { group: "autoscaling", version: "v1", kind: "Scale" };
  const parts = { operation: "UPDATE", subResource: "scale", kind, object: scale, oldObject: scale };
  assertEquals((await review(webhooks, parts, { kind: Deployment })).status, 200);
  const connecting = new Webhooks().validate(Website, ({ object }) => void seen.push(object.command), {
    operations: ["CONNECT"],
    subresources: ["exec"],
  });
  const exec = { apiVersion: "v1", kind: "PodExecOptions", command: ["sh"] };
  const connect = { operation: "CONNECT", subResource: "exec", kind: { kind: "PodExecOptions" }, object: exec };
  assertEquals((await review(connecting, connect)).status, 200);
  assertEquals(seen, ["Scale", ["sh"]]);
});

Deno.test("names are unique domains, and options are checked", () => {
  const webhooks = new Webhooks().validate(Website, () => {}).mutate(Website, () => {});
  const add = (options: object) => () => webhooks.validate(Website, () => {}, options);
  assertThrows(add({}), TypeError, 'Cannot validate by "validate.v1.websites.example.com": there is a webhook');
  for (const name of ["a.b", "a.b.c/d", "A.b.c", ""]) assertThrows(add({ name }), TypeError, "at least three parts");
  for (const timeoutSeconds of [0, 31, 1.5, NaN]) {
    assertThrows(add({ timeoutSeconds, name: "a.b.c" }), TypeError, "1 to 30");
  }
  assertThrows(add({ reinvocationPolicy: "IfNeeded" }), TypeError, "reinvocationPolicy");
  assertThrows(() => new Webhooks({ onErrors: () => {} } as never), TypeError, "onError");
  const core = new Webhooks().validate(defineResource({ version: "v1", plural: "pods", kind: "Pod" }), () => {});
  assertEquals(pathOf(core), "/validate/validate.v1.pods.core");
});

Deno.test("metrics count reviews by handler and result, their time, and patches", async () => {
  let fate: "allow" | "refuse" | "throw" = "allow";
  const webhooks = new Webhooks({ onError: () => {} })
    .mutate(Website, ({ draft }) => {
      draft.spec.replicas = 2;
      if (fate === "refuse") throw refuse("no");
      if (fate === "throw") throw new Error("broken");
    })
    .validate(Website, () => {});
  for (fate of ["allow", "allow", "refuse", "throw"] as const) await review(webhooks);
  await webhooks.fetch(post(pathOf(webhooks), "{"));
  const text = openMetricsText(webhooks.metrics());
  const labels = 'webhook="mutate.v1.websites.example.com",type="mutate"';
  for (
    const line of [
      `webhook_reviews_total{${labels},result="allowed"} 2`,
      `webhook_reviews_total{${labels},result="refused"} 1`,
      `webhook_reviews_total{${labels},result="error"} 2`,
      `webhook_review_seconds_count{${labels}} 5`,
      `webhook_patches_total{${labels}} 2`,
      `webhook_reviews_total{webhook="validate.v1.websites.example.com",type="validate",result="allowed"} 0`,
    ]
  ) assertStringIncludes(text, line);
  assertEquals(text.match(/^webhook_patches_total/gm)?.length, 1);
});

Deno.test("refusals are errors of the package", () => {
  const error = refuse("no");
  assert(error instanceof AdmissionError && error instanceof Error);
  assertEquals([error.name, error.code, error.reason, error.causes], ["AdmissionError", 403, "Forbidden", []]);
});

Deno.test("requests are typed by kind and operations", () => {
  new Webhooks()
    .validate(Website, (request) => {
      const image: string = request.object.spec.image;
      // @ts-expect-error: a CREATE has no old object
      const old: Website = request.old;
      if (request.operation === "UPDATE") return void [request.old.spec.image, image, old];
    })
    .validate(Website, ({ object, old }) => {
      const removed: undefined = object;
      // @ts-expect-error: there is no such field
      return void [removed, old.spec.images];
    }, { name: "a.b.c", operations: ["DELETE"] })
    .mutate(Website, ({ draft, object }) => {
      draft.spec.hosts = [...draft.spec.hosts ?? [], "a"];
      // @ts-expect-error: the type is another
      draft.spec.replicas = "1";
      // @ts-expect-error: the object itself is not changed
      object.spec.image = "a";
    })
    // @ts-expect-error: a DELETE has nothing to change
    .mutate(Website, () => {}, { name: "a.b.d", operations: ["DELETE"] });
  // @ts-expect-error: a handler returns nothing but a refusal
  new Webhooks().validate(Website, () => false);
});

Deno.test("a review's large integers stay exact in the patch", async () => {
  const [id, low] = ["9007199254740999", "9007199254740992"];
  const webhooks = new Webhooks().mutate(Website, ({ draft }) => {
    // deno-lint-ignore no-explicit-any
    const { spec } = draft as any;
    spec.copy = spec.id;
    spec.moved = { list: spec.list };
    spec.list = [{}, ...spec.list];
  });
  const object = website({ id: "ID", list: [{ id: "LOW" }, { id: "OTHER" }] });
  const body = JSON.stringify({ ...ADMISSION, request: requestOf(Website, { object }) })
    .replace(`"ID"`, id).replaceAll(`"LOW"`, low).replace(`"OTHER"`, "9007199254740993");
  const answer = await webhooks.fetch(post(pathOf(webhooks), body));
  const patch = atob((await answer.json()).response.patch);
  assertEquals(
    patch,
    `[{"op":"add","path":"/spec/list/0","value":{}},{"op":"add","path":"/spec/copy","value":${id}},` +
      `{"op":"add","path":"/spec/moved","value":{"list":[{"id":${low}},{"id":9007199254740993}]}}]`,
  );
});

Deno.test("nothing of a review is written out, and it is refused where it is nested deeper than Go reads", async () => {
  const errors: unknown[] = [];
  const webhooks = new Webhooks({ onError: (error) => errors.push(error) }).mutate(Website, ({ draft }) => {
    (draft.metadata as { labels?: object }).labels = { a: "b" };
  });
  const path = pathOf(webhooks);
  const sent = async (
    parts: object,
    text = JSON.stringify({ ...ADMISSION, request: requestOf(Website, parts as never) }),
  ) => {
    const answer = await webhooks.fetch(post(path, text));
    return { status: answer.status, body: await answer.json() };
  };
  const large = Array.from({ length: 1_000 }, (_, at) => ({ at }));
  const cases: [object, string][] = [
    [{ resource: large }, "websites.example.com in v1, but it is absent, absent, absent"],
    [{ resource: { group: large, version: "v1", resource: { a: 1 } } }, 'but it is an object, a list, "v1"'],
    [
      { resource: { group: "g".repeat(5_000), version: 1, resource: null } },
      `but it is null, "${"g".repeat(100)}…", 1`,
    ],
    [{ kind: { kind: large } }, 'kind must be "Website", but it is a list'],
    [{ uid: { a: large } }, "uid must be a string, but it is an object"],
    [{ operation: large }, "operation must be CREATE or UPDATE, but it is a list"],
  ];
  for (const [parts, reason] of cases) {
    const { status, body } = await sent(parts);
    assertEquals(status, 400);
    assertStringIncludes(body.message, reason);
    assert(body.message.length < 300);
  }
  const nested = (levels: number): string =>
    JSON.stringify({ ...ADMISSION, request: requestOf(Website, { object: website({ image: "DEEP" }) }) })
      .replace(`"DEEP"`, `${"[".repeat(levels)}"]"${"]".repeat(levels)}`);
  // Four objects are around it.
  assertEquals((await sent({}, nested(9_996))).status, 200);
  const { status, body } = await sent({}, nested(9_997));
  assertEquals([status, body.message], [400, "the body is nested more than 10000 deep"]);
  assertEquals(errors, []);
});

Deno.test("the key of an object is cut in errors and refusals", async () => {
  const errors: Error[] = [];
  const name = "n".repeat(2_000);
  let error: unknown = new Error("the lookup failed");
  const webhooks = new Webhooks({ onError: (error) => errors.push(error as Error) }).validate(Website, () => {
    throw error;
  });
  assertEquals((await review(webhooks, { name })).status, 500);
  assertEquals(errors[0].message.length, `Cannot validate CREATE of Website ""`.length + 318);
  error = refuse("no", { causes: [{ field: "a", message: "b" }] });
  assertEquals((await review(webhooks, { name })).response.status.details.name.length, 318);
});
