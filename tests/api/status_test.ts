import { assertEquals } from "@std/assert";
import { reasonOf, type Status, statusFrom } from "../../src/api/status.ts";

Deno.test("statusFrom reads a Status as servers write it", () => {
  const details = {
    kind: "pods",
    name: "cart-0",
    causes: [{ reason: "FieldValueInvalid", message: "no", field: "spec" }],
    retryAfterSeconds: 3,
  };
  assertEquals<Status>(
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
  const cases: readonly [string, unknown, number | undefined, Status][] = [
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
