import {
  assert,
  assertEquals,
  assertFalse,
  assertInstanceOf,
  assertStrictEquals,
  assertStringIncludes,
  assertThrows,
} from "@std/assert";
import fc from "npm:fast-check@^4.10.2";
import {
  type ApiStatus,
  compareResourceVersions,
  DecodeError,
  isAlreadyExists,
  isConflict,
  isExpired,
  isForbidden,
  isNotFound,
  isOlder,
  isResourceVersion,
  isThrottled,
  isTooLargeResourceVersion,
  isUnauthorized,
  oldestVersion,
  reasonOf,
  StatusError,
  statusFrom,
  UnreachableError,
} from "../../../src/engine/api/status.ts";

function failure(status: Partial<ApiStatus>): StatusError {
  return new StatusError("Cannot list", { code: 500, reason: "Unknown", message: "", ...status });
}

const predicates = {
  isAlreadyExists,
  isConflict,
  isExpired,
  isForbidden,
  isNotFound,
  isThrottled,
  isTooLargeResourceVersion,
  isUnauthorized,
};

Deno.test("StatusError, DecodeError and UnreachableError carry their data and their cause", () => {
  const cause = new Error("below");
  const status: ApiStatus = { code: 404, reason: "NotFound", message: "no" };
  const refused = new StatusError("Cannot get", status, { cause });
  assertEquals([refused.name, refused.message], ["StatusError", "Cannot get"]);
  assertStrictEquals(refused.status, status);
  assertStrictEquals(refused.cause, cause);
  const decode = new DecodeError("Cannot parse", { cause, key: "shop/cart-0" });
  assertEquals([decode.name, decode.key], ["DecodeError", "shop/cart-0"]);
  assertStrictEquals(decode.cause, cause);
  assertEquals(new DecodeError("Cannot parse a body").key, undefined);
  const unreachable = new UnreachableError("Cannot reach", { cause });
  assertEquals(unreachable.name, "UnreachableError");
  assertStrictEquals(unreachable.cause, cause);
  for (const error of [refused, decode, unreachable]) assertInstanceOf(error, Error);
});

Deno.test("error predicates hold for the errors that they are named for, and for no other", async (t) => {
  const cases: readonly [Partial<ApiStatus>, readonly (keyof typeof predicates)[]][] = [
    [{ code: 410, reason: "Expired" }, ["isExpired"]],
    [{ code: 410, reason: "Gone" }, ["isExpired"]],
    [{ code: 410, reason: "Unknown" }, ["isExpired"]],
    [{ code: 0, reason: "Expired" }, ["isExpired"]],
    [{ code: 409, reason: "Conflict" }, ["isConflict"]],
    [{ code: 409, reason: "" }, ["isConflict"]],
    [{ code: 409, reason: "AlreadyExists" }, ["isAlreadyExists"]],
    [{ code: 404, reason: "NotFound" }, ["isNotFound"]],
    [{ code: 404, reason: "Unknown" }, ["isNotFound"]],
    [{ code: 404, reason: "SomethingElse" }, []],
    [{ code: 401, reason: "Unauthorized" }, ["isUnauthorized"]],
    [{ code: 403, reason: "Forbidden" }, ["isForbidden"]],
    [{ code: 429, reason: "TooManyRequests" }, ["isThrottled"]],
    [{ code: 429, reason: "Whatever" }, ["isThrottled"]],
    [{ code: 503, reason: "ServiceUnavailable" }, ["isThrottled"]],
    [{ code: 500, reason: "InternalError" }, []],
    [{ code: 504, reason: "Timeout" }, []],
  ];
  for (const [status, expected] of cases) {
    await t.step(`${status.code} ${JSON.stringify(status.reason)}`, () => {
      const error = failure(status);
      const found = Object.entries(predicates).filter(([, holds]) => holds(error)).map(([name]) => name);
      assertEquals(found, [...expected]);
    });
  }
});

Deno.test("error predicates hold for nothing but a StatusError", () => {
  const lookalike = { status: { code: 410, reason: "Expired", message: "Too large resource version" } };
  for (const value of [undefined, null, "410", new Error("410 Gone"), new UnreachableError("gone"), lookalike]) {
    for (const [name, holds] of Object.entries(predicates)) assertFalse(holds(value), name);
  }
});

Deno.test("isTooLargeResourceVersion recognizes the three ways in which servers report it", () => {
  assert(isTooLargeResourceVersion(failure({
    code: 504,
    reason: "Timeout",
    message: "Too large resource version: 9, current: 5",
    details: { causes: [{ reason: "ResourceVersionTooLarge", message: "Too large resource version" }] },
  })));
  assert(isTooLargeResourceVersion(failure({
    code: 504,
    reason: "Timeout",
    details: { causes: [{ message: "Too large resource version" }] },
  })));
  assert(isTooLargeResourceVersion(failure({
    code: 504,
    reason: "Timeout",
    message: "Too large resource version: 9, current: 5",
  })));
});

