import { assert, assertEquals } from "@std/assert";
import fc from "npm:fast-check@^4.10.2";
import type { CacheEntry } from "../../../../src/engine/api/entry.ts";
import type { KubernetesObject } from "../../../../src/engine/api/object.ts";
import { asciiOf, LineSplitter } from "../../../../src/engine/client/decode/body_reader.ts";
import { JsonWalker } from "../../../../src/engine/entry/json_text.ts";
import { changePortrait, Pod, portrait, utf8Of, watchReading } from "../../../support/sources/bodies.ts";
import { collectNow } from "../../../support/times/heap.ts";
import { ObjectReader } from "../../_readers.ts";
import { chunking, memberText, objectText } from "../../_texts.ts";

const decoder = new TextDecoder();

/** The same text with a question mark for each unit that is not ASCII. */
function ascii(text: string): string {
  // deno-lint-ignore no-control-regex
  return text.replace(/[^\x00-\x7f]/g, "?");
}

/** Lines of events in all their layouts, bookmarks, CRLF, nothing at all, and broken UTF-8. */
const line: fc.Arbitrary<Uint8Array> = fc.tuple(memberText, fc.nat(9), fc.boolean()).map(([text, layout, plain]) => {
  const flat = /\n/.test(text) ? JSON.stringify(JSON.parse(text)) : text; // a line has no line breaks
  const object = plain ? ascii(flat) : flat;
  switch (layout) {
    case 0:
      return utf8Of(`{"object":${object},"type":"ADDED"}`);
    case 1:
      return utf8Of(`{"type":"DELETED","object":${object},"more":{"object":[1]}}\r`);
    case 2:
      return utf8Of(`{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"7"}}}`);
    case 3:
      return utf8Of(" \t\r");
    case 4:
      return new Uint8Array([
        ...utf8Of(`{"type":"ADDED","object":{"metadata":{"name":"a"},"x":"`),
        255,
        ...utf8Of(`"}}`),
      ]);
    default:
      return utf8Of(`{"type":"MODIFIED","object":${object}}`);
  }
});

Deno.test("LineSplitter yields the same lines with and without text, for any chunks", () => {
  let withText = 0;
  fc.assert(
    fc.property(fc.array(line, { maxLength: 6 }), chunking, (lines, chunks) => {
      const bytes = new Uint8Array(lines.flatMap((line) => [...line, 10]));
      const expected = lines.map((line) => decoder.decode(line).trim()).filter((line) => line !== "");
      const splitter = new LineSplitter();
      const found: string[] = [];
      for (const chunk of chunks(bytes)) {
        splitter.push(chunk, (bytes, start, end, text) => {
          found.push(decoder.decode(bytes.subarray(start, end)));
          if (text === undefined) return;
          withText++;
          assertEquals(text.slice(start, end), found.at(-1));
        });
      }
      assertEquals(found, expected);
    }),
    { numRuns: 400, seed: 20_261_121 },
  );
  assert(withText > 200, `only ${withText} lines came with text`);
});

Deno.test("LineSplitter decodes ASCII lines to text again after non-ASCII ones, and never a large region", () => {
  const splitter = new LineSplitter();
  const texts = (chunk: Uint8Array): number => {
    let count = 0;
    splitter.push(chunk, (_bytes, _start, _end, text) => {
      if (text !== undefined) count++;
    });
    return count;
  };
  assertEquals(texts(utf8Of("one\ntwo\n")), 2);
  assertEquals(texts(utf8Of("one\n日本\n")), 0);
  assertEquals(texts(utf8Of("one\n")), 0);
  assertEquals(texts(utf8Of("one\n")), 1);
  for (let i = 0; i < 300; i++) texts(utf8Of("日本\n"));
  const waited = Array.from({ length: 64 }, () => texts(utf8Of("one\n"))).indexOf(1);
  assert(waited !== -1, "it never asks again");
  assertEquals(texts(utf8Of("one\n")), 1);
  assertEquals(texts(new Uint8Array([...utf8Of("x\n").subarray(), ...new Uint8Array(1_048_576).fill(10)])), 0);
  assertEquals(texts(utf8Of("one\n")), 1);
});

Deno.test("asciiOf decodes ASCII bytes, and is undefined for all others", () => {
  assertEquals(asciiOf(utf8Of("xabcx"), 1, 4), "abc");
  assertEquals(asciiOf(utf8Of("abc"), 0, 3), "abc");
  assertEquals(asciiOf(utf8Of(""), 0, 0), "");
  for (const text of ["ä", "a日", "🦕b", "\ufeffa", "\ufffd"]) {
    assertEquals(asciiOf(utf8Of(text), 0, utf8Of(text).length), undefined);
  }
  for (const broken of [[255], [97, 255], [0xc3, 97], [0xe2, 0x82], [0xed, 0xa0, 0x80]]) {
    assertEquals(asciiOf(new Uint8Array(broken), 0, broken.length), undefined);
  }
});

