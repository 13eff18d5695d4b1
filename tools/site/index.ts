/**
 * The index of the pages for users, `docs/README.md`, from which the site takes its navigation and its first page.
 *
 * {@linkcode readIndex} is the entry point. The index has a title, a paragraph that introduces the package, and sections
 * with one list item for each page: `- [Title](./folder/page.md): one line.`
 *
 * @module
 */

/** A page in the index. */
export interface Entry {
  readonly title: string;
  /** Path relative to `docs`. */
  readonly page: string;
  /** The text after the link, without Markdown. */
  readonly description: string;
}

/** A heading of the index, and the pages below it. */
export interface Section {
  readonly title: string;
  readonly entries: readonly Entry[];
}

/** The index as the site shows it. */
export interface Index {
  readonly title: string;
  /** The first paragraph, without Markdown. */
  readonly introduction: string;
  readonly sections: readonly Section[];
}

/** Reads the text of `docs/README.md`. @throws {Error} when a part is missing, or an item names no page. */
export function readIndex(text: string): Index {
  const [head, ...parts] = text.split(/^## /m);
  const [, title, introduction] = /^# (.+)\n\n((?:.+\n)+)/.exec(head) ?? [];
  if (title === undefined) {
    throw new Error(
      "Cannot read docs/README.md: it must begin with a title and a paragraph.",
    );
  }
  const sections = parts.map((part) => {
    const [heading] = part.split("\n", 1);
    const items = part.match(/^- .*(?:\n {2}.*)*/gm) ?? [];
    return { title: plain(heading), entries: items.map(readItem) };
  });
  const pages = sections.flatMap(({ entries }) =>
    entries.map(({ page }) => page)
  );
  const twice = pages.find((page, i) => pages.indexOf(page) !== i);
  if (twice !== undefined) {
    throw new Error(
      `Cannot read docs/README.md: it has ${twice} twice. Remove one of the items.`,
    );
  }
  return {
    title: plain(title),
    introduction: plain(introduction),
    sections: sections.filter((it) => it.entries.length > 0),
  };
}

function readItem(item: string): Entry {
  const [, title, page, description] =
    /^- \[([^\]]+)\]\(\.\/([\w./-]+\.md)\): (\S[^]*)$/.exec(item) ?? [];
  if (title === undefined) {
    throw new Error(
      `Cannot read docs/README.md: write "${item}" as "- [Title](./folder/page.md): one line.".`,
    );
  }
  return { title: plain(title), page, description: plain(description) };
}

/** The text without line ends, and without the signs of Markdown for code, emphasis and links. */
function plain(markdown: string): string {
  return markdown.trim().replaceAll(/\s+/g, " ").replaceAll(
    /\[([^\]]*)\]\([^)]*\)/g,
    "$1",
  ).replaceAll(/[`*]/g, "");
}
