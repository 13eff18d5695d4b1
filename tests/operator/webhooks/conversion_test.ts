import { assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { defineKind, type KindOf } from "../../../src/operator/schema/mod.ts";
import { type Conversion, refuse, roundTrips, Webhooks } from "../../../src/operator/webhooks/mod.ts";
import { type Answer, convert, post } from "./_reviews.ts";

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

Deno.test("a conversion removes the last annotation or label with undefined, as it removes others", async () => {
  const toHub = (labels: Record<string, string | undefined>, annotations?: typeof labels) =>
    new Webhooks().convert(V2, V1, { ...v1, toHub: () => ({ metadata: { labels, annotations }, spec: {} }) });
  const given = { name: "a", labels: { l: "1", m: "2" }, annotations: { x: "y" } };
  const convertedBy = async (webhooks: Webhooks): Promise<unknown> =>
    (await convert(webhooks, "example.com/v2", [job("v1", {}, { metadata: given })])).response.convertedObjects[0]
      .metadata;
  assertEquals(await convertedBy(toHub({ l: undefined, m: "2" }, { x: undefined })), {
    name: "a",
    labels: { m: "2" },
    annotations: {},
  });
  assertEquals(await convertedBy(toHub({ l: undefined })), { name: "a", labels: {}, annotations: { x: "y" } });
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

Deno.test("roundTrips passes a conversion that keeps in an annotation what the older version lacks", () => {
  const Full = defineKind({
    ...names,
    version: "v2",
    spec: { type: "object", properties: { runAt: text, zone: text } },
    olderVersions: [V1],
  });
  const kept = new Webhooks().convert(Full, V1, {
    toHub: ({ spec, metadata: { annotations } }) => ({
      metadata: { annotations: { ...annotations, zone: undefined } },
      spec: { ...spec, zone: annotations?.zone },
    }),
    fromHub: ({ spec: { zone, ...spec }, metadata: { annotations } }) => ({
      metadata: { annotations: { ...annotations, ...zone !== undefined && { zone } } },
      spec,
    }),
  });
  roundTrips(kept, Full, [{ metadata: { name: "a" }, spec: { runAt: "now", zone: "UTC" } }]);
  // Its part with nothing but metadata has no spec.
  roundTrips(kept, V1, [{ metadata: { name: "a", annotations: { zone: "UTC" } }, spec: { runAt: "now" } }]);
});

const Older = defineKind({
  ...names,
  version: "v1alpha1",
  spec: {
    type: "object",
    required: ["image"],
    properties: {
      image: { type: "string" },
      replicas: { type: "integer" },
      hosts: { type: "array", items: { type: "object", properties: { name: { type: "string" } } } },
      limits: { type: "object", additionalProperties: { type: "string" } },
    },
  },
  status: { type: "object", properties: { phase: { enum: ["Done", "Failed"] } } },
});
const Newer = defineKind({
  ...names,
  version: "v1",
  spec: {
    type: "object",
    required: ["container"],
    properties: {
      container: { type: "object", required: ["image"], properties: { image: { type: "string" } } },
      replicas: { type: "integer" },
      hosts: { type: "array", items: { type: "object", properties: { name: { type: "string" } } } },
      limits: { type: "object", additionalProperties: { type: "string" } },
    },
  },
  status: { type: "object", properties: { phase: { enum: ["Done", "Failed"] } } },
  olderVersions: [Older],
});
type Both = Conversion<KindOf<typeof Newer>, KindOf<typeof Older>>;

const both: Both = {
  toHub: ({ spec: { image, ...rest }, status }) => ({ spec: { container: { image }, ...rest }, status }),
  fromHub: ({ spec: { container, ...rest }, status }) => ({ spec: { image: container?.image, ...rest }, status }),
};

Deno.test("parts of objects are converted, and what was absent stays absent", async () => {
  const errors: Error[] = [];
  const webhooks = new Webhooks({ onError: (error) => errors.push(error as Error) }).convert(Newer, Older, both);
  const metadata = { name: "a" };
  const pairs: [object, object, object?][] = [
    [{}, {}],
    [{ status: { phase: "Done" } }, { status: { phase: "Done" } }],
    [{ metadata }, { metadata }],
    [{ spec: { replicas: 1 } }, { spec: { replicas: 1 } }],
    [{ spec: { image: "x" } }, { spec: { container: { image: "x" } } }],
    [{ spec: {} }, { spec: {} }],
    [{ spec: null }, { spec: null }],
    [{ metadata: null, status: null }, { status: null }],
    [{ spec: { hosts: [{}], limits: {} } }, { spec: { hosts: [{}], limits: {} } }],
  ];
  for (const [older, newer] of pairs) {
    const of = (version: string, members: object): object => {
      const apiVersion = `example.com/${version}`;
      return { apiVersion, kind: "Job", ...members };
    };
    // The API server refuses an answer without metadata.
    const [to, from] = [{ metadata: {}, ...newer }, {
      ...older,
      metadata: { ...(older as typeof newer & Answer).metadata },
    }];
    for (
      const [version, given, expected] of [
        ["v1", of("v1alpha1", older), of("v1", to)],
        ["v1alpha1", of("v1", newer), of("v1alpha1", from)],
      ] as const
    ) {
      const { response } = await convert(webhooks, `example.com/${version}`, [given]);
      assertEquals([response.result, response.convertedObjects], [{ status: "Success" }, [expected]]);
    }
  }
  const broken = new Webhooks({ onError: (error) => errors.push(error as Error) })
    .convert(Newer, Older, { ...both, toHub: ({ spec }) => ({ spec: { container: { image: spec.image.trim() } } }) });
  const { response } = await convert(broken, "example.com/v1", [{ apiVersion: "example.com/v1alpha1", kind: "Job" }]);
  assertStringIncludes(
    response.result.message,
    "Cannot convert a part of a Job, which has no name, from example.com/v1alpha1 to example.com/v1: Cannot read",
  );
  assertEquals(errors.length, 1);
});

Deno.test("a conversion may return what JSON writes as something else", async () => {
  const at = new Date(0);
  const webhooks = new Webhooks().convert(V2, V1, {
    ...v1,
    toHub: () => ({ spec: { scheduleAt: at as never, "__proto__": undefined, list: [at, { a: undefined }] } }),
  });
  const [converted] = (await convert(webhooks, "example.com/v2", [job("v1", {})])).response.convertedObjects;
  assertEquals(converted.spec, { scheduleAt: at.toJSON(), list: [at.toJSON(), {}] });
});

Deno.test("roundTrips adds parts of each object", () => {
  const metadata = { name: "a", namespace: "n" };
  const whole = {
    metadata,
    spec: { container: { image: "x" }, replicas: 2, hosts: [{ name: "h" }], limits: { cpu: "1" } },
    status: { phase: "Done" as const },
  };
  const trips = (conversion: Both, objects = [whole]) => () =>
    roundTrips(new Webhooks().convert(Newer, Older, conversion), Newer, objects);
  trips(both)();
  // This is how one writes it without knowing of parts.
  const throwing: Both = {
    ...both,
    fromHub: ({ spec: { container: { image }, ...rest }, status }) => ({ spec: { image, ...rest }, status }),
  };
  assertThrows(trips(throwing), Error, 'Cannot convert Job "n/a" without spec from v1 to v1alpha1 and back');
  const losing: Both = {
    ...both,
    fromHub: (job) => job.spec.replicas === undefined ? { spec: {} as never, status: job.status } : both.fromHub(job),
  };
  assertThrows(
    trips(losing),
    Error,
    'Cannot convert Job "n/a" without spec.replicas from v1 to v1alpha1 and back: spec.container is lost',
  );
  const named: Both = {
    ...both,
    fromHub: (job) => ({ ...both.fromHub(job), ...job.metadata.name === undefined && { status: undefined } }),
  };
  assertThrows(trips(named), Error, 'Job "n/a" without metadata from v1 to v1alpha1 and back: status is lost');
  const filling: Both = {
    ...both,
    toHub: (job) => ({ ...both.toHub(job), status: { phase: job.status?.phase ?? "Failed" } }),
  };
  assertThrows(trips(filling), Error, "without status from v1 to v1alpha1 and back: status is new");
  const lonely: Both = {
    ...both,
    toHub: (job) =>
      Object.keys(job.spec).length + Object.keys(job.metadata).length === 0
        ? { spec: job.spec as never }
        : both.toHub(job),
  };
  assertThrows(trips(lonely), Error, '"n/a" with nothing but status from v1 to v1alpha1 and back: status is lost');
  const inLists: Both = {
    ...both,
    fromHub: ({ spec, ...job }) =>
      both.fromHub({ ...job, spec: { ...spec, hosts: spec.hosts?.filter(({ name }) => name) } }),
  };
  assertThrows(
    trips(inLists),
    Error,
    "without spec.hosts.0.name from v1 to v1alpha1 and back: spec.hosts.0 is lost",
  );
});

Deno.test("roundTrips adds the nulls of a server, which need not come back", () => {
  const whole = { metadata: { name: "a" }, spec: { container: { image: "x" }, hosts: [{ name: "h" }] } };
  const trips = (fromHub: Both["fromHub"]) => () =>
    roundTrips(new Webhooks().convert(Newer, Older, { ...both, fromHub }), Newer, [whole]);
  trips(({ spec: { hosts, ...spec }, ...job }) =>
    both.fromHub({ ...job, spec: { ...spec, hosts: hosts ?? undefined } })
  )();
  const defaulted = trips(({ spec: { hosts = [], ...spec }, ...job }) =>
    both.fromHub({ ...job, spec: { ...spec, ...hosts.length > 0 && { hosts } } })
  );
  assertThrows(defaulted, Error, 'Cannot convert Job "a" with spec.hosts null from v1 to v1alpha1 and back');
});

Deno.test("roundTrips adds an object for each optional part of the schema", () => {
  const metadata = { name: "a", namespace: "n" };
  const small = { metadata, spec: { image: "x" } };
  const trips = (conversion: Both, objects: Parameters<typeof roundTrips<KindOf<typeof Older>>>[2] = [small]) => () =>
    roundTrips(new Webhooks().convert(Newer, Older, conversion), Older, objects);
  trips(both)();
  trips(both, [])();
  const statusless: Both = {
    ...both,
    toHub: ({ spec: { image, ...rest } }) => ({ spec: { container: { image }, ...rest } }),
  };
  const lost = 'Cannot convert Job "n/a" with status {"phase":"Done"} from v1alpha1 to v1 and back: status is lost';
  assertThrows(trips(statusless), Error, lost);
  const listless: Both = {
    ...both,
    fromHub: ({ spec: { hosts: _, ...spec }, ...job }) => both.fromHub({ ...job, spec }),
  };
  assertThrows(
    trips(listless),
    Error,
    'with spec.hosts [{"name":"text"}] from v1alpha1 to v1 and back: spec.hosts is lost',
  );
  const elements: Both = {
    ...both,
    toHub: (job) => ({ ...both.toHub(job), spec: { ...both.toHub(job).spec, hosts: job.spec.hosts?.map(() => ({})) } }),
  };
  assertThrows(
    trips(elements, [{ metadata, spec: { image: "x", hosts: [{}] } }]),
    Error,
    'with spec.hosts.0.name "text" from v1alpha1 to v1 and back: spec.hosts.0.name is lost',
  );
  assertThrows(
    trips({ ...both, fromHub: ({ spec: { limits: _, ...spec }, ...job }) => both.fromHub({ ...job, spec }) }),
    Error,
    'with spec.limits {"key":"text"}',
  );
  // A function may not be able to read a value that is made up: an object that has the member is used instead.
  const reading: Both = {
    ...both,
    toHub: (job) => {
      if (job.spec.limits?.key === "text") throw new Error("no such limit");
      return both.toHub(job);
    },
  };
  assertThrows(trips(reading), Error, 'Cannot convert Job "n/a" with spec.limits {"key":"text"}');
  trips(reading, [small, { metadata, spec: { image: "x", limits: { cpu: "1" } } }])();
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