/** All that a walker has found. */
function findings(walker: JsonWalker): Record<string, unknown> {
  const { nameStart, namespaceStart, uidStart, versionStart, cutStart } = walker;
  const { metadataStart, metadataEnd, metadataFirst, typed } = walker;
  return {
    name: nameStart === -1 ? undefined : [nameStart, walker.nameEnd],
    namespace: namespaceStart === -1 ? undefined : [namespaceStart, walker.namespaceEnd],
    uid: uidStart === -1 ? undefined : [uidStart, walker.uidEnd],
    version: versionStart === -1 ? undefined : [versionStart, walker.versionEnd],
    cut: cutStart === -1 ? undefined : [cutStart, walker.cutEnd],
    metadata: [metadataStart, metadataEnd],
    layout: [metadataFirst, typed],
  };
}

Deno.test("JsonWalker finds the same with and without text, in one walk or in two", () => {
  let walked = 0;
  let stopped = 0;
  const surroundings = fc.constantFrom(
    ["", ""],
    [`{"type":"ADDED","object":`, `}\n{"type":"ADDED","object":{"metadata":{"managedFields":[]}}}\n`],
    [`[[]]`, `[`],
    [`x`, `]`],
  );
  fc.assert(
    fc.property(objectText, surroundings, fc.nat(20), ({ text }, [before, after], missing) => {
      const object = ascii(text).slice(0, missing === 0 ? -7 : undefined);
      const all = before + object + after;
      const bytes = utf8Of(all);
      const [start, end] = [before.length, before.length + object.length];
      const plain = new JsonWalker();
      const accepted = plain.walk(bytes, start, end);
      const twin = new JsonWalker();
      assertEquals(twin.walk(bytes, start, end, all), accepted);
      if (accepted) {
        walked++;
        assertEquals(findings(twin), findings(plain));
      }
      for (const given of [undefined, all]) {
        const identified = twin.identify(bytes, start, end, given);
        assert(identified || !accepted);
        if (!identified) continue;
        const { name, namespace, uid, version } = findings(twin);
        if (twin.metadataEnd === -1) stopped++;
        assertEquals(twin.finish(bytes, end, given), accepted);
        if (!accepted) continue;
        assertEquals(findings(twin), findings(plain));
        assertEquals(findings(plain), { ...findings(plain), name, namespace, uid, version });
      }
    }),
    { numRuns: 300, seed: 20_261_122 },
  );
  assert(walked > 90 && stopped > 9, `only ${walked} of 300 were walked, ${stopped} in two walks`);
});

Deno.test("ObjectReader reads the same from text as from bytes, and refuses the same", () => {
  const outcome = (read: () => CacheEntry<KubernetesObject>): unknown => {
    try {
      return portrait(read());
    } catch (error) {
      return (error as Error).message;
    }
  };
  fc.assert(
    fc.property(
      objectText,
      fc.constantFrom("drop", "keep"),
      fc.constantFrom("now", "later"),
      fc.boolean(),
      fc.nat(20),
      ({ text }, managedFields, parse, filled, missing) => {
        const object = ascii(text).slice(0, missing === 0 ? -7 : undefined);
        const options = { resource: Pod, managedFields, parse } as const;
        const [plain, twin] = [1, 2].map(() => new ObjectReader<KubernetesObject>(options));
        if (filled) { for (const reader of [plain, twin]) reader.fillIn("Pod", "v1"); }
        const all = `xx${object}yy`;
        const bytes = utf8Of(all);
        const read = outcome(() => twin.read(bytes, 2, bytes.length - 2, all));
        assertEquals(read, outcome(() => plain.read(bytes, 2, bytes.length - 2)));
      },
    ),
    { numRuns: 300, seed: 20_261_123 },
  );
});

