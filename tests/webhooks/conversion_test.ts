import { assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { defineKind, type KindOf } from "../../src/schema/mod.ts";
import { type Conversion, refuse, roundTrips, Webhooks } from "../../src/webhooks/mod.ts";
import { convert, post } from "./_reviews.ts";

const names = { group: "example.com", kind: "Job", plural: "jobs" } as const;
const text = { type: "string" } as const;
const V1 = defineKind({ ...names, version: "v1", spec: { type: "object", properties: { runAt: text } } });
const V3 = defineKind({ ...names, version: "v3", spec: { type: "object", properties: { deferredAt: text } } });
const V2 = defineKind({
  ...names,
  version: "v2",
  spec: { type: "object", properties: { scheduleAt: text } },
  status: { type: "object", properties: { phase: text } },
  olderVersions: [V1, V3],
});
type V1 = KindOf<typeof V1>;
type V2 = KindOf<typeof V2>;
type V3 = KindOf<typeof V3>;

const v1: Conversion<V2, V1> = {
  toHub: ({ spec: { runAt } }) => {
    if (runAt === "broken") throw new Error("cannot read the time");
    if (runAt === "refused") throw refuse("no such time");
    return { spec: { scheduleAt: runAt } };
  },
  fromHub: ({ spec: { scheduleAt } }) => ({ spec: { runAt: scheduleAt } }),
};
const v3: Conversion<V2, V3> = {
  toHub: ({ spec, metadata: { annotations, ...rest } }) => {
    const { phase, ...others } = annotations ?? {};
    return {
      metadata: { ...rest, annotations: others },
      spec: { scheduleAt: spec.deferredAt },
      ...phase !== undefined && { status: { phase } },
    };
  },
  fromHub: ({ spec, status, metadata: { annotations } }) => ({
    metadata: { annotations: { ...annotations, ...status?.phase !== undefined && { phase: status.phase } } },
    spec: { deferredAt: spec.scheduleAt },
  }),
};

const job = (version: string, spec: object, more: object = {}): Record<string, unknown> => ({
  apiVersion: `example.com/${version}`,
  kind: "Job",
  metadata: { name: "a", namespace: "n", uid: "u", labels: { l: "1" }, annotations: { x: "y" }, managedFields: [{}] },
  spec,
  ...more,
});

function served(onError: (error: unknown) => void = () => {}): Webhooks {
  return new Webhooks({ onError }).convert(V2, V1, v1).convert(V2, V3, v3);
}

Deno.test("objects are converted to the hub, from it, and between two others, in lists and in order", async () => {
  const { status, response } = await convert(served(), "example.com/v2", [
    job("v1", { runAt: "now" }),
    job("v3", { deferredAt: "later" }, { metadata: { name: "b", annotations: { phase: "Done" } } }),
  ]);
  assertEquals([status, response.uid, response.result], [200, "uid-1", { status: "Success" }]);
  assertEquals(response.convertedObjects, [
    job("v2", { scheduleAt: "now" }),
    { ...job("v2", { scheduleAt: "later" }, { metadata: { name: "b", annotations: {} } }), status: { phase: "Done" } },
  ]);
  const from = await convert(served(), "example.com/v1", [
    job("v2", { scheduleAt: "now" }),
    job("v3", { deferredAt: "x" }),
  ]);
  assertEquals(from.response.convertedObjects, [job("v1", { runAt: "now" }), job("v1", { runAt: "x" })]);
  const through = await convert(served(), "example.com/v3", [job("v1", { runAt: "now" })]);
  assertEquals(through.response.convertedObjects, [job("v3", { deferredAt: "now" })]);
});

Deno.test("only labels and annotations change in metadata, whatever a conversion returns", async () => {
  const metadata = { name: "other", uid: "other", labels: {}, finalizers: ["x"] } as never;
  const webhooks = new Webhooks().convert(V2, V1, { ...v1, toHub: () => ({ metadata, spec: {} }) });
  const [converted] = (await convert(webhooks, "example.com/v2", [job("v1", {})])).response.convertedObjects;
  assertEquals(converted, {
    ...job("v2", {}),
    metadata: { name: "a", namespace: "n", uid: "u", labels: {}, annotations: { x: "y" }, managedFields: [{}] },
  });
});

Deno.test("a failure names the object and the reason, has no objects, and is reported once", async () => {
  const errors: Error[] = [];
  const webhooks = served((error) => errors.push(error as Error));
  const objects = [job("v1", { runAt: "fine" }), job("v1", { runAt: "broken" })];
  const { status, response } = await convert(webhooks, "example.com/v3", objects);
  assertEquals([status, response.result.status, response.convertedObjects], [200, "Failure", []]);
  assertEquals(
    response.result.message,
    'Cannot convert Job "n/a" from example.com/v1 to example.com/v3: cannot read the time',
  );
  assertEquals(errors.length, 1);
  const refused = await convert(webhooks, "example.com/v2", [job("v1", { runAt: "refused" })]);
  assertStringIncludes(refused.response.result.message, "no such time");
  assertEquals(errors.length, 1);
  const wrong: [string, object, string][] = [
    ["example.com/v4", job("v1", {}), 'group "example.com" and version v2 or v1 or v3'],
    ["other.com/v2", job("v1", {}), "apiVersion must be of group"],
    ["example.com/v2", job("v9", {}), "apiVersion must be of group"],
    ["example.com/v2", job("v2", {}), "it has this version already"],
    ["example.com/v2", job("v1", {}, { kind: "Other" }), 'its kind must be "Job"'],
  ];
  for (const [desired, object, reason] of wrong) {
    const { result } = (await convert(webhooks, desired, [object])).response;
    assertEquals(result.status, "Failure");
    assertStringIncludes(result.message, reason);
  }
  const unwritable = new Webhooks({ onError: (error) => errors.push(error as Error) })
    .convert(V2, V1, { ...v1, toHub: () => ({ spec: { scheduleAt: 1n as never } }) });
  assertEquals((await convert(unwritable, "example.com/v2", [job("v1", {})])).status, 500);
  const returnsNothing = new Webhooks({ onError: () => {} }).convert(V2, V1, {
    ...v1,
    toHub: () => undefined as never,
  });
  const { result } = (await convert(returnsNothing, "example.com/v2", [job("v1", {})])).response;
  assertStringIncludes(result.message, "the conversion returned undefined, not an object");
});

Deno.test("a malformed conversion review gets 400", async () => {
  const webhooks = served();
  const review = (request: object, apiVersion = "apiextensions.k8s.io/v1") => ({
    apiVersion,
    kind: "ConversionReview",
    request,
  });
  for (
    const body of [
      review({ desiredAPIVersion: "example.com/v2", objects: [job("v1", {})] }),
      review({ uid: "u", desiredAPIVersion: "example.com/v2", objects: [] }),
      review({ uid: "u", desiredAPIVersion: "example.com/v2" }),
      review({ uid: "u", objects: [job("v1", {})] }, "apiextensions.k8s.io/v1beta1"),
    ]
  ) {
    const answer = await webhooks.fetch(post("/convert/jobs.example.com", body));
    assertEquals([answer.status, (await answer.json()).reason], [400, "BadRequest"]);
  }
});

Deno.test("conversions are checked when they are added", () => {
  const Other = defineKind({ ...names, plural: "others", version: "v1", spec: { type: "object" } });
  const Unserved = defineKind({ ...names, version: "v7", spec: { type: "object" } });
  const webhooks = served();
  const add = (hub: typeof V2, other: typeof V1) => () => webhooks.convert(hub, other, v1);
  assertThrows(add(V2, V1), TypeError, "there is a conversion already");
  assertThrows(add(V2, Other as never), TypeError, "others.example.com is another kind");
  assertThrows(add(V2, V2 as never), TypeError, "it is the same version");
  assertThrows(add(V2, Unserved as never), TypeError, "Add it to olderVersions");
  assertThrows(add(V1 as never, V2 as never), TypeError, "its hub is v2");
  assertThrows(
    () => served().convert(V2, V1, { toHub: v1.toHub, fromHubs: v1.fromHub } as never),
    TypeError,
    "fromHub",
  );
});

Deno.test("roundTrips passes what is kept, and names the first field that is lost, changed or new", () => {
  const metadata = { name: "a", namespace: "n" };
  const ok = new Webhooks().convert(V2, V3, v3);
  function* generated(): Generator<
    Omit<V2, "metadata"> & { metadata: { name: string; annotations: Record<string, string> } }
  > {
    for (let at = 0; at < 20; at++) {
      yield { metadata: { name: `a${at}`, annotations: {} }, spec: { scheduleAt: `${at}` }, status: { phase: "Done" } };
    }
  }
  roundTrips(ok, V2, generated());
  roundTrips(ok, V3, [{ metadata: { ...metadata, annotations: {} }, spec: { deferredAt: "x" } }]);
  assertThrows(
    () => roundTrips(served(), V2, [{ metadata, spec: { scheduleAt: "x" }, status: { phase: "Done" } }]),
    Error,
    'Cannot convert Job "n/a" from v2 to v1 and back: status is lost',
  );
  const changing = new Webhooks().convert(V2, V1, { ...v1, fromHub: () => ({ spec: { runAt: "never" } }) });
  assertThrows(
    () => roundTrips(changing, V1, [{ metadata, spec: { runAt: "now" } }]),
    Error,
    'from v1 to v2 and back: spec.runAt is now "never"',
  );
  const adding = new Webhooks().convert(V2, V1, {
    ...v1,
    toHub: (job) => ({ ...v1.toHub(job), metadata: { annotations: { "a.com/b": "c" } } }),
  });
  assertThrows(
    () => roundTrips(adding, V2, [{ metadata: { ...metadata, annotations: {} }, spec: {} }]),
    Error,
    "metadata.annotations.a.com/b is new",
  );
  assertThrows(() => roundTrips(new Webhooks(), V1, []), TypeError, "Add it with convert()");
});

Deno.test("conversions keep large integers, at their path or elsewhere, and report once what is not an input", async () => {
  const number = { type: "integer", format: "int64" } as const;
  const Old = defineKind({
    ...names,
    version: "v1",
    spec: { type: "object", properties: { id: number, sum: number } },
  });
  const Hub = defineKind({
    ...names,
    version: "v2",
    spec: { type: "object", properties: { id: number, key: number, sum: number } },
    olderVersions: [Old],
  });
  const errors: unknown[] = [];
  const webhooks = new Webhooks({ onError: (error) => errors.push(error) }).convert(Hub, Old, {
    toHub: ({ spec: { id, sum } }) => ({ spec: { id, key: id, ...sum !== undefined && { sum: sum + 2 ** 54 } } }),
    fromHub: ({ spec: { id, key } }) => ({ spec: { id, ...key !== undefined && { sum: key } } }),
  });
  const sent = async (version: string, ...objects: string[]): Promise<string> => {
    const from = version === "v1" ? "v2" : "v1";
    const texts = objects.map((spec, at) =>
      `{"apiVersion":"example.com/${from}","kind":"Job","metadata":{"name":"${at}"},"spec":${spec}}`
    );
    const review = `{"apiVersion":"apiextensions.k8s.io/v1","kind":"ConversionReview","request":{"uid":"u",` +
      `"desiredAPIVersion":"example.com/${version}","objects":[${texts}]}}`;
    const response = await webhooks.fetch(post("/convert/jobs.example.com", review));
    const text = await response.text();
    assertEquals([response.status, JSON.parse(text).response.result.status], [200, "Success"], text);
    assertEquals(response.headers.get("content-type"), "application/json");
    return [...text.matchAll(/(?<="spec":)[^}]*}/g)].join(" ");
  };
  const [ID, OTHER] = ["9007199254740993", "9223372036854775807"];
  assertEquals(
    await sent("v2", `{"id":${ID}}`, `{"id":1}`, `{"id":${OTHER}}`),
    `{"id":${ID},"key":${ID}} {"id":1,"key":1} {"id":${OTHER},"key":${OTHER}}`,
  );
  assertEquals(await sent("v1", `{"id":1,"key":${ID}}`), `{"id":1,"sum":${ID}}`);
  assertEquals(errors, []);
  for (const _ of [1, 2]) {
    assertEquals(await sent("v2", `{"id":${ID},"sum":4}`), `{"id":${ID},"key":${ID},"sum":18014398509481988}`);
  }
  assertEquals(errors.map((error) => (error as Error).message), [
    "Cannot keep spec.sum exact in a conversion of jobs.example.com: JavaScript rounds it. Copy such integers, and do " +
    "not compute with them",
  ]);
});