Deno.test("isTooLargeResourceVersion is false for other timeouts, and for its words elsewhere in a Status", () => {
  const message = "Too large resource version: 9, current: 5";
  for (
    const status of [
      { code: 504, reason: "Timeout", message: "etcd is slow", details: { causes: [{ message: "etcd" }] } },
      { code: 504, reason: "Timeout", details: {} },
      { code: 500, reason: "InternalError", message },
      { code: 400, reason: "BadRequest", details: { causes: [{ message: "Too large resource version" }] } },
    ]
  ) {
    assertFalse(isTooLargeResourceVersion(failure(status)), JSON.stringify(status));
  }
});

Deno.test("compareResourceVersions orders as numbers do, of any length", () => {
  const number = fc.oneof(fc.bigInt({ min: 0n, max: 2_000n }), fc.bigInt({ min: 0n, max: 10n ** 40n }));
  fc.assert(fc.property(number, number, (a, b) => {
    assertEquals(Math.sign(compareResourceVersions(`${a}`, `${b}`)), a < b ? -1 : a > b ? 1 : 0);
    assertEquals(isOlder(`${a}`, `${b}`), a < b);
  }));
});

Deno.test("compareResourceVersions distinguishes versions that are equal as JavaScript numbers", () => {
  assert(compareResourceVersions("9007199254740993", "9007199254740992") > 0);
  assert(compareResourceVersions("99999999999999999999", "100000000000000000000") < 0);
});

Deno.test("compareResourceVersions refuses versions that are not numbers, on either side", () => {
  for (const bad of ["", "01", "-1", "+1", "1.5", "1e3", " 1", "1\n", "0x1", "abc", "१"]) {
    assertFalse(isResourceVersion(bad), `isResourceVersion(${JSON.stringify(bad)})`);
    for (const [a, b] of [[bad, "1"], ["1", bad], [bad, bad]]) {
      const error = assertThrows(() => compareResourceVersions(a, b), RangeError);
      assertStringIncludes(error.message, `Cannot order resource version "${bad}"`);
      assertFalse(isOlder(a, b));
    }
  }
  assert(isResourceVersion("0"));
});

Deno.test("statusFrom reads a Status as servers write it", () => {
  const details = {
    kind: "pods",
    name: "cart-0",
    causes: [{ reason: "FieldValueInvalid", message: "no", field: "spec" }],
    retryAfterSeconds: 3,
  };
  assertEquals<ApiStatus>(
    statusFrom({
      kind: "Status",
      apiVersion: "v1",
      metadata: { continue: "token" },
      status: "Failure",
      message: "the provided continue parameter is too old",
      reason: "Expired",
      details,
      code: 410,
    }, 500),
    {
      code: 410,
      reason: "Expired",
      message: "the provided continue parameter is too old",
      retryAfterSeconds: 3,
      details,
      continue: "token",
    },
  );
});

Deno.test("statusFrom fills in members that are missing or of the wrong type", async (t) => {
  const cases: readonly [string, unknown, number | undefined, ApiStatus][] = [
    ["null", null, 503, { code: 503, reason: "ServiceUnavailable", message: "the server answered 503" }],
    ["text", "gone", 404, { code: 404, reason: "NotFound", message: "the server answered 404" }],
    ["nothing at all", undefined, undefined, {
      code: 500,
      reason: "InternalError",
      message: "the server answered 500",
    }],
    ["code 0, empty words", { code: 0, reason: "", message: "", metadata: { continue: "" } }, 409, {
      code: 409,
      reason: "Conflict",
      message: "the server answered 409",
    }],
    ["wrong types", { code: "404", reason: 1, message: {}, metadata: null }, 400, {
      code: 400,
      reason: "BadRequest",
      message: "the server answered 400",
    }],
    ["details without a time to wait", { code: 429, details: { retryAfterSeconds: 0 } }, 500, {
      code: 429,
      reason: "TooManyRequests",
      message: "the server answered 429",
      details: { retryAfterSeconds: 0 },
    }],
  ];
  for (const [name, value, code, expected] of cases) {
    await t.step(name, () => assertEquals(statusFrom(value, code), expected));
  }
});

Deno.test("reasonOf maps HTTP status codes to reasons", () => {
  assertEquals(
    [400, 401, 403, 404, 405, 406, 409, 410, 413, 415, 418, 422, 429, 500, 501, 503, 504, 507].map(reasonOf),
    [
      "BadRequest",
      "Unauthorized",
      "Forbidden",
      "NotFound",
      "MethodNotAllowed",
      "NotAcceptable",
      "Conflict",
      "Gone",
      "RequestEntityTooLarge",
      "UnsupportedMediaType",
      "Unknown",
      "Invalid",
      "TooManyRequests",
      "InternalError",
      "InternalError",
      "ServiceUnavailable",
      "Timeout",
      "InternalError",
    ],
  );
});

Deno.test("oldestVersion is the smallest version, and empty when versions cannot be compared", () => {
  const cases: [string[], string][] = [
    [["9"], "9"],
    [["10", "9", "11"], "9"],
    [["10", "9", "100000000000000000000000"], "9"],
    [["9", ""], ""],
    [["", "9"], ""],
    [["", ""], ""],
    [["abc"], "abc"],
    [["abc", "abc"], "abc"],
    [["abc", "9"], ""],
    [["9", "9", "abc"], ""],
    [[], ""],
  ];
  for (const [versions, oldest] of cases) assertEquals(oldestVersion(versions), oldest, versions.join());
});
