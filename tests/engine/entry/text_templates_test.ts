import { assert, assertEquals, assertFalse, assertStrictEquals } from "@std/assert";
import { type CompactText, decoded, TextTemplate } from "../../../src/engine/entry/compact_text.ts";
import { SharedParts } from "../../../src/engine/entry/shared_parts.ts";
import { isGood, TextTemplates } from "../../../src/engine/entry/text_templates.ts";
import { Random } from "../../../src/testing/fake/random.ts";
import { bigPod } from "../../support/sources/big_pods.ts";
import { parseShared } from "./_compact.ts";
import { alike, podTree, randomTree, writtenTree } from "./_random_texts.ts";

/** So many texts in a row must not resemble any other before some are passed over; and about the longest pause. */
const [ATTEMPTS, LONGEST_PAUSE] = [48, 65_536];

/** A text with values that differ, and others that do not. `kind` decides its shape. */
function textOf(value: string | number, kind = "kind", size = 300): string {
  return JSON.stringify({ [kind]: "x".repeat(size), spec: { a: value, b: [true, null] } });
}

/** Something with a text that waits for another one. */
function holder(text: string | undefined): { text: string | undefined } {
  return { text };
}

/** Makes a text compact, which is in a cache from then on. */
function hold(templates: TextTemplates, key: string, text: string, waits = true): CompactText | undefined {
  const made = templates.compact(key, text, waits ? holder(text) : undefined);
  made?.use();
  if (made !== undefined) assertStrictEquals(made.write(), text);
  return made;
}

/** Counts the attempts to make a template while `act` runs. */
function attempts(act: () => void): number {
  const { extended } = TextTemplate.prototype;
  let count = 0;
  TextTemplate.prototype.extended = function (this: TextTemplate, ...given): TextTemplate | undefined {
    count++;
    return extended.apply(this, given);
  };
  try {
    act();
  } finally {
    TextTemplate.prototype.extended = extended;
  }
  return count;
}

Deno.test("TextTemplates learn a template from the second text of a family, which fits those that follow", () => {
  const templates = new TextTemplates();
  assertEquals([templates.size, templates.bytes], [0, 0]);
  assertEquals(hold(templates, "shop/cart-1", textOf("a")), undefined);
  assertEquals(templates.size, 0);
  const second = hold(templates, "shop/cart-2", textOf("b"))!;
  assertEquals(templates.size, 1);
  assertEquals(templates.bytes, second.template.bytes);
  assertEquals(
    attempts(() => assertStrictEquals(hold(templates, "shop/cart-3", textOf("c"))!.template, second.template)),
    0,
  );
  const other = JSON.stringify({ kind: "x".repeat(300), spec: { a: "d", b: [false, null] } });
  const extended = hold(templates, "shop/cart-4", other)!;
  assert(extended.template !== second.template);
  assertEquals(templates.bytes, second.template.bytes + extended.template.bytes);
  // It fits all texts that the one before fits, and takes its place.
  assertStrictEquals(hold(templates, "shop/cart-5", textOf("e"))!.template, extended.template);
});

Deno.test("TextTemplates find texts of one shape in other families, and bytes like text", () => {
  for (const keys of [["shop/cart-1", "mail/api-1", "data/db.0", "node"], ["a", "b", "c", "d"]]) {
    const templates = new TextTemplates();
    assertEquals(hold(templates, keys[0], textOf("a")), undefined);
    const made = keys.slice(1).map((key, i) => hold(templates, key, textOf(`value ${i}`)));
    for (const it of made) assertStrictEquals(it?.template, made[0]!.template);
    assertEquals(templates.size, 1);
  }
  const templates = new TextTemplates();
  const bytes = ["é", "日本"].map((value) => new TextEncoder().encode(textOf(value)));
  assertEquals(templates.compact("shop/cart-1", bytes[0], { text: bytes[0] }), undefined);
  const made = templates.compact("shop/cart-2", bytes[1], { text: bytes[1] })!;
  assertEquals(made.write(), bytes[1]);
  assertStrictEquals(hold(templates, "shop/cart-3", textOf("ascii"))!.template, made.template);
});

