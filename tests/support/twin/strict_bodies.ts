import { assertEquals } from "@std/assert";
import type { TwinServer } from "./play.ts";

/** A body, and what a server says of it. */
interface StrictBody {
  readonly method: "POST" | "PUT" | "PATCH";
  /** The path below the namespace. */
  readonly path: string;
  readonly media?: string;
  readonly body: string;
  /** The warnings of an answer that takes it. */
  readonly warnings: readonly string[];
  /** The status that refuses it under `fieldValidation=Strict`. */
  readonly code: number;
  /** The refusal's message after what the version calls it; undefined for the warnings in one line. */
  readonly refusal?: string;
}

const MAPS = "configmaps";
const MACHINE = `"apiVersion":"twin.example.com/v1","kind":"Machine"`;
const APPLY = "application/apply-patch+yaml";

/** Bodies in which members stand twice; the texts are what kube-apiserver 1.37 answers. */
const STRICT_BODIES: readonly StrictBody[] = [
  {
    method: "POST",
    path: MAPS,
    body: `{"metadata":{"name":"a","name":"b"}}`,
    warnings: [`duplicate field "metadata.name"`],
    code: 400,
  },
  {
    // In the order of the text; what is unknown is not looked into, and reported once.
    method: "POST",
    path: MAPS,
    body: `{"metadata":{"name":"a","name":"b","name":"c"},"data":{"x.y":"1","x.y":"2"},"odd":1,"odd":{"a":1,"a":2},
      "immutable":false,"zip":1,"immutable":true,"kind":"ConfigMap","kind":"ConfigMap"}`,
    warnings: [
      `duplicate field "metadata.name"`,
      `duplicate field "data.x.y"`,
      `unknown field "odd"`,
      `unknown field "zip"`,
      `duplicate field "immutable"`,
      `duplicate field "kind"`,
    ],
    code: 400,
  },
  {
    method: "POST",
    path: "pods",
    body: `{"metadata":{"name":"a"},"spec":{"containers":[{"name":"a","image":"b","image":"c\\"{"},
      {"name":"b","image":"c","foo":1,"resources":{"limits":{"cpu":"1","cpu":"2"}},"name":"b",
      "ports":[{"containerPort":1},{"containerPort":2,"containerPort":3}]}]}}`,
    warnings: [
      `duplicate field "spec.containers[0].image"`,
      `unknown field "spec.containers[1].foo"`,
      `duplicate field "spec.containers[1].resources.limits.cpu"`,
      `duplicate field "spec.containers[1].name"`,
      `duplicate field "spec.containers[1].ports[1].containerPort"`,
    ],
    code: 400,
  },
  {
    method: "PUT",
    path: `${MAPS}/dup`,
    body: `{"metadata":{"name":"dup"},"data":{"a":"1","\\u0061":"2"}}`,
    warnings: [`duplicate field "data.a"`],
    code: 400,
  },
  {
    // A custom object is read as any JSON, and then by its schema.
    method: "POST",
    path: "machines",
    body: `{${MACHINE},"metadata":{"name":"a","odd":1,"name":"a"},"spec":{"size":"Large","foo":{"a":1,"a":2},
      "size":"Small","pairs":{"a":"1","a":"2"},"open":{"x":[{"y":1},{"y":1,"y":2}]}}}`,
    warnings: [
      `duplicate field "metadata.name"`,
      `duplicate field "spec.foo.a"`,
      `duplicate field "spec.size"`,
      `duplicate field "spec.pairs.a"`,
      `duplicate field "spec.open.x[1].y"`,
      `unknown field "metadata.odd"`,
      `unknown field "spec.foo"`,
    ],
    code: 400,
  },
  {
    method: "PATCH",
    path: `${MAPS}/dup`,
    media: "application/merge-patch+json",
    body: `{"data":{"a":"1","a":"2"},"odd":1,"data":{"b":"3"},"odd":2}`,
    warnings: [
      `duplicate field "data.a"`,
      `duplicate field "data"`,
      `duplicate field "odd"`,
      `unknown field "odd"`,
    ],
    code: 422,
  },
  {
    method: "PATCH",
    path: `${MAPS}/dup`,
    media: "application/strategic-merge-patch+json",
    body: `{"metadata":{"labels":{"a":"1"},"labels":{"b":"2"}}}`,
    warnings: [`duplicate field "metadata.labels"`],
    code: 422,
  },
  {
    method: "PATCH",
    path: `${MAPS}/dup`,
    media: "application/json-patch+json",
    body: `[{"op":"test","path":"/kind","value":"ConfigMap"},{"op":"add","path":"/data","op":"add","value":{}}]`,
    warnings: [`json patch duplicate field "[1].op"`],
    code: 422,
  },
  {
    method: "PATCH",
    path: `${MAPS}/dup`,
    media: APPLY,
    body:
      `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"dup"},"data":{"a":"1",\n"a":"2"},\n"kind":"ConfigMap"}`,
    warnings: [`line 2: key "a" already set in map`, `line 3: key "kind" already set in map`],
    code: 400,
    refusal: "error converting YAML to JSON: yaml: unmarshal errors:\n" +
      `  line 2: key "a" already set in map\n  line 3: key "kind" already set in map`,
  },
];

/**
 * Checks what a server says of bodies in which members stand twice, by each way to validate fields. `begin` is the
 * beginning of the refusal of an apply, which versions word differently.
 */
export async function checkStrictBodies(
  server: TwinServer,
  namespace: string,
  begin = "error strict decoding patch",
): Promise<void> {
  await send(server, namespace, { method: "POST", path: MAPS, body: `{"metadata":{"name":"dup"}}` }, {});
  for (const strict of STRICT_BODIES) {
    const { warnings, code, refusal } = strict;
    const ask = (fieldValidation?: string): Promise<Answer> =>
      send(server, namespace, strict, { dryRun: "All", ...(fieldValidation && { fieldValidation }) });
    const ok = strict.method === "POST" ? 201 : 200;
    for (const way of [undefined, "Warn"]) {
      const warned = await ask(way);
      assertEquals([warned.code, warned.warnings], [ok, warnings], strict.body);
    }
    const ignored = await ask("Ignore");
    assertEquals([ignored.code, ignored.warnings], [ok, []], strict.body);
    const refused = await ask("Strict");
    const text = refusal ? `${begin}: ${refusal}` : `strict decoding error: ${warnings.join(", ")}`;
    assertEquals([refused.code, refused.message.endsWith(text)], [code, true], `${refused.message}\n${text}`);
  }
}

interface Answer {
  readonly code: number;
  readonly warnings: readonly string[];
  readonly message: string;
}

async function send(
  server: TwinServer,
  namespace: string,
  { method, path, media = "application/json", body }: Pick<StrictBody, "method" | "path" | "media" | "body">,
  query: Record<string, string>,
): Promise<Answer> {
  const prefix = path === "machines" ? "/apis/twin.example.com/v1" : "/api/v1";
  const url = new URL(`${prefix}/namespaces/${namespace}/${path}`, server.server);
  const manager = media === APPLY ? { fieldManager: "one" } : {};
  url.search = new URLSearchParams({ ...query, ...manager } as Record<string, string>).toString();
  const response = await server.fetch(new Request(url, { method, headers: { "content-type": media }, body }));
  const warnings = response.headers.get("warning")?.match(/"(?:[^"\\]|\\.)*"/g) ?? [];
  const { message = "" } = await response.json();
  return { code: response.status, warnings: warnings.map((text) => JSON.parse(text)), message };
}
