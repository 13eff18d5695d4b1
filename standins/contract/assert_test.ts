import {
  assert,
  assertAlmostEquals,
  assertEquals,
  assertFalse,
  assertInstanceOf,
  AssertionError,
  assertMatch,
  assertNotEquals,
  assertNotStrictEquals,
  assertRejects,
  assertStrictEquals,
  assertStringIncludes,
  assertThrows,
  equal,
} from "@std/assert";

/** The message of the assertion that `fn` makes, without the help of the assertions under test; "" when it holds. */
function messageOf(fn: () => unknown): string {
  try {
    fn();
  } catch (error) {
    if (!(error instanceof AssertionError) || error.name !== "AssertionError") throw error;
    return error.message || "(empty)";
  }
  return "";
}

async function rejectionOf(fn: () => Promise<unknown>): Promise<string> {
  try {
    await fn();
  } catch (error) {
    if (!(error instanceof AssertionError)) throw error;
    return error.message;
  }
  return "";
}

function same(actual: unknown, expected: unknown): void {
  if (!Object.is(actual, expected)) throw new Error(`found ${actual}, expected ${expected}`);
}

function firstLine(text: string): string {
  return text.split("\n")[0];
}

Deno.test("assert passes what is truthy and fails with nothing but the message", () => {
  same(messageOf(() => assert(1)), "");
  same(messageOf(() => assert(0)), "(empty)");
  same(messageOf(() => assert("", "no name")), "no name");
});

Deno.test("assertFalse passes what is falsy and fails with nothing but the message", () => {
  same(messageOf(() => assertFalse(undefined)), "");
  same(messageOf(() => assertFalse("x", "a name")), "a name");
});

Deno.test("AssertionError keeps its cause", () => {
  const cause = new Error("why");
  same(new AssertionError("failed", { cause }).cause, cause);
});

Deno.test("assertEquals says that values are not equal, with the caller's words after it", () => {
  same(messageOf(() => assertEquals({ a: [1, { b: 2 }] }, { a: [1, { b: 2 }] })), "");
  same(firstLine(messageOf(() => assertEquals(1, 2))), "Values are not equal.");
  same(firstLine(messageOf(() => assertEquals("a", "b", "names"))), "Values are not equal: names");
  same(firstLine(messageOf(() => assertEquals<unknown>([1, 2, 3], { a: "x\ny" }))), "Values are not equal.");
});

Deno.test("assertNotEquals fails for equal values", () => {
  same(messageOf(() => assertNotEquals<unknown>(1, "1")), "");
  same(messageOf(() => assertNotEquals(1, 1)), "Expected actual: 1 not to be: 1.");
});

Deno.test("assertStrictEquals wants the same value, and tells when it has only the same structure", () => {
  const object = { a: 1 };
  same(messageOf(() => assertStrictEquals(object, object)), "");
  same(messageOf(() => assertStrictEquals(NaN, NaN)), "");
  same(firstLine(messageOf(() => assertStrictEquals(1, 2))), "Values are not strictly equal.");
  same(firstLine(messageOf(() => assertStrictEquals(0, -0))), "Values are not strictly equal.");
  same(
    firstLine(messageOf(() => assertStrictEquals({ a: 1 }, { a: 1 }, "copy"))),
    "Values have the same structure but are not reference-equal: copy",
  );
});

Deno.test("assertNotStrictEquals passes equal copies and fails for the same value", () => {
  same(messageOf(() => assertNotStrictEquals({ a: 1 }, { a: 1 })), "");
  same(firstLine(messageOf(() => assertNotStrictEquals(1, 1))), `Expected "actual" to not be strictly equal to: 1.`);
});

Deno.test("assertMatch quotes the text and the expression", () => {
  same(messageOf(() => assertMatch("pods", /^po/)), "");
  same(messageOf(() => assertMatch("x", /re/)), `Expected actual: "x" to match: "/re/".`);
});

Deno.test("assertMatch keeps the lastIndex of a global expression", () => {
  const global = /o/g;
  assertMatch("foo", global);
  same(global.lastIndex, 2);
});

Deno.test("assertStringIncludes quotes both texts", () => {
  same(messageOf(() => assertStringIncludes("abc", "bc")), "");
  same(messageOf(() => assertStringIncludes("x", "y")), `Expected actual: "x" to contain: "y".`);
});

