import { assertEquals } from "@std/assert";
import { edited, placeOf } from "../../tools/places.ts";

const SOURCE = "function f() {\n  if (a) return;\n  b();\n  if (c) return;\n  b();\n  d();\n}\n";

Deno.test("places: a line is found by its code, which occurs once; more lines name one of several", () => {
  const line = (code: string): string => {
    const place = placeOf("a.ts", SOURCE, code);
    return typeof place === "string" ? place : SOURCE.slice(place.start, place.end);
  };
  assertEquals(line("if (a) return;"), "if (a) return;");
  assertEquals(line("if (a)"), "if (a) return;");
  assertEquals(line("b();"), 'a.ts has the line "b();" twice; add the line after it');
  assertEquals(line("b();\n  d();"), "b();");
  assertEquals(line("e();"), 'a.ts has no line "e();"');
  assertEquals(line("(c) return;"), 'a.ts has no line that begins with "(c) return;"');
});

Deno.test("places: a mutant changes its line, or a part of it, and nothing else", () => {
  const mutant = { id: "m", breaks: "", file: "a.ts" };
  assertEquals(edited(SOURCE, { ...mutant, line: "b();\n  d();", replace: "" }), {
    text: "function f() {\n  if (a) return;\n  b();\n  if (c) return;\n  \n  d();\n}\n",
  });
  assertEquals(edited("x(1);\ny(1);\n", { ...mutant, line: "x(1);", find: /1/, replace: "$&2" }), {
    text: "x($&2);\ny(1);\n",
  });
  assertEquals(
    edited(SOURCE, { ...mutant, line: "d();", find: /e/, replace: "" }),
    'the mutant "m" does not change its line in a.ts',
  );
  assertEquals(edited(SOURCE, { ...mutant, line: "e();", replace: "" }), 'the mutant "m": a.ts has no line "e();"');
});
