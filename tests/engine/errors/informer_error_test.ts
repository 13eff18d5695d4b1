import { assert, assertEquals, assertRejects, assertStrictEquals } from "@std/assert";
import { StatusError } from "../../../src/engine/api/status.ts";
import { Client } from "../../../src/engine/client/client.ts";
import { InformerError, withErrorJson } from "../../../src/engine/errors/informer_error.ts";
import { Pod } from "../../../src/engine/kinds/core/v1.ts";
import { FakeApiServer } from "../../../src/testing/mod.ts";

function deep(depth: number, make: () => Error): Error {
  return depth === 0 ? make() : deep(depth - 1, make);
}

Deno.test("InformerError is printed in at most ten lines, with its causes and stacks", () => {
  const refused = (): Error => new StatusError("Cannot list: 403", { code: 403, reason: "Forbidden", message: "no" });
  const foreign = new TypeError("x is undefined", { cause: new RangeError("deepest") });
  const chain = (length: number): Error =>
    Array.from({ length }).reduce<Error>((cause, _, i) => new InformerError(`level ${i}`, { cause }), foreign);
  for (
    const error of [
      deep(20, refused),
      deep(20, () => new InformerError("Handler failed", { cause: deep(20, () => new Error("boom")) })),
      deep(20, () => chain(1)),
      deep(20, () => chain(6)),
      new InformerError("several\nlines\nin\na\nmessage\nof\nan\nerror\nthat\nis\nlong\n"),
    ]
  ) {
    const text = Deno.inspect(error);
    const lines = text.split("\n");
    assert(lines.length <= 10, text);
    assert(text.startsWith(`${error.name}: ${error.message.split("\n")[0]}`), text);
    assertEquals(text.match(/status: \{/), null);
  }
  const lines = Deno.inspect(deep(5, () => new InformerError("outer", { cause: deep(5, () => new Error("boom")) })))
    .split("\n");
  assertEquals(lines[0], "InformerError: outer");
  const cause = lines.indexOf("Caused by: Error: boom");
  assert(cause > 1 && lines[1].includes("informer_error_test.ts"), lines.join("\n"));
  assert(lines[cause + 1].includes("informer_error_test.ts"), "the place where the cause was thrown is shown");
});

Deno.test("InformerError is printed with the frames of the program, not with those of the package", async () => {
  using client = new Client({ server: "http://fake", transport: new FakeApiServer(), retries: 0 });
  const error = await assertRejects(() => client.resource(Pod, { namespace: "a" }).get("missing"));
  const [head, ...frames] = Deno.inspect(error).split("\n");
  assert(head.startsWith('StatusError: Cannot get "pods/missing"'), head);
  assertEquals(frames.filter((line) => line.includes("/src/")), []);
});

Deno.test("InformerError keeps no cause whose message it repeats", () => {
  const root = new Error("os error 2");
  const cause = new Error("there is no such file", { cause: root });
  assertStrictEquals(new InformerError("Cannot read", { cause }).cause, cause);
  assertStrictEquals(new InformerError("Cannot read: there is no such file", { cause }).cause, root);
  assertEquals("cause" in new InformerError("Cannot read: there is no such file (os error 2)", { cause }), false);
});

Deno.test("InformerError and what withErrorJson returns keep messages and causes as JSON", () => {
  const error = new InformerError("outer", { cause: new TypeError("inner") });
  const json = { name: "InformerError", message: "outer", cause: { name: "TypeError", message: "inner" } };
  assertEquals(JSON.parse(JSON.stringify(error)), json);
  const status = withErrorJson({ cause: new TypeError("x"), at: new Date(0), last: { error }, list: [1] });
  assertEquals(Object.keys(status), ["cause", "at", "last", "list"]);
  assertEquals(
    JSON.parse(JSON.stringify({ status })).status,
    { cause: { name: "TypeError", message: "x" }, at: "1970-01-01T00:00:00.000Z", last: { error: json }, list: [1] },
  );
});
