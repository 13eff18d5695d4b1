import { assert, assertEquals } from "@std/assert";
import { ROOT } from "../support/texts/pages.ts";

/** Texts of others that the page explains: of Deno, of Node, and of a user's program. */
const FOREIGN = new Set([
  "Connection refused",
  "ECONNREFUSED",
  "dns error",
  "connection reset",
  "ECONNRESET",
  "UnknownIssuer",
  "unable to verify",
  "certificate not valid for name",
  "does not match",
  "certificate expired",
  "InvalidContentType",
]);

/** Texts that the sources compose, with their parts. */
const COMPOSED = new Map([
  ["Cannot use kubeconfig …", ["Cannot use …", "kubeconfig …"]],
  ['"token" is not sent to "http://…"', ["is not sent to …"]],
  ["Cannot list immediately …", ["Cannot …", " immediately: "]],
  ["the program is not in PATH: install it", ["the program is not in PATH", "…: install it"]],
]);

/** The sections with a table whose first or second column has texts of errors, and the number of that column. */
const TABLES = { "Connect": 0, "Deno permissions": 0, "Error classes": 1 };

/** The code in `src` without comments, and with `…` in place of each value of a template and of each break. */
function sources(folder = new URL("src/", ROOT)): string {
  let text = "";
  for (const { name, isDirectory } of Deno.readDirSync(folder)) {
    if (isDirectory) text += name === "kinds" ? "" : sources(new URL(`${name}/`, folder));
    else if (name.endsWith(".ts")) text += Deno.readTextFileSync(new URL(name, folder));
  }
  const code = text.replaceAll(/^\s*(?:\/?\*|\/\/).*$/gm, "").replaceAll('\\"', '"');
  return code.replaceAll(/[`"] \+\s+[`"]/g, "").replaceAll(/\$\{(?:[^{}]|\{[^{}]*\})*\}/g, "…");
}

/** The code of a column in a section's table. */
function textsOf(page: string, section: string, column: number): string[] {
  const [, part] = page.split(`\n## ${section}\n`);
  const rows = part.split("\n## ")[0].split("\n").filter((line) => line.startsWith("| ")).slice(2);
  return rows.flatMap((row) => [...row.split(" | ")[column].matchAll(/`([^`]+)`/g)].map(([, text]) => text));
}

/** The parts of a text that are the same in each error: without names, numbers and values. */
function fixedParts(text: string): readonly string[] {
  const composed = COMPOSED.get(text);
  if (composed !== undefined) return composed;
  const parts = text.split(/…|\d+|, (?=Cannot)/);
  return parts.map((part) => part.replace(/--allow-.*$/, "").trim()).filter((part) => part.length > 3);
}

Deno.test("each error text in the tables of the page about troubleshooting is one that the sources have", () => {
  const page = Deno.readTextFileSync(new URL("docs/operations/troubleshooting.md", ROOT));
  const code = sources();
  for (const [section, column] of Object.entries(TABLES)) {
    const texts = textsOf(page, section, column).filter((text) => !FOREIGN.has(text));
    assert(texts.length >= 5, `found ${texts.length} texts in "${section}"`);
    assertEquals(texts.filter((text) => !fixedParts(text).every((part) => code.includes(part))), [], section);
  }
  assert(!code.includes("found kind"), "a text that was removed is not found");
});