Deno.test("TextTemplates hold no texts that are short, long, or mostly values", () => {
  const sized = (length: number, value: string): string => {
    const text = textOf(value, "kind", length - textOf(value, "kind", 0).length);
    assertEquals(text.length, length);
    return text;
  };
  for (const [length, isHeld] of [[199, false], [200, true], [65_536, true], [65_537, false]] as const) {
    const templates = new TextTemplates();
    assertEquals(hold(templates, "shop/cart-1", sized(length, "a")), undefined);
    assertEquals(hold(templates, "shop/cart-2", sized(length, "b")) !== undefined, isHeld, `${length}`);
    const bytes = new TextEncoder().encode(sized(length, "c"));
    assertEquals(templates.compact("shop/cart-3", bytes) !== undefined, isHeld, `${length}`);
  }
  const templates = new TextTemplates();
  const mostly = (value: string, share: number): string =>
    textOf(value.repeat(1_000 * share), "kind", 1_000 * (1 - share));
  for (const [i, [share, isHeld]] of ([[0.8, false], [0.6, true]] as const).entries()) {
    assertEquals(hold(templates, `shop/cart${i}-1`, mostly("a", share)), undefined);
    assertEquals(hold(templates, `shop/cart${i}-2`, mostly("b", share)) !== undefined, isHeld);
    assertEquals(hold(templates, `shop/cart${i}-3`, mostly("c", share)) !== undefined, isHeld);
  }
  // A template that fits does not hold a text that is mostly values.
  assertEquals(hold(templates, "shop/cart1-4", textOf("d".repeat(5_000), "kind", 400)), undefined);
  assertEquals([isGood(50, 100), isGood(49, 100)], [true, false]);
});

Deno.test("TextTemplates forget a holder that left, one that was parsed, and all of them", () => {
  const families = ["shop/cart", "mail/api"]; // the second has the shape of the first
  for (const family of families) {
    const learns = (forget: (templates: TextTemplates, first: { text: string | undefined }) => void): boolean => {
      const templates = new TextTemplates();
      const first = holder(textOf("a"));
      assertEquals(templates.compact("shop/cart-1", first.text!, first), undefined);
      forget(templates, first);
      const second = templates.compact(`${family}-2`, textOf("b"), holder(textOf("b")));
      return second !== undefined;
    };
    assert(learns(() => {}));
    assert(learns((templates) => templates.left(holder(textOf("a")))), "another holder");
    assertFalse(learns((templates, first) => templates.left(first)));
    assertFalse(learns((templates) => templates.leftAll()));
    assertFalse(learns((_, first) => first.text = undefined));
  }
  // Without a holder a text does not wait.
  const templates = new TextTemplates();
  assertEquals(hold(templates, "shop/cart-1", textOf("a"), false), undefined);
  assertEquals(hold(templates, "shop/cart-2", textOf("b"), false), undefined);
});

Deno.test("A holder that left does not take the place of the next one that waits", () => {
  const templates = new TextTemplates();
  const [one, two] = [textOf("a"), textOf("b", "other")].map(holder);
  for (const it of [one, two]) assertEquals(templates.compact("shop/cart-1", it.text!, it), undefined);
  templates.left(one); // the second one waits in its family
  assert(templates.compact("shop/cart-3", textOf("c", "other")) !== undefined);
  // The first one was in the group of its shape until the second one took its place in the family.
  assertEquals(templates.compact("mail/api-1", textOf("d")), undefined);
});

Deno.test("A template goes with the last text that it was needed for", () => {
  const templates = new TextTemplates();
  const made = ["a", "b", "c", "d"].map((value) => hold(templates, "shop/cart-1", textOf(value)));
  assertEquals(made.map((it) => it !== undefined), [false, true, true, true]);
  for (const [i, it] of made.slice(1).entries()) {
    assertEquals([templates.size, it!.template.users], [1, 3 - i]);
    it!.release();
    it!.release();
  }
  assertEquals([templates.size, templates.bytes], [0, 0]);
  assertEquals(made[1]!.write(), textOf("b"));
  // No group offers it any more.
  templates.leftAll();
  assertEquals(hold(templates, "shop/cart-2", textOf("e")), undefined);
  assertEquals([templates.size, templates.bytes], [0, 0]);
});

