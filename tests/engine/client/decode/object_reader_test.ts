import { assert, assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import fc from "npm:fast-check@^4.10.2";
import type { KubernetesObject } from "../../../../src/engine/api/object.ts";
import { DecodeError, UnexpectedKindError } from "../../../../src/engine/api/status.ts";
import { Pod, portrait, utf8Of } from "../../../support/sources/bodies.ts";
import { ObjectReader } from "../../_readers.ts";
import { asRead, memberText } from "../../_texts.ts";

function reader(managedFields: "drop" | "keep" = "drop"): ObjectReader<KubernetesObject> {
  return new ObjectReader<KubernetesObject>({ resource: Pod, managedFields });
}

function read(objects: ObjectReader<KubernetesObject>, text: string): ReturnType<typeof objects.read> {
  const bytes = utf8Of(`xx${text}yy`);
  const entry = objects.read(bytes, 2, bytes.length - 2);
  bytes.fill(0); // the bytes are used again
  return entry;
}

Deno.test("ObjectReader reads the same identity from an object whether it is walked or parsed, and the same as JSON.parse", () => {
  let named = 0;
  fc.assert(
    fc.property(memberText, fc.boolean(), fc.boolean(), (text, drop, filled) => {
      const objects = reader(drop ? "drop" : "keep");
      if (filled) objects.fillIn("Pod", "v1");
      const entry = read(objects, text);
      const bytes = utf8Of(text);
      const parsed = objects.parse(bytes, 0, bytes.length);
      const expected = asRead(JSON.parse(text), { drop, ...(filled ? { kind: "Pod", apiVersion: "v1" } : {}) });
      const metadata = expected.metadata as Record<string, unknown>;
      const strings = ["name", "namespace", "uid", "resourceVersion"].map((field) => metadata[field] ?? "");
      const texts = strings.map((part) => typeof part === "string" ? part : "");
      if (texts[0] === "" || typeof strings[1] !== "string") {
        assertEquals(entry.key, "");
        assert(entry.error instanceof DecodeError);
        return;
      }
      if (strings.some((part) => typeof part !== "string")) {
        const { namespace: place, uid: id, resourceVersion: version } = entry;
        assertEquals([place, entry.name, id, version], [texts[1], texts[0], texts[2], texts[3]]);
        assert(entry.error instanceof DecodeError);
        return;
      }
      named++;
      const [name, namespace, uid, resourceVersion] = strings;
      const key = namespace === "" ? name : `${namespace}/${name}`;
      const text_ = JSON.stringify(expected);
      const portrait_ = {
        key,
        namespace,
        name,
        uid,
        resourceVersion,
        metadata: JSON.stringify(metadata),
        object: text_,
      };
      // A built-in kind's item is given kind and apiVersion although it has them further behind: the values agree.
      if (filled && JSON.stringify(entry.object) !== text_) {
        assertEquals(Object.keys(JSON.parse(text))[0], "metadata");
        assertEquals(entry.object as unknown, expected);
        return;
      }
      assertEquals(portrait(entry), portrait_);
      assertEquals(portrait(parsed), portrait_);
    }),
    { numRuns: 1_000, seed: 20_260_702 },
  );
  assert(named > 300, `only ${named} of 1000 had a name`);
});

Deno.test("ObjectReader keeps no reference to the bytes that it was given", () => {
  const objects = reader();
  const texts = [
    `{"kind":"Pod","apiVersion":"v1","metadata":{"name":"ascii","uid":"u-1","resourceVersion":"1"},"spec":{"a":"b"}}`,
    `{"kind":"Pod","apiVersion":"v1","metadata":{"name":"cjk","managedFields":[{}],"labels":{"a":"日本"}},"spec":{"a":"ä"}}`,
    `{"kind":"Pod","apiVersion":"v1","metadata":{"name":"日本"}}`,
  ];
  const entries = texts.map((text) => read(objects, text));
  for (const text of texts) read(objects, text.replace(`"name":"`, `"name":"other-`)); // the scratch buffers are used again
  assertEquals(entries.map((entry) => entry.key), ["ascii", "cjk", "日本"]);
  assertEquals(entries[0].object, JSON.parse(texts[0]));
  assertEquals(entries[1].metadata.labels, { a: "日本" });
  assertEquals(entries[1].object, asRead(JSON.parse(texts[1]), { drop: true }) as unknown as KubernetesObject);
  assertEquals(entries[2].object, JSON.parse(texts[2]));
});

Deno.test("ObjectReader reads broken UTF-8 as U+FFFD, and finds metadata after it", () => {
  for (const broken of [[0xff], [0xff, 0xfe], [0xe2, 0x82], [0xf0, 0x9f, 0xa6], [0xc3]]) {
    const head = utf8Of(`{"spec":"`);
    const tail = utf8Of(`","metadata":{"name":"a","labels":{"b":"c"}}}`);
    const bytes = new Uint8Array([...head, ...broken, ...tail]);
    const entry = reader().read(bytes, 0, bytes.length);
    assertEquals(entry.metadata, { name: "a", labels: { b: "c" } } as unknown as typeof entry.metadata);
    const spec = (entry.object as unknown as { spec: string }).spec;
    assertEquals([...new Set(spec)], ["\ufffd"]);
  }
});

Deno.test("ObjectReader puts kind and apiVersion first, as in objects of a watch", () => {
  const objects = reader();
  objects.fillIn("Pod", "v1");
  const walked = [
    [`{"metadata":{"name":"a"},"spec":{}}`, `{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a"},"spec":{}}`],
    [`{"metadata":{"managedFields":[],"name":"a"}}`, `{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a"}}`],
    [`{"metadata": {"name":"a"}}`, `{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a"}}`],
    [`{"spec":1,"metadata":{"name":"a"}}`, `{"kind":"Pod","apiVersion":"v1","spec":1,"metadata":{"name":"a"}}`],
    [
      `{"apiVersion":"x/v1","kind":"X","metadata":{"name":"a"}}`,
      `{"apiVersion":"x/v1","kind":"X","metadata":{"name":"a"}}`,
    ],
    [
      `{"spec":1,"metadata":{"name":"a"},"kind":"X","apiVersion":"x/v1"}`,
      `{"spec":1,"metadata":{"name":"a"},"kind":"X","apiVersion":"x/v1"}`,
    ],
  ];
  for (const [text, expected] of walked) assertEquals(JSON.stringify(read(objects, text).object), expected);
  const late = read(objects, `{"metadata":{"name":"a"},"kind":"X","apiVersion":"x/v1"}`);
  assertEquals([late.object.kind, late.object.apiVersion], ["X", "x/v1"]);
});

Deno.test("ObjectReader reads null instead of a string as absent, and refuses other types", () => {
  const absent = read(reader(), `{"metadata":{"name":"a","namespace":null,"uid":null,"resourceVersion":null}}`);
  assertEquals([absent.key, absent.namespace, absent.uid, absent.resourceVersion], ["a", "", "", ""]);
  for (const value of ["7", "true", "{}", `["a"]`]) {
    // Where the key can be read it is kept, so that what is filed under it is known to be outdated.
    const entry = read(reader(), `{"metadata":{"name":"a","namespace":"shop","uid":${value},"resourceVersion":"9"}}`);
    assertEquals([entry.key, entry.namespace, entry.uid, entry.resourceVersion], ["shop/a", "shop", "", "9"]);
    assertEquals(entry.error?.key, "shop/a");
    for (const metadata of [`{"name":${value}}`, `{"name":"a","namespace":${value}}`, `{"name":"","uid":${value}}`]) {
      assertEquals(read(reader(), `{"metadata":${metadata}}`).key, "");
    }
    assertStringIncludes(entry.error?.message ?? "", `its metadata has ${value} in the place of a string`);
    assertThrows(() => entry.object, DecodeError);
  }
});

Deno.test("ObjectReader throws for JSON that is not an object with metadata, and names what it found", () => {
  const cases = [
    [`null`, "null is not an object with metadata"],
    [`[1]`, "[1] is not an object"],
    [`{"kind":"Pod"}`, `{"kind":"Pod"} is not`],
    [`{"metadata":null}`, `{"metadata":null} is not`],
    [`{"metadata":"x"}`, `{"metadata":"x"} is not`],
    [`{"metadata": {`, `Cannot read an object of "pods": `],
    [``, `Cannot read an object of "pods": `],
  ];
  for (const [text, message] of cases) assertThrows(() => read(reader(), text), DecodeError, message);
});

Deno.test("ObjectReader does not mix up namespaces of successive objects", () => {
  const objects = reader();
  for (const namespace of ["shop", "shop", "ship", "sho", "shops", "", "s", "shop", "ship"]) {
    const entry = read(objects, `{"metadata":{"namespace":"${namespace}","name":"a"}}`);
    assertEquals([entry.namespace, entry.key], [namespace, namespace === "" ? "a" : `${namespace}/a`]);
  }
});

Deno.test("ObjectReader reads long names, and objects larger than its buffers, with small ones in between", () => {
  const objects = reader();
  for (const size of [1, 2_000, 100_000, 1_200_000, 3, 70_000]) {
    const name = "n".repeat(size);
    const entry = read(
      objects,
      `{"metadata":{"namespace":"${name}","name":"${name}","managedFields":[],"uid":"u","resourceVersion":"5"},"x":"${name}"}`,
    );
    assertEquals(entry.key.length, 2 * size + 1);
    assertEquals([entry.name.length, entry.uid, entry.resourceVersion], [size, "u", "5"]);
    assertEquals((entry.object as unknown as { x: string }).x, name);
    assertEquals("managedFields" in entry.metadata, false);
  }
});

Deno.test("ObjectReader recognizes objects of another kind, walked or parsed", () => {
  const metadata = `"metadata":{"name":"a","namespace":"shop","uid":"u-1","resourceVersion":"7"}`;
  const objects = new ObjectReader<KubernetesObject>({ resource: Pod, managedFields: "drop", expectedKind: "Pod" });
  const found = (text: string): string => {
    const entry = read(objects, text);
    return entry.error instanceof UnexpectedKindError ? `${entry.error.kind}${entry.resourceVersion}` : entry.key;
  };
  for (const kind of ["Service", "Pods", "PodList", "pod"]) {
    assertEquals(found(`{"kind":"${kind}","apiVersion":"v1",${metadata}}`), kind);
    assertEquals(found(`{"apiVersion":"v1","kind":"${kind}",${metadata}}`), kind);
    assertEquals(found(`{ "kind": "${kind}", ${metadata}}`), kind);
  }
  for (const text of [`"kind":"Pod","apiVersion":"v1",`, `"apiVersion":"v1","kind":"Pod",`, `"kind":"\\u0050od",`]) {
    assertEquals(found(`{${text}${metadata}}`), "shop/a");
  }
  // Without a kind it may be any.
  for (const text of ["", ` "x": 1, `, `"kind":"",`, `"kind":null,`]) {
    assertEquals(found(`{${text}${metadata}}`), "shop/a");
  }
});
