import { assert, assertEquals, assertInstanceOf } from "@std/assert";
import fc from "fast-check";
import { DecodeError } from "../../../src/api/status.ts";
import {
  cutAt,
  inChunksOf,
  type ListReading,
  listReading,
  messageOf,
  portrait,
  utf8Of,
  watchReading,
} from "../../support/bodies.ts";
import { asRead, chunking, memberText } from "../../support/texts.ts";

const FIELDS = `[{"manager":"kubelet","fieldsV1":{"f:spec":{"k:{\"name\":\"app\"}":{}}}}]`.replaceAll(
  `{"name":"app"}`,
  `{\\"name\\":\\"app\\"}`,
);

/** Items as the server writes them in a built-in kind's list: without kind and apiVersion. */
const ITEMS = [
  `{"metadata":{"name":"a","namespace":"shop","uid":"u-1","resourceVersion":"1","managedFields":${FIELDS}},"spec":{"items":[{"x":"]}"}],"note":"\\"items\\":[{}]},{\\\\"}}`,
  `{"metadata":{"name":"b","namespace":"shop","uid":"u-2","resourceVersion":"2","labels":{"items":"[{"}},"spec":{"note":"日本🦕"}}`,
  `{"metadata":{"name":"c","uid":"u-3","resourceVersion":"3","managedFields":[]}}`,
];

/** The same as a watch writes them. */
const WATCHED = ITEMS.map((item) => `{"kind":"Pod","apiVersion":"v1",${item.slice(1)}`);

const BUILT_IN =
  `{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"9","continue":"t1","remainingItemCount":7},"items":[${ITEMS.join()}]}\n`;