Deno.test("assertInstanceOf narrows and says what it found instead", () => {
  const value: unknown = new Map([["a", 1]]);
  assertInstanceOf(value, Map);
  same(value.size, 1);
  same(messageOf(() => assertInstanceOf({}, Map)), `Expected object to be an instance of "Map" but was "Object".`);
  same(messageOf(() => assertInstanceOf(null, Map)), `Expected object to be an instance of "Map" but was "null".`);
  same(
    messageOf(() => assertInstanceOf(1, Map, "m")),
    `Expected object to be an instance of "Map" but was "number": m`,
  );
  same(
    messageOf(() => assertInstanceOf(() => 1, Map)),
    `Expected object to be an instance of "Map" but was not an instanced object.`,
  );
});

Deno.test("assertAlmostEquals allows a ten-millionth, or the tolerance given", () => {
  same(messageOf(() => assertAlmostEquals(0.1 + 0.2, 0.3)), "");
  same(messageOf(() => assertAlmostEquals(10, 12, 2)), "");
  assert(messageOf(() => assertAlmostEquals(1, 2)).includes(" to be close to "));
  assert(messageOf(() => assertAlmostEquals(1.000001, 1)).includes(" to be close to "));
});

Deno.test("assertThrows returns what was thrown", () => {
  const thrown = new TypeError("abc");
  const fn = (): never => {
    throw thrown;
  };
  same(assertThrows(fn), thrown);
  const typed: TypeError = assertThrows(fn, TypeError, "b");
  same(typed, thrown);
  same(assertThrows(fn, Error), thrown);
});

Deno.test("assertThrows fails when nothing, another class or another message is thrown", () => {
  const throws = (value: unknown) => (): never => {
    throw value;
  };
  same(messageOf(() => assertThrows(() => 1)), "Expected function to throw.");
  same(messageOf(() => assertThrows(() => 1, "parse")), "Expected function to throw: parse");
  same(
    messageOf(() => assertThrows(throws(new TypeError("x")), RangeError)),
    `Expected error to be instance of "RangeError", but was "TypeError".`,
  );
  same(
    messageOf(() => assertThrows(throws(new Error("abc")), Error, "xyz")),
    `Expected error message to include "xyz", but got "abc".`,
  );
  same(messageOf(() => assertThrows(throws("text"), Error)), "A non-Error object was thrown.");
  same(messageOf(() => assertThrows(throws("text"))), "");
});

Deno.test("assertRejects resolves to the reason", async () => {
  const reason = new RangeError("abc");
  same(await assertRejects(() => Promise.reject(reason)), reason);
  const typed: RangeError = await assertRejects(() => Promise.reject(reason), RangeError, "bc");
  same(typed, reason);
});

Deno.test("assertRejects fails when the promise is fulfilled or rejected otherwise", async () => {
  same(await rejectionOf(() => assertRejects(() => Promise.resolve(1))), "Expected function to reject.");
  same(await rejectionOf(() => assertRejects(() => Promise.resolve(1), "get")), "Expected function to reject: get");
  same(
    await rejectionOf(() => assertRejects(() => Promise.reject(new TypeError("x")), RangeError)),
    `Expected error to be instance of "RangeError", but was "TypeError".`,
  );
  same(
    await rejectionOf(() => assertRejects(() => Promise.reject(new Error("abc")), Error, "xyz", "text")),
    `Expected error message to include "xyz", but got "abc": text`,
  );
  same(await rejectionOf(() => assertRejects(() => Promise.reject(1), Error)), "A non-Error object was rejected.");
});

Deno.test("assertRejects does not take throwing or a plain value for a rejection", async () => {
  const message = "Function throws when expected to reject.";
  same(
    await rejectionOf(() =>
      assertRejects(() => {
        throw new Error("now");
      })
    ),
    message,
  );
  same(await rejectionOf(() => assertRejects((() => 1) as unknown as () => Promise<unknown>)), message);
});

/** A value with a private field that only an inherited getter shows. */
class Version {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  get text(): string {
    return this.#text;
  }
}

/** A value with a private field that nothing shows. */
class Sealed {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  has(text: string): boolean {
    return this.#text === text;
  }
}

const shared = (): number => 1;