Deno.test("The holder that a template was learnt from is returned once, as it may become compact, too", () => {
  const templates = new TextTemplates();
  const [one, two] = [textOf("a"), textOf("b")].map(holder);
  assertEquals([templates.compact("shop/cart-1", one.text!, one), templates.takePartner()], [undefined, undefined]);
  assert(templates.compact("shop/cart-2", two.text!, two) !== undefined);
  assertStrictEquals(templates.takePartner(), one);
  assertEquals(templates.takePartner(), undefined);
  assert(templates.compact("shop/cart-3", textOf("c")) !== undefined, "a template fits");
  assertEquals(templates.takePartner(), undefined);
  const [three, four] = [textOf("a", "other"), textOf("b", "other")].map(holder);
  templates.compact("mail/api-1", three.text!, three);
  assert(templates.compact("mail/api-2", four.text!, four) !== undefined);
  templates.leftAll();
  assertEquals(templates.takePartner(), undefined);
});

Deno.test("Templates that nobody uses are dropped when they are asked for, and used ones are not", () => {
  const templates = new TextTemplates();
  hold(templates, "shop/cart-1", textOf("a"));
  const used = hold(templates, "shop/cart-2", textOf("b"))!;
  for (const value of ["a", "b"]) {
    templates.compact("mail/api-1", textOf(value, "other"), holder(textOf(value, "other")));
  }
  assertEquals(templates.size, 2);
  templates.dropUnused();
  assertEquals([templates.size, templates.bytes], [1, used.template.bytes]);
  used.release();
  assertEquals([templates.size, templates.bytes], [0, 0]);
  templates.dropUnused();
  // A text whose template has been dropped may still be stored, and leave again.
  const dropped = ["a", "b"].map((value) =>
    templates.compact("data/db-1", textOf(value, "late"), holder(textOf(value, "late")))
  )[1]!;
  templates.dropUnused();
  dropped.use();
  dropped.release();
  assertEquals([templates.size, templates.bytes], [0, 0]);
});

Deno.test("Templates have no values that only released texts had", () => {
  const random = new Random(20_261_204);
  const templates = new TextTemplates();
  const held: { readonly text: string; readonly made: CompactText }[] = [];
  let checked = 0;
  for (let i = 0; i < 3_000; i++) {
    const needle = `needle-${random.uid()}`;
    const values = [needle, random.pick(["a", "b"]), random.pick(["c", "d"])];
    const text = JSON.stringify({ kind: "x".repeat(300), [random.pick(["k", "l"])]: values, n: random.below(3) });
    const made = hold(templates, `shop/cart${random.below(3)}-${i}`, text);
    if (made !== undefined) held.push({ text, made });
    if (held.length > 10) held.splice(random.below(held.length), 1)[0].made.release();
    for (const { made } of held) {
      const users = held.filter((it) => it.made.template === made.template).map(({ text }) => text);
      for (const [found] of made.template.parts.join("\n").matchAll(/needle-[-0-9a-f]+/g)) {
        assert(users.every((text) => text.includes(found)), found);
        checked++;
      }
      assert(users.length === made.template.users);
    }
  }
  assertEquals(checked, 0, "each value is in one text alone");
  assert(templates.size <= 10 && templates.size > 0, `${templates.size}`);
  for (const { made } of held) made.release();
  assertEquals([templates.size, templates.bytes], [0, 0]);
});

Deno.test("Random texts under random keys are exact, and leave nothing when they are released", () => {
  const random = new Random(20_261_205);
  const templates = new TextTemplates();
  const trees = Array.from({ length: 40 }, () => random.next() < 0.5 ? podTree(random) : randomTree(random));
  const held = new Map<string, CompactText>();
  let compact = 0;
  for (let i = 0; i < 8_000; i++) {
    const key = `ns${random.below(3)}/app${random.below(20)}${random.pick(["-", ".", ""])}${random.below(50)}`;
    held.get(key)?.release();
    held.delete(key);
    if (random.next() < 0.2) continue;
    const { text } = writtenTree(alike(random, random.pick(trees), 0.2));
    // deno-lint-ignore no-control-regex -- all of ASCII
    if (!/^[\x00-\x7f]*$/.test(text)) continue;
    const made = hold(templates, key, text);
    if (made === undefined) continue;
    compact++;
    held.set(key, made);
    const all = new Set([...held.values()].map(({ template }) => template));
    assertEquals(templates.size, all.size);
    if (i % 50 === 0) assertEquals(templates.bytes, [...all].reduce((sum, { bytes }) => sum + bytes, 0));
  }
  assert(compact > 2_000, `${compact}`);
  for (const made of held.values()) made.release();
  assertEquals([templates.size, templates.bytes], [0, 0]);
});

