import { assertEquals } from "@std/assert";
import { countLines, internalOptions, nameUses, usedByANeighbour } from "../../tools/code_size.ts";

Deno.test("a line with code and a comment is code, one of a text is code, and one of a comment alone is not", () => {
  const text = `/**
 * A comment.
 */
export const a = 1; // and a remark

// Another comment.
const text = \`
  // no comment

\`;
`;
  assertEquals(countLines({ path: "a.ts", text }), { code: 5, comment: 4, blank: 1 });
});

Deno.test("names are followed to their users, through entry points and renamed imports", () => {
  const sources = [
    {
      path: "src/a/organ.ts",
      text: `export interface OrganOptions { size: number; onEnd(): void; read: () => void; }
export function organ(options: OrganOptions): void;
export function organ(): void {}
export class Public {}
export type Everywhere = string;
interface LocalContext { value: number }`,
    },
    {
      path: "src/a/owner.ts",
      text:
        `import { organ as make, type OrganOptions, type Everywhere } from "./organ.ts";\nimport { Public } from "./mod.ts";`,
    },
    { path: "src/a/mod.ts", text: `export { Public } from "./organ.ts";` },
    { path: "src/b/other.ts", text: `import type { Everywhere } from "../a/organ.ts";` },
  ];
  const uses = nameUses(sources);
  assertEquals(uses.map(({ name, users, isExported }) => `${isExported ? "" : "local "}${name}: ${users}`), [
    "OrganOptions: src/a/owner.ts",
    "organ: src/a/owner.ts",
    "Public: src/a/owner.ts",
    "Everywhere: src/a/owner.ts,src/b/other.ts",
    "local LocalContext: ",
  ]);
  const publicNames = new Set(["Public"]);
  assertEquals(usedByANeighbour(uses, publicNames).map(({ name }) => name), ["OrganOptions", "organ"]);
  assertEquals(internalOptions(uses, publicNames).map(({ name, members }) => [name, members]), [
    ["OrganOptions", { all: 3, callbacks: 2 }],
    ["LocalContext", { all: 1, callbacks: 0 }],
  ]);
});
