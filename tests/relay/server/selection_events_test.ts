import { assertEquals } from "@std/assert";
import fc from "npm:fast-check@^4.10.2";
import type { KubernetesObject } from "../../../src/engine/api/object.ts";
import { ByteBudget } from "../../../src/relay/server/budget.ts";
import { SelectionEvents } from "../../../src/relay/server/selection_events.ts";
import { PresentObjects } from "../../../src/relay/server/present_objects.ts";
import { ObjectSelection, ShownObject } from "../../../src/relay/server/objects.ts";

const decoder = new TextDecoder();

/** A step of the readers of one channel, or a change of its objects. */
type PartStep =
  | { readonly do: "begin" | "read"; readonly reader: number }
  | { readonly do: "put"; readonly name: number; readonly size: number }
  | { readonly do: "delete"; readonly where: "first" | "last" | "any"; readonly at: number; readonly count: number };

const partStep: fc.Arbitrary<PartStep> = fc.oneof(
  { weight: 2, arbitrary: fc.record({ do: fc.constant("begin" as const), reader: fc.nat(2) }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant("read" as const), reader: fc.nat(2) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("put" as const),
      name: fc.nat(999),
      size: fc.constantFrom(1, 1_000, 40_000),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant("delete" as const),
      where: fc.constantFrom("first" as const, "last" as const, "any" as const),
      at: fc.nat(999),
      count: fc.constantFrom(1, 1, 2, 300, 600),
    }),
  },
);

/** The names of the first objects: few, or enough for several parts. */
const initial = fc.oneof(
  fc.array(fc.nat(999), { maxLength: 5 }),
  fc.array(fc.nat(999), { minLength: 250, maxLength: 600, size: "max" }),
);

Deno.test("parts that readers at different speeds share are those that would be made from scratch", () => {
  const selection = ObjectSelection.parse(new URLSearchParams());
  const textOf = (key: string, value: string): string =>
    `event:added\ndata:${JSON.stringify({ metadata: { name: key }, value })}\n\n`;
  fc.assert(
    fc.property(initial, fc.array(partStep, { minLength: 30, maxLength: 60 }), (names, steps) => {
      const objects = new PresentObjects();
      const present = new Map<string, string>();
      const put = (name: number, size: number): void => {
        const key = String(name).padStart(3, "0");
        const value = "x".repeat(size);
        present.set(key, value);
        const object = { metadata: { name: key }, value } as unknown as KubernetesObject;
        objects.set(key, new ShownObject({ key, object }, ({ object }) => object));
      };
      for (const name of names) put(name, 1);
      const channel = new SelectionEvents(selection, "", {
        position: 0,
        objects,
        budget: new ByteBudget(1_000_000_000),
      });
      /** The key from which each reader reads on. */
      const readers = new Map<number, string>();
      for (const step of steps) {
        if (step.do === "put") put(step.name, step.size);
        else if (step.do === "delete") {
          const keys = [...present.keys()].sort();
          const at =
            { first: 0, last: Math.max(0, keys.length - step.count), any: step.at % (keys.length || 1) }[step.where];
          for (const key of keys.slice(at, at + step.count)) {
            present.delete(key);
            objects.delete(key);
          }
        } else if (step.do === "begin") {
          if (!readers.has(step.reader)) channel.beginParts();
          readers.set(step.reader, "");
        } else {
          const from = readers.get(step.reader);
          if (from === undefined) continue;
          const part = channel.part(from);
          const keys = [...present.keys()].sort().filter((key) => key >= from && (part === undefined || key < part.to));
          const text = keys.map((key) => textOf(key, present.get(key)!)).join("");
          assertEquals(decoder.decode(part?.bytes ?? new Uint8Array()), text);
          if (part !== undefined) readers.set(step.reader, part.to);
          else if (readers.delete(step.reader)) channel.endParts();
        }
      }
    }),
    { numRuns: 300, endOnFailure: true }, // it would take minutes to shrink a history
  );
});