Deno.test("TextTemplates have at most 4,096 templates, of about 16 MiB, and learn others once some are gone", () => {
  for (const [families, size] of [[4_500, 200], [400, 60_000]]) {
    const templates = new TextTemplates();
    const held: CompactText[] = [];
    const texts = (family: number): boolean => {
      const key = `shop/app${family}`;
      for (const value of ["a", "b"]) {
        const made = hold(templates, `${key}-${value}`, textOf(value, `kind${family}`, size));
        if (made !== undefined) held.push(made);
      }
      return held.at(-1)?.template.parts[0].includes(`kind${family}"`) ?? false;
    };
    for (let family = 0; family < families; family++) texts(family);
    assertEquals(held.length, templates.size, "some families share none");
    if (size === 200) assertEquals(templates.size, 4_096);
    else assert(templates.bytes > 16_777_216 && templates.bytes < 16_777_216 + 70_000, `${templates.bytes}`);
    for (const it of held.splice(0)) it.release();
    assertEquals([templates.size, templates.bytes], [0, 0]);
    // Some texts are passed over after so many that could not be learnt.
    for (let i = 0; templates.size === 0 && i <= 2 * LONGEST_PAUSE; i++) hold(templates, "new/app-1", textOf(i, "new"));
    for (let family = families; family < families + 100; family++) assert(texts(family), `${family}`);
  }
});

/** A text whose shape no text of another family has. */
function shapedText(family: number, value: string): string {
  const bits = Array.from({ length: 16 }, (_, bit) => (family >> bit) % 2 === 0 ? [] : {});
  return JSON.stringify({ kind: "x".repeat(300), bits, value });
}

/** Counts the holders that wait. All are forgotten. */
function countWaiting(templates: TextTemplates): number {
  const { left } = TextTemplates.prototype;
  let count = 0;
  TextTemplates.prototype.left = function (this: TextTemplates, holder): void {
    count++;
    left.call(this, holder);
  };
  try {
    templates.leftAll();
  } finally {
    TextTemplates.prototype.left = left;
  }
  return count;
}

Deno.test("Families come and go without an end: those without texts are forgotten, and who waits in them", () => {
  const templates = new TextTemplates();
  const stays = ["a", "b"].map((value) => hold(templates, `shop/stays-${value}`, textOf(value)))[1]!;
  for (let family = 0; family < 10_000; family++) {
    const made = ["a", "b"].map((value) => hold(templates, `shop/app${family}-${value}`, shapedText(family, value)));
    assert(made[1] !== undefined, `${family}`);
    made[1].release();
    assertEquals(templates.size, 1);
  }
  assertEquals(
    attempts(() => assertStrictEquals(hold(templates, "shop/stays-c", textOf("c"))?.template, stays.template)),
    0,
  );
  const waiting = countWaiting(templates);
  assert(waiting > 0 && waiting <= 2 * 4_096, `${waiting} wait`);
});

Deno.test("Holders that left are forgotten, and one that waits anew waits once", () => {
  const templates = new TextTemplates();
  const holders = Array.from({ length: 40 }, (_, i) => holder(shapedText(i, "a")));
  const wait = (): void => {
    for (const [i, it] of holders.entries()) templates.compact(`shop/app${i}-1`, it.text!, it);
  };
  wait();
  for (const it of holders) templates.left(it);
  assertEquals(countWaiting(templates), 0);
  for (const it of holders.slice(0, 3)) for (let i = 0; i < 2; i++) templates.compact("shop/app-1", it.text!, it);
  assertEquals(countWaiting(templates), 1, "one for each family");
});

