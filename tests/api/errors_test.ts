import { assert, assertEquals, assertFalse, assertInstanceOf, assertStrictEquals } from "@std/assert";
import {
  DecodeError,
  isAlreadyExists,
  isConflict,
  isExpired,
  isForbidden,
  isNotFound,
  isThrottled,
  isTooLargeResourceVersion,
  isUnauthorized,
  StatusError,
  UnreachableError,
} from "../../src/api/errors.ts";
import type { Status } from "../../src/api/status.ts";

function failure(status: Partial<Status>): StatusError {
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
  const status: Status = { code: 404, reason: "NotFound", message: "no" };
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
  const cases: readonly [Partial<Status>, readonly (keyof typeof predicates)[]][] = [
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
