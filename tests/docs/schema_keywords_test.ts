// The tables of "Keywords and formats" have each keyword and each format of the tables in the source.
import { assertEquals } from "@std/assert";
import { FORMATS } from "../../src/operator/schema/values/formats.ts";
import { type Keyword, KEYWORDS } from "../../src/operator/schema/values/keywords.ts";

/** The rows of the table below a heading, as their cells. */
async function rowsOf(heading: string): Promise<string[][]> {
  const page = await Deno.readTextFile("docs/reference/schema-keywords.md");
  const section = page.split(`\n## ${heading}\n`)[1].split("\n## ")[0];
  const rows = section.split("\n").filter((line) => line.startsWith("| `"));
  return rows.map((row) => row.split("|").slice(1, -1).map((cell) => cell.trim()));
}

const namesIn = (cell: string): string[] => [...cell.matchAll(/`([^`]+)`/g)].map(([, name]) => name);

/** How a page's row begins, by what becomes of a keyword. */
const FATES: Readonly<Record<Keyword["fate"], string>> = {
  checked: "kept, and checked",
  walked: "kept",
  noted: "kept",
  lowered: "replaced",
  dropped: "left out",
  refused: "refused",
};

Deno.test("docs: the table of keywords is complete, and says what becomes of each", async () => {
  const rows = await rowsOf("Keywords");
  assertEquals(rows.flatMap(([names]) => namesIn(names)).sort(), [...KEYWORDS.keys()].sort());
  const wrong = rows.flatMap(([names, fate]) =>
    namesIn(names).filter((name) => !fate.startsWith(FATES[KEYWORDS.get(name)!.fate]))
  );
  assertEquals(wrong, []);
});

Deno.test("docs: the table of formats is complete, and says which version checks each", async () => {
  const rows = await rowsOf("Formats");
  const plain = (name: string): string => name.replaceAll("-", "");
  assertEquals(rows.flatMap(([names]) => namesIn(names).map(plain)).sort(), [...FORMATS.keys()].sort());
  const wrong = rows.flatMap(([names, , version]) =>
    namesIn(names).filter((name) => (FORMATS.get(plain(name))!.since || "") !== (Number(version.split(".")[1]) || ""))
  );
  assertEquals(wrong, []);
});