Deno.test("Texts that resemble no other are passed over after some attempts, and alike ones are found later", () => {
  const templates = new TextTemplates();
  const unlike = (i: number): string => textOf("a", `kind${i}`);
  const count = attempts(() => {
    for (let i = 0; i < 100_000; i++) assertEquals(hold(templates, "shop/cart-1", unlike(i)), undefined);
  });
  // Pauses of 512, 1,024, … texts.
  assert(count >= ATTEMPTS - 1 && count < ATTEMPTS + 80, `${count} attempts`);
  let passed = 0;
  while (hold(templates, "shop/cart-1", textOf(passed)) === undefined && passed < 1e6) passed++;
  // The first one waits for the next one, after another pause.
  assert(passed <= 2 * LONGEST_PAUSE + 1, `${passed} texts were passed over`);
  assertEquals(templates.size, 1);
  // All attempts are there again.
  assertEquals(hold(templates, "mail/api-1", unlike(0)), undefined);
  assert(hold(templates, "mail/api-2", textOf("b", "kind0")) !== undefined);
  let again = attempts(() => {
    for (let i = 0; i < ATTEMPTS + 100; i++) hold(templates, "mail/api-1", unlike(i));
  });
  assert(again >= ATTEMPTS - 2 && again <= 2 * ATTEMPTS, `${again} attempts`);
  again = attempts(() => {
    for (let i = 0; i < 300; i++) hold(templates, "mail/api-1", unlike(i));
  });
  assertEquals(again, 0);
  again = attempts(() => {
    for (let i = 0; i < 600; i++) hold(templates, "mail/api-1", unlike(i));
  });
  assert(again > 0, "the first pause is short again");
});

Deno.test("Texts that fit a template become compact also while others are passed over", () => {
  const templates = new TextTemplates();
  for (const value of ["a", "b"]) hold(templates, "shop/cart-1", textOf(value));
  for (let i = 0; i < 200; i++) hold(templates, "mail/api-1", textOf("a", `kind${i}`));
  assertEquals(attempts(() => assert(hold(templates, "shop/cart-2", textOf("c")) !== undefined)), 0);
});

Deno.test("A family keeps templates of four shapes, those that fitted last", () => {
  const templates = new TextTemplates();
  const kinds = ["k1", "k22", "k333", "k4444"];
  for (const kind of kinds) for (const value of ["a", "b"]) hold(templates, "shop/cart-1", textOf(value, kind));
  assertEquals(templates.size, 4);
  const isKnown = (kind: string): boolean => {
    return attempts(() => assert(hold(templates, "shop/cart-2", textOf(`${Math.random()}`, kind)) !== undefined)) === 0;
  };
  for (const kind of kinds) assert(isKnown(kind), kind);
  isKnown("k1"); // it fitted last, and stays
  for (const value of ["a", "b"]) hold(templates, "shop/cart-1", textOf(value, "k55555"));
  assertEquals(templates.size, 5);
  assertEquals(["k1", "k333", "k4444", "k55555"].map(isKnown), [true, true, true, true]);
  // The other one is learnt again, once the templates that were found last are others.
  for (const kind of ["z1", "z22", "z333", "z4444"]) {
    for (const value of ["a", "b"]) hold(templates, "shop/web-1", textOf(value, kind));
  }
  assertEquals(["a", "b"].map((value) => hold(templates, "shop/cart-1", textOf(value, "k22")) !== undefined), [
    false,
    true,
  ]);
  assertEquals(templates.size, 10);
});

Deno.test("A cached text that is read says so by its template, if somebody counts", () => {
  const templates = new TextTemplates();
  const read: string[] = [];
  templates.onRead = (key) => void read.push(key);
  hold(templates, "shop/cart-1", textOf("a"));
  hold(templates, "shop/cart-2", textOf("b"))!.template.onRead?.("shop/cart-2");
  assertEquals(read, ["shop/cart-2"]);
});

