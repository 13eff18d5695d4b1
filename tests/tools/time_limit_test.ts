import { assertEquals } from "@std/assert";
import { deno } from "../support/processes/program.ts";

Deno.test("a test without a timeout of its own gets one of two minutes, by its name, options or function", async () => {
  const original = Deno.test;
  const defined: unknown[] = [];
  const fn = (): void => {};
  try {
    Object.assign(Deno, { test: (definition: Deno.TestDefinition) => defined.push(definition) });
    await import(`../support/times/time_limit.ts?${crypto.randomUUID()}`);
    Deno.test("a name", fn);
    Deno.test("with options", { ignore: true }, fn);
    Deno.test({ name: "a definition", timeout: 5, fn });
    Deno.test(fn);
  } finally {
    Object.assign(Deno, { test: original });
  }
  assertEquals(defined, [
    { name: "a name", fn, timeout: 120_000 },
    { name: "with options", ignore: true, fn, timeout: 120_000 },
    { name: "a definition", fn, timeout: 5 },
    { name: "fn", fn, timeout: 120_000 },
  ]);
});

Deno.test("a test that hangs fails by its name and place", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const file = `${folder}/hanging_test.ts`;
    await Deno.writeTextFile(
      file,
      `Deno.test({ name: "waits", timeout: 100, fn: async () => await new Promise((done) => setTimeout(done, 60_000)) });`,
    );
    const preload = new URL("../support/times/time_limit.ts", import.meta.url).pathname;
    const { code, out: text } = await deno(
      ["test", "--no-config", "--no-check", "--reporter=dot", `--preload=${preload}`, file],
    );
    assertEquals(code, 1);
    assertEquals(
      /^waits => \S*hanging_test\.ts:1:6$/m.test(text) && text.includes("timed out after 100ms"),
      true,
      text,
    );
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