const pairs: [name: string, a: unknown, b: unknown, expected: boolean][] = [
  ["0 and -0", 0, -0, true],
  ["two NaN", NaN, NaN, true],
  ["a number and its text", 1, "1", false],
  ["null and undefined", null, undefined, false],
  ["a bigint and a number", 1n, 1, false],
  ["nested objects", { a: [1, { b: null }] }, { a: [1, { b: null }] }, true],
  ["another order of keys", { a: 1, b: 2 }, { b: 2, a: 1 }, true],
  ["undefined and no key", { a: undefined }, {}, false],
  ["undefined and another key", { a: undefined }, { b: undefined }, false],
  ["an object without prototype", Object.assign(Object.create(null), { a: 1 }), { a: 1 }, true],
  ["symbol keys", { [Symbol.for("a")]: 1 }, { [Symbol.for("a")]: 2 }, false],
  ["an array and an object", [], {}, false],
  ["arrays of another length", [1, 2], [1, 2, 3], false],
  ["a hole and undefined", new Array(1), [undefined], false],
  ["equal dates", new Date(5), new Date(5), true],
  ["unequal dates", new Date(5), new Date(6), false],
  ["invalid dates", new Date(NaN), new Date(NaN), true],
  ["equal expressions", /a/g, /a/g, true],
  ["expressions with other flags", /a/g, /a/i, false],
  ["equal URLs", new URL("http://a/"), new URL("http://a"), true],
  ["unequal URLs", new URL("http://a/"), new URL("http://b/"), false],
  ["equal durations", Temporal.Duration.from("PT1S"), Temporal.Duration.from("PT1S"), true],
  ["sets in another order", new Set([1, 2]), new Set([2, 1]), true],
  ["sets of objects", new Set([{ a: 1 }, { a: 2 }]), new Set([{ a: 2 }, { a: 1 }]), true],
  ["sets with other objects", new Set([{ a: 1 }]), new Set([{ a: 2 }]), false],
  ["sets of another size", new Set([1]), new Set([1, 2]), false],
  ["maps in another order", new Map([["a", [1]], ["b", [2]]]), new Map([["b", [2]], ["a", [1]]]), true],
  ["maps with another value", new Map([["a", [1]]]), new Map([["a", [2]]]), false],
  ["maps with another key", new Map([["a", undefined]]), new Map([["b", undefined]]), false],
  ["maps with object keys", new Map([[{ a: 1 }, 1]]), new Map([[{ a: 1 }, 1]]), true],
  ["a map and a set", new Map(), new Set(), false],
  ["equal bytes", new Uint8Array([1, 2]), new Uint8Array([1, 2]), true],
  ["unequal bytes", new Uint8Array([1, 2]), new Uint8Array([1, 3]), false],
  ["bytes and words", new Uint8Array([1]), new Uint16Array([1]), false],
  ["unequal buffers", new Uint8Array([1]).buffer, new Uint8Array([2]).buffer, false],
  ["errors with the same message", new Error("a"), new Error("a"), false],
  ["the same function", shared, shared, true],
  ["functions that look alike", () => 1, () => 1, false],
  ["an instance and a plain object", new Version("1"), {}, false],
  ["instances with equal getters", new Version("1"), new Version("1"), true],
  ["instances with unequal getters", new Version("1"), new Version("2"), false],
  ["instances with unequal private fields", new Sealed("1"), new Sealed("2"), true],
];

for (const [name, a, b, expected] of pairs) {
  Deno.test(`equal takes ${name} for ${expected ? "equal" : "unequal"}`, () => {
    same(equal(a, b), expected);
    same(equal(b, a), expected);
    same(equal([{ x: a }], [{ x: b }]), expected);
  });
}

Deno.test("equal survives cycles", () => {
  const a: Record<string, unknown> = { name: "a" };
  a.self = a;
  const b: Record<string, unknown> = { name: "a" };
  b.self = b;
  same(equal(a, b), true);
  b.name = "b";
  same(equal(a, b), false);
});

Deno.test("equal refuses to compare what it cannot look into", () => {
  assertThrows(() => equal(new WeakMap(), new WeakMap()), TypeError, "WeakMap");
  assertThrows(() => equal(new WeakSet(), new WeakSet()), TypeError, "WeakSet");
});