const CUSTOM = `{"apiVersion":"acme.dev/v1","items":[${
  ITEMS.map((item) => `{"apiVersion":"acme.dev/v1","kind":"Widget",${item.slice(1)}`).join()
}],"kind":"WidgetList","metadata":{"continue":"","resourceVersion":"9"}}\n`;

const INDENTED = JSON.stringify(JSON.parse(BUILT_IN), undefined, 2);

function textOf(reading: ListReading): string {
  if (reading.error !== undefined) throw reading.error;
  const { entries: _entries, ...last } = reading.parts[reading.parts.length - 1];
  return JSON.stringify([last, reading.values.map(portrait)]);
}

function keys(reading: ListReading): string[] {
  return reading.values.map((entry) => entry.key);
}

Deno.test("ListReader decodes items of a built-in kind to the same text as a watch does [F24]", async () => {
  const list = await listReading([utf8Of(BUILT_IN)]);
  const watch = await watchReading([utf8Of(WATCHED.map((item) => `{"type":"ADDED","object":${item}}\n`).join(""))]);
  assertEquals(keys(list), ["shop/a", "shop/b", "c"]);
  assertEquals(
    list.values.map(portrait),
    watch.values.map((change) => change.type === "BOOKMARK" ? undefined : portrait(change.entry)),
  );
  const first = list.values[0].object;
  assertEquals(Object.keys(first), ["kind", "apiVersion", "metadata", "spec"]);
  assertEquals([first.kind, first.apiVersion, "managedFields" in first.metadata], ["Pod", "v1", false]);
  const kept = await listReading([utf8Of(BUILT_IN)], { managedFields: "keep" });
  assertEquals(
    kept.values.map((entry) => JSON.stringify(entry.object)),
    WATCHED.map((item) => JSON.stringify(JSON.parse(item))),
  );
});

Deno.test("ListReader yields the version and the continue token as soon as they are read, and at the end", async () => {
  const at = (text: string, mark: string): number => text.indexOf(mark);
  const about = (reading: ListReading): unknown[] =>
    reading.parts.map(({ entries, ...rest }) => [entries.length, rest]);
  const known = { resourceVersion: "9", continue: "t1", remainingItemCount: 7 };
  const bytes = utf8Of(BUILT_IN);
  const afterItems = bytes.length - 5;
  assertEquals(about(await listReading(cutAt(bytes, at(BUILT_IN, `,"items"`), at(BUILT_IN, `"u-1"`), afterItems))), [
    [0, {}],
    [0, known],
    [2, {}],
    [1, {}],
    [0, known],
  ]);
  assertEquals(about(await listReading(cutAt(utf8Of(CUSTOM), at(CUSTOM, `"u-1"`), utf8Of(CUSTOM).length - 50))), [
    [0, {}],
    [3, {}],
    [0, {}],
    [0, { resourceVersion: "9" }],
  ]);
});

for (const [name, text] of [["built-in", BUILT_IN], ["custom resource", CUSTOM], ["indented", INDENTED]] as const) {
  Deno.test(`ListReader reads the same ${name} list wherever it is split in two, and byte by byte`, async () => {
    const bytes = utf8Of(text);
    const expected = textOf(await listReading([bytes]));
    for (let at = 0; at <= bytes.length; at++) {
      const kind = at % 2 === 0 ? "bytes" : "default";
      if (textOf(await listReading(cutAt(bytes, at), { kind })) !== expected) {
        throw new Error(`split at ${at}: another list`);
      }
    }
    for (const kind of ["bytes", "default"] as const) {
      for (const size of [1, 2, 3, 7, 64]) {
        assertEquals(textOf(await listReading(inChunksOf(bytes, size), { kind })), expected);
      }
    }
  });

  Deno.test(`ListReader refuses a ${name} list that is cut off anywhere, and never returns a shorter one`, async () => {
    const bytes = utf8Of(text.trimEnd());
    for (let end = 0; end < bytes.length; end++) {
      const reading = await listReading([bytes.slice(0, end)]);
      if (!(reading.error instanceof DecodeError)) throw new Error(`cut off at ${end}: found no error`);
      if (!reading.error.message.startsWith(`Cannot read the list of "pods": `)) throw reading.error;
    }
    assertEquals((await listReading([bytes])).error, undefined);
  });
}

Deno.test("ListReader finds the items member, and no look-alike", async () => {
  const item = `{"metadata":{"name":"a"}}`;
  const other = `{"metadata":{"name":"wrong"}}`;
  const texts = [
    `{"metadata":{"items":[${other}]},"items":[${item}]}`,
    `{"kind":"items","x":"items","items":[${item}]}`,
    `{"x":{"items":[${other}]},"y":["items",[${other}]],"items":[${item}]}`,
    `{"x":"\\"items\\":[${other.replaceAll(`"`, `\\"`)}]","items":[${item}]}`,
    `{"item":[${other}],"itemss":[${other}],"Items":[${other}],"items":[${item}]}`,
    `{"items\\"":[${other}],"items":[${item}]}`,
    `{"items"\n:\t[ ${item} ]\n}`,
    `\n{"items":[${item}\n],"more":{"items":[${other}]},"kind":"PodList"}`,
    `{"kind":"PodList","\\u0069tems":[${item}]}`,
    `{"kind":"PodList","\\u0069tems":[${item}],"metadata":{"resourceVersion":"1"}}`,
  ];
  for (const text of texts) {
    for (const size of [1, 5, text.length]) {
      const reading = await listReading(inChunksOf(utf8Of(text), size));
      assertEquals(reading.error, undefined, text);
      assertEquals(keys(reading), ["a"], text);
    }
  }
});

Deno.test("ListReader yields items as they arrive, whatever members come before them", async () => {
  for (
    const before of [
      `"x":"\\""`,
      `"x":"\\\\"`,
      `"x":"{["`,
      `"x":"}]"`,
      `"x":{"a":[{}]}`,
      `"x":"items"`,
      `"itemsitems":1`,
    ]
  ) {
    const text = `{${before},"items":[{"metadata":{"name":"a"}}]}`;
    for (const size of [1, text.length - 1]) {
      const reading = await listReading(inChunksOf(utf8Of(text), size));
      assertEquals(reading.error, undefined, text);
      assertEquals(reading.parts.slice(0, -2).flatMap((part) => part.entries.map((entry) => entry.key)), ["a"], text);
    }
  }
});

Deno.test("ListReader fills in kind and drops managedFields also for items that are parsed with the rest of the list", async () => {
  const text =
    `{"kind":"PodList","apiVersion":"v1","\\u0069tems":[${ITEMS.join()}],"metadata":{"resourceVersion":"9"}}`;
  const outline = await listReading([utf8Of(text)]);
  const usual = await listReading([utf8Of(BUILT_IN)]);
  assertEquals(outline.values.map(portrait), usual.values.map(portrait));
  assertEquals(outline.parts.at(-1)?.resourceVersion, "9");
});

Deno.test("ListReader reads a list without items as empty", async () => {
  for (const items of [`,"items":[]`, `,"items":[ \n ]`, `,"items":null`, ``]) {
    for (
      const text of [
        `{"kind":"PodList","metadata":{"resourceVersion":"4"}${items}}`,
        `{"kind":"PodList"${items},"metadata":{"resourceVersion":"4"}}`,
      ]
    ) {
      const reading = await listReading(inChunksOf(utf8Of(text), 10));
      assertEquals(textOf(reading), `[{"resourceVersion":"4"},[]]`, text);
    }
  }
});

Deno.test("ListReader yields the continue token also where the version is missing", async () => {
  for (const text of [`{"metadata":{"continue":"t"},"items":[]}`, `{"items":[],"metadata":{"continue":"t"}}`]) {
    assertEquals(textOf(await listReading([utf8Of(text)])), `[{"continue":"t"},[]]`);
  }
  assertEquals(textOf(await listReading([utf8Of(`{"kind":"PodList","items":[]}`)])), `[{},[]]`);
  assertEquals(textOf(await listReading([utf8Of(`{"kind":"PodList","metadata":null,"items":[]}`)])), `[{},[]]`);
});

Deno.test("ListReader adds no kind to items of a list without one", async () => {
  const text =
    `{"kind":"List","apiVersion":"v1","items":[{"metadata":{"name":"a"}},{"kind":"Pod","apiVersion":"v1","metadata":{"name":"b"}}]}`;
  const { values: entries } = await listReading([utf8Of(text)]);
  assertEquals(entries.map((entry) => entry.object.kind), [undefined, "Pod"]);
});

Deno.test("ListReader refuses a Table of meta.k8s.io, and reads a list of that kind in another group [C027]", async () => {
  const read = (text: string): Promise<ListReading> => listReading([utf8Of(text)]);
  const old = await read(`{"kind":"Table","apiVersion":"meta.k8s.io/v1beta1","columnDefinitions":[],"rows":[]}`);
  assert(messageOf(old).startsWith(`Cannot read the list of "pods": found `), messageOf(old));
  const empty = await read(`{"kind":"Table","apiVersion":"meta.k8s.io/v1","items":[]}`);
  assertEquals(messageOf(empty), `Cannot read the list of "pods": found a Table, expected a list`);
  const other = await read(
    `{"kind":"Table","apiVersion":"acme.dev/v1","items":[{"kind":"Table","metadata":{"name":"oak"}}]}`,
  );
  assertEquals(keys(other), ["oak"]);
});

Deno.test("ListReader refuses a body that is not a list, and names what it found", async () => {
  const cases = [
    [
      `<html><body>Please log in</body></html>`,
      `found "<html><body>Please log in</body></html>", expected a list in JSON; is a proxy or a login page in between?`,
    ],
    [`<style>{"items":[{}]}</style>`, ``],
    [``, ``],
    [`null`, "found null, expected a list"],
    [`[]`, "found [], expected a list"],
    [`"x"`, `found "x", expected a list`],
    [`{"kind":"Pod","metadata":{"name":"a"}}`, `found {"kind":"Pod","metadata":{"name":"a"}}, expected a list`],
    [`{"kind":"PodList","items":{"a":1}}`, "expected a list"],
    [`{"kind":"PodList","items":"x"}`, "expected a list"],
    [`{"kind":"PodList","items":[1]}`, `found "1" where an item should begin`],
    [`{"kind":"PodList","items":[null]}`, `found "n" where an item should begin`],
    [`{"kind":"PodList","items":["x"]}`, `where an item should begin`],
    [`{"kind":"PodList","items":[[{}]]}`, `found "[" where an item should begin`],
    [`{"kind":"PodList","items":[,{"metadata":{"name":"a"}}]}`, `found "," where an item should begin`],
    [`{"kind":"PodList","items":[{"metadata":{"name":"a"}},]}`, `found "]" where an item should begin`],
    [
      `{"kind":"PodList","items":[{"metadata":{"name":"a"}},,{"metadata":{"name":"b"}}]}`,
      `found "," where an item should begin`,
    ],
    [
      `{"kind":"PodList","items":[{"metadata":{"name":"a"}}{"metadata":{"name":"b"}}]}`,
      `found "{" where the items should go on or end`,
    ],
    [`{"kind":"PodList","items":[{"metadata":{"name":"a"}},`, "it ends in the middle of its items"],
    [`{"kind":"PodList","items":[ä]}`, `found a character that is not ASCII where an item should begin`],
    [`{"kind":"PodList","items":[{"metadata":{"name":"a"}}]}}`, ``],
    [`{"kind":"PodList","items":[{"metadata":{"name":"a"}}]}{"kind":"PodList","items":[]}`, ``],
    [`{"kind":"PodList",,"items":[]}`, ``],
    [`{"kind":"PodList","\\u0069tems":[1]}`, "expected an object with metadata"],
    [`{"kind":"PodList","items":[{"metadata":[}]}`, ``],
  ];
  for (const [text, message] of cases) {
    for (const size of [1, 9, text.length]) {
      const reading = await listReading(inChunksOf(utf8Of(text), Math.max(size, 1)));
      assertInstanceOf(reading.error, DecodeError, text);
      assert(/^Cannot read (the list|an object) of "pods": /.test(messageOf(reading)), messageOf(reading));
      assert(messageOf(reading).includes(message), messageOf(reading));
      assert(messageOf(reading).length < 300, messageOf(reading));
    }
  }
});

Deno.test("ListReader makes broken entries of items without metadata or a name, and continues [F15]", async () => {
  const found = ["{}", `{"data":{}}`, `{"metadata":null}`, `{"metadata":7}`];
  const broken: [item: string, message: string][] = [
    ...found.map((item): [string, string] => [
      item,
      `Cannot read an object of "pods": found ${item}, expected an object with metadata`,
    ]),
    [`{"metadata":{"namespace":"shop"}}`, `Cannot file Pod in namespace "shop": it has no metadata.name`],
  ];
  const items = broken.map(([item]) => `${item},{"metadata":{"name":"a"}}`).join();
  for (const member of [`"items"`, `"\\u0069tems"`]) {
    const { values: entries, error } = await listReading([
      utf8Of(`{"kind":"PodList","apiVersion":"v1",${member}:[${items}]}`),
    ]);
    assertEquals(error, undefined);
    assertEquals(
      entries.map(({ key, error }) => error?.message ?? key),
      broken.flatMap(([, message]) => [message, "a"]),
    );
  }
});

Deno.test("ListReader limits an item's length in the same way for any chunks", async () => {
  const item = (size: number): string => `{"metadata":{"name":"a"},"d":"${"x".repeat(size - 32)}"}`;
  assertEquals(item(200).length, 200);
  const text = `{"kind":"PodList","items":[${item(150)},${item(200)}]}`;
  for (const size of [1, 40, 64, text.length]) {
    assertEquals((await listReading(inChunksOf(utf8Of(text), size), { maxObjectBytes: 200 })).values.length, 2);
    const refused = await listReading(inChunksOf(utf8Of(text), size), { maxObjectBytes: 199 });
    assertInstanceOf(refused.error, DecodeError);
    assertEquals(
      messageOf(refused),
      `Cannot read the list of "pods": an object is longer than 199 bytes; raise maxObjectBytes if objects are that large`,
    );
  }
});

Deno.test("ListReader decodes the same as JSON.parse, for any objects in any chunks", async () => {
  const layouts = fc.constantFrom("built-in", "custom", "untyped", "spaced");
  await fc.assert(
    fc.asyncProperty(
      fc.array(memberText, { maxLength: 5 }),
      layouts,
      chunking,
      fc.constantFrom<"bytes" | "default">("bytes", "default"),
      fc.boolean(),
      async (items, layout, chunks, kind, drop) => {
        const text = {
          "built-in":
            `{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"9"},"items":[${items.join()}]}`,
          custom: `{"apiVersion":"v1","items":[${items.join()}],"kind":"PodList","metadata":{"resourceVersion":"9"}}`,
          untyped: `{"metadata":{"resourceVersion":"9","items":[]},"items":[${items.join()}]}`,
          spaced: `\n{ "items" :\t[ ${items.join(" ,\r\n")} ] , "metadata" : {"resourceVersion":"9"} }\n`,
        }[layout];
        const reading = await listReading(chunks(utf8Of(text)), { kind, managedFields: drop ? "drop" : "keep" });
        if (reading.error !== undefined) throw reading.error;
        assertEquals(reading.parts.at(-1)?.resourceVersion, "9");
        const typed = layout === "built-in" ? { kind: "Pod", apiVersion: "v1" } : {};
        const parsed = JSON.parse(text).items as Record<string, unknown>[];
        assertEquals(reading.values.length, parsed.length);
        reading.values.forEach((entry, index) => {
          if (entry.error !== undefined) {
            const { name, namespace, uid, resourceVersion } = parsed[index].metadata as Record<string, unknown>;
            const others = [namespace, uid, resourceVersion].filter((part) => typeof (part ?? "") !== "string");
            return assert(!name || typeof name !== "string" || others.length > 0);
          }
          const expected = asRead(parsed[index], { drop, ...typed });
          if (JSON.stringify(entry.object) === JSON.stringify(expected)) return;
          // Filled in although kind or apiVersion come behind metadata: the values agree, the order of keys does not.
          assertEquals([layout, Object.keys(parsed[index])[0]], ["built-in", "metadata"]);
          assertEquals(entry.object as unknown, expected);
        });
      },
    ),
    { numRuns: 400, seed: 20_260_704 },
  );
});