Deno.test("SharedParts hold texts compactly, and use a template until they replace or forget the text", () => {
  const cached = new Set<string>();
  const parts = new SharedParts((key) => cached.has(key));
  const templates = new TextTemplates();
  const pods = [0, 1, 2, 3].map((i) => {
    const pod = bigPod(i);
    delete pod.metadata.managedFields;
    return JSON.stringify(pod);
  });
  const key = (i: number): string => `shop/cart-${i}`;
  const learn = (): void => {
    const waiting = holder(pods[3]);
    templates.compact("shop/cart-3", pods[3], waiting);
  };
  learn();
  for (const i of [0, 1, 2]) {
    cached.add(key(i));
    parseShared(parts, key(i), pods[i]);
  }
  const before = parts.bytes;
  for (const i of [0, 1, 2]) parts.compact(key(i), templates);
  parts.compact("shop/none", templates);
  parseShared(parts, "shop/unlike", textOf("a"));
  const withUnlike = parts.bytes;
  parts.compact("shop/unlike", templates);
  assertEquals(parts.bytes, withUnlike, "it resembles no other text");
  const saved = before - parts.bytes;
  assert(saved > 2.5 * pods[0].length, `${saved}`);
  assertEquals(templates.size, 1);
  const compact = parts.bytes;
  parts.compact(key(0), templates); // it is compact
  assertEquals(parts.bytes, compact);
  // A compact text is still compared with the next version.
  const first = parseShared(parts, key(0), pods[0].replace(`"Running"`, `"Failed!"`)) as { spec: unknown };
  const second = parseShared(parts, key(0), pods[0].replace(`"Running"`, `"Pending"`)) as { spec: unknown };
  assertStrictEquals(second.spec, first.spec);
  assertEquals(second, JSON.parse(pods[0].replace(`"Running"`, `"Pending"`)));
  assert(parts.bytes > compact + 0.8 * pods[0].length, "the version that replaced it is whole");
  // A key that was deleted is forgotten once 64 others have been, too.
  cached.delete(key(1));
  for (const gone of [key(1), ...Array.from({ length: 64 }, (_, i) => `shop/gone-${i}`)]) parts.deleted(gone);
  assertEquals(templates.size, 1);
  parts.clear();
  assertEquals([parts.bytes, templates.size, templates.bytes], [0, 0, 0]);
  parts.clear();
  assertEquals([parts.bytes, templates.size], [0, 0]);
});

Deno.test("Each way in which SharedParts let go of a text ends its use of the template", () => {
  const ways: Readonly<Record<string, (parts: SharedParts, cached: Set<string>) => void>> = {
    "another version": (parts) => void parseShared(parts, "shop/cart-1", textOf("z", "kind", 301)),
    "the object is deleted": (parts, cached) => {
      cached.delete("shop/cart-1");
      for (let i = 0; i < 65; i++) parts.deleted(i === 0 ? "shop/cart-1" : `shop/gone-${i}`);
    },
    "it was read late": (parts, cached) => {
      cached.delete("shop/cart-1");
      for (let i = 0; i < 300; i++) parseShared(parts, `late/${i}`, textOf(i));
    },
    "all": (parts) => parts.clear(),
  };
  for (const [what, letGo] of Object.entries(ways)) {
    const cached = new Set(["shop/cart-1"]);
    const parts = new SharedParts((key) => cached.has(key));
    const templates = new TextTemplates();
    parseShared(parts, "shop/cart-1", textOf("a"));
    const waiting = holder(textOf("b"));
    templates.compact("shop/cart-2", waiting.text!, waiting);
    parts.compact("shop/cart-1", templates);
    assertEquals(templates.size, 1, what);
    letGo(parts, cached);
    assertEquals([templates.size, templates.bytes], [0, 0], what);
  }
});

Deno.test("Bytes of texts that are decoded stay the same", () => {
  const templates = new TextTemplates();
  for (const value of ["a", "b", "\u007f", "\\", '"']) {
    const made = hold(templates, "shop/cart-1", textOf(value));
    if (made !== undefined) assertEquals(decoded(made), textOf(value));
  }
});

Deno.test("Small families become compact, also if many texts before resembled no other", () => {
  for (const unlike of [0, 40, 60, 1_000]) {
    const templates = new TextTemplates();
    for (let i = 0; i < unlike; i++) hold(templates, `a/one${i}`, textOf("a", `one${i}`));
    let count = 0;
    for (let family = 0; family < 2_000; family++) {
      for (const value of ["a", "b", "c"]) {
        if (hold(templates, `b/app${family}-${value}`, textOf(value, `kind${family}`)) !== undefined) count++;
      }
    }
    assert(count > 3_000, `${count} of 4,000 after ${unlike}`);
  }
});