Deno.test("ObjectReader yields the cached entry of the same uid and version, and reads all other objects", () => {
  let yielded = 0;
  const change = fc.constantFrom("nothing", "resourceVersion", "uid", "name", "spec");
  fc.assert(
    fc.property(memberText, change, fc.boolean(), fc.boolean(), fc.boolean(), (member, what, drop, withText, guess) => {
      const text = ascii(JSON.stringify(JSON.parse(member)));
      const options = { resource: Pod, managedFields: drop ? "drop" : "keep" } as const;
      const entry = new ObjectReader<KubernetesObject>(options).parse(utf8Of(text), 0, text.length);
      const { uid, resourceVersion } = entry;
      const object = JSON.parse(text);
      if (what === "spec") object.spec = [];
      else if (what !== "nothing") object.metadata[what] = `${object.metadata[what]}1`;
      const changed = JSON.stringify(object);
      const bytes = utf8Of(changed);
      const given = withText ? changed : undefined;
      const plain = new ObjectReader<KubernetesObject>(options).read(bytes, 0, bytes.length, given);
      let asked = 0;
      const knowing = new ObjectReader<KubernetesObject>({
        ...options,
        known: (key) => asked++ < 1 && key === entry.key ? entry : undefined,
        knownNext: () => guess ? entry : undefined,
      });
      // Only behind one that is known a guess is worth its price.
      if (guess) knowing.read(utf8Of(text), 0, text.length, withText ? text : undefined);
      const read = knowing.read(bytes, 0, bytes.length, given);
      if (read !== entry) return assertEquals(portrait(read), portrait(plain));
      yielded++;
      assertEquals([plain.key, plain.uid, plain.resourceVersion], [entry.key, uid, resourceVersion]);
    }),
    { numRuns: 350, seed: 20_261_125 },
  );
  assert(yielded > 17, `only ${yielded} of 350 were known`);
});

Deno.test("WatchReader reads the same next to non-ASCII text, in any chunks", async () => {
  const cjk = utf8Of(`{"type":"ADDED","object":{"metadata":{"name":"cjk"},"x":"日本"}}`);
  await fc.assert(
    fc.asyncProperty(
      fc.array(line, { maxLength: 5 }),
      chunking,
      fc.boolean(),
      fc.boolean(),
      async (lines, chunks, drop, now) => {
        const options = { managedFields: drop ? "drop" : "keep", parse: now ? "now" : "later" } as const;
        const bytes = new Uint8Array(lines.flatMap((line) => [...line, 10]));
        const whole = await watchReading([bytes], options);
        const beside = await watchReading([new Uint8Array([...cjk, 10, ...bytes])], options);
        const parts = await watchReading(chunks(bytes), options);
        for (const reading of [whole, beside, parts]) if (reading.error !== undefined) throw reading.error;
        const expected = whole.values.map(changePortrait);
        assertEquals(beside.values.slice(1).map(changePortrait), expected);
        assertEquals(parts.values.map(changePortrait), expected);
      },
    ),
    { numRuns: 100, seed: 20_261_124 },
  );
});

function usedBytes(): number {
  collectNow();
  return Deno.memoryUsage().heapUsed;
}

for (
  const { parse, managedFields, most } of [
    { parse: "later", managedFields: "drop", most: 1_500 },
    { parse: "later", managedFields: "keep", most: 2_500 },
    { parse: "now", managedFields: "keep", most: 3_500 },
  ] as const
) {
  Deno.test(`WatchReader keeps no memory of a chunk except its entries, parsed ${parse}, managedFields ${managedFields}`, async () => {
    // One object of 1 kB, and a line of 60 kB of white space behind it that nobody keeps.
    const one = (i: number): Uint8Array => {
      const metadata = {
        name: `pod-with-a-long-name-${i}`,
        namespace: `a-namespace-${i % 7}`,
        uid: `0f6c4d1e-${i}-0000-0000-000000000000`,
        resourceVersion: `1000000000000000${i}`,
        managedFields: [{ manager: "x".repeat(1_000) }],
      };
      return utf8Of(
        `{"type":"ADDED","object":${
          JSON.stringify({ kind: "Pod", apiVersion: "v1", metadata, spec: { note: "y".repeat(500) } })
        }}\n${" ".repeat(60_000)}\n`,
      );
    };
    const COUNT = 300;
    const read = async (into: CacheEntry<KubernetesObject>[]): Promise<void> => {
      for (let i = 0; i < COUNT; i++) {
        const { values } = await watchReading([one(i)], { parse, managedFields });
        for (const change of values) if (change.type !== "BOOKMARK") into.push(change.entry);
      }
    };
    const kept: CacheEntry<KubernetesObject>[] = [];
    await read(kept); // so that what is made but once is there
    kept.length = 0;
    const before = usedBytes();
    await read(kept);
    const each = (usedBytes() - before) / COUNT;
    assertEquals(kept.length, COUNT);
    assert(each > most / 4 && each < most, `an entry weighs ${Math.round(each)} bytes`);
  });
}
