/**
 * The two pages that the site reads as data: the index of the pages for users, `docs/README.md`, and the first screen
 * of README.
 *
 * {@linkcode readIndex} and {@linkcode readIntroduction} are the entry points. The navigation of the site has no other
 * source than the index: sections with one list item for each page, `- [Title](./folder/page.md): one line`.
 *
 * @module
 */

/** A page in the index. */
export interface Entry {
  readonly title: string;
  /** Path relative to `docs`. */
  readonly page: string;
  /** The text after the link, without Markdown; empty if there is none. */
  readonly description: string;
}

/** A heading of the index, and the pages below it. */
export interface Section {
  readonly title: string;
  readonly entries: readonly Entry[];
}

/** The first screen of README. */
export interface Introduction {
  /** The title. */
  readonly name: string;
  /** The first sentence, which is bold, without Markdown and without its full stop. */
  readonly claim: string;
  /** The rest of the first paragraph, without Markdown. */
  readonly text: string;
  /** The first program. */
  readonly program: string;
  /** How to begin: in a clone, and in a project of one's own. The commands have no comments. */
  readonly starts: readonly { readonly where: string; readonly commands: readonly string[] }[];
}

/** Reads the sections of `docs/README.md`. @throws {Error} if an item names no page, or a page twice. */
export function readIndex(text: string): Section[] {
  const [, ...parts] = text.split(/^## /m);
  const sections = parts.map((part) => {
    const items = part.match(/^- .*(?:\n {2}.*)*/gm) ?? [];
    return { title: plain(part.split("\n", 1)[0]), entries: items.map(readItem) };
  }).filter(({ entries }) => entries.length > 0);
  const pages = sections.flatMap(({ entries }) => entries.map(({ page }) => page));
  if (pages.length === 0) throw new Error("Cannot read docs/README.md: it has no item below a ## heading. Add one.");
  const twice = pages.find((page, i) => pages.indexOf(page) !== i);
  if (twice !== undefined) throw new Error(`Cannot read docs/README.md: it has ${twice} twice. Remove one of them.`);
  return sections;
}

function readItem(item: string): Entry {
  const [, title, page, description] = /^- \[([^\]]+)\]\(\.\/([\w./-]+\.md)\)(?:: (\S[^]*))?$/.exec(item) ?? [];
  if (title === undefined) {
    throw new Error(`Cannot read docs/README.md: write "${item}" as "- [Title](./folder/page.md): one line".`);
  }
  return { title: plain(title), page, description: plain(description ?? "") };
}

/** Reads the first screen of README. @throws {Error} when a part of it is missing. */
export function readIntroduction(readme: string): Introduction {
  const [, name, claim, text] = /^# (.+)\n\n\*\*([^*]+?)\.?\*\*\s+((?:.+\n)+)/.exec(readme) ?? [];
  const program = /^```ts.*\n([^]*?)^```$/m.exec(readme)?.[1];
  if (name === undefined || program === undefined) {
    throw new Error("Cannot read README.md: begin it with a title, a paragraph with a bold sentence, and a program.");
  }
  return { name: plain(name), claim: plain(claim), text: plain(text), program, starts: readStarts(readme) };
}

/** Reads the commands below "Start", each block with the line before it. */
function readStarts(readme: string): Introduction["starts"] {
  const section = /^## Start\n([^]*?)(?=^## |$(?![^]))/m.exec(readme)?.[1] ?? "";
  const starts = Array.from(section.matchAll(/^(\S.*):\n\n```sh\n([^]*?)^```$/gm), ([, where, block]) => {
    return { where, commands: block.trim().split("\n").map((line) => line.replace(/\s+#.*/, "")) };
  });
  if (starts.length === 2) return starts;
  throw new Error('Cannot read README.md: "## Start" needs two blocks of commands, for a clone and for a project.');
}

/** The text without line ends, and without the signs of Markdown for code, emphasis and links. */
function plain(markdown: string): string {
  return markdown.trim().replaceAll(/\s+/g, " ").replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1").replaceAll(/[`*]/g, "");
}
