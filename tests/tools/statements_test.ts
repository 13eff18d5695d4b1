import { assertEquals } from "@std/assert";
import { statementsIn, without } from "../../tools/statements.ts";

function summaries(text: string): string[] {
  return statementsIn(text).map(({ line, summary }) => `${line}: ${summary}`);
}

/** The sources that are left when each statement is deleted in turn. */
function mutants(text: string): string[] {
  return statementsIn(text).map((statement) => without(text, statement));
}

Deno.test("statements: finds nested statements, and those of several lines as one", () => {
  const text = `function f(): void {
  call(
    1,
  );
  for (const x of y) {
    if (x) break;
  }
}
`;
  assertEquals(summaries(text), ["2: call( 1, );", "5: for (const x of y) { if (x) break; }", "6: if (x) break;"]);
});

Deno.test("statements: finds those of methods, arrow functions, switches and try blocks", () => {
  const text = `class C {
  field = 1;
  method(): void {
    run(() => {
      one();
    });
    switch (x) {
      case 1:
        two();
    }
    try {
      three();
    } finally {
      four();
    }
  }
}
`;
  assertEquals(statementsIn(text).map(({ line }) => line), [4, 5, 7, 9, 11, 12, 14]);
});

Deno.test("statements: skips imports, exports, types, declarations and blocks", () => {
  const text = `import { a } from "./a.ts";
export { b } from "./b.ts";
export const c = 1;
type T = string;
interface I {}
function f(): void {}
class C {}
`;
  assertEquals(summaries(text), []);
  assertEquals(summaries("const local = 1;\n{\n}\n;\n"), ["1: const local = 1;"]);
});

Deno.test("statements: a deletion keeps the line numbers of other statements", () => {
  assertEquals(mutants("a(\n  1,\n);\nb();\n"), ["\n\n\nb();\n", "a(\n  1,\n);\n\n"]);
});

Deno.test("statements: a deleted branch leaves an empty statement; an only branch and a loop's body are not deleted", () => {
  assertEquals(mutants("if (x) a();\nelse b();\n"), ["\n\n", "if (x) ;\nelse b();\n", "if (x) a();\nelse ;\n"]);
  assertEquals(mutants("if (x) a();\n"), ["\n"]);
  assertEquals(mutants("while (x) a();\n"), ["\n"]);
});

Deno.test("statements: shortens a long statement", () => {
  const [{ summary }] = statementsIn(`call("${"x".repeat(200)}");\n`);
  assertEquals([summary.length, summary.at(-1)], [100, "…"]);
});

Deno.test("statements: a statement's owner is its function or method, wherever that stands", () => {
  const owners = (text: string): unknown[] => {
    return statementsIn(text).map(({ owner, start }) => [owner.name, owner.text, start - owner.start]);
  };
  const method = "m(): void {\n    if (x) y();\n  }";
  const found = owners(`export function f(): void {\n  g();\n}\nclass C {\n  ${method}\n}\n`);
  assertEquals(found, [
    ["f", "function f(): void {\n  g();\n}", 23],
    ["C.m", method, 16],
  ]);
  assertEquals(owners(`const moved = 1;\nclass C {\n  other = 1;\n  ${method}\n}\n`).at(-1), found[1]);
});
