import { assert, assertEquals } from "@std/assert";
import { proseOf, wordCount } from "../../tools/words.ts";
import { pages, ROOT } from "../support/texts/pages.ts";

/** The lines that README may have; 170 once it is rewritten. */
const README_LINES = Infinity;

/** The words that a page may have, tables included, of which a piece of code is one. */
const PAGE_WORDS = 1_500;

/** Pages for contributors. Their links may lead to any file or folder. */
const INTERNAL = [
  ".github/RELEASE.md",
  ".github/SECURITY.md",
  "ARCHITECTURE.md",
  "CONTRIBUTING.md",
  "bench/README.md",
  "standins/README.md",
  "tests/README.md",
];

/** The folder of pictures, which are not published: README and guides are read where the repository is. */
const PICTURES = "docs/pictures/";

function read(path: string): string {
  return Deno.readTextFileSync(new URL(path, ROOT));
}

/** A link of a page, or the address of a picture. */
interface Link {
  readonly target: string;
  readonly isImage: boolean;
}

/** The links and pictures in Markdown, also those written as HTML. Code and comments have none. */
function linksIn(markdown: string): Link[] {
  const text = markdown.replaceAll(/^([ \t]*)```[^]*?^\1```$/gm, "").replaceAll(/<!--[^]*?-->|`[^`\n]*`/g, "");
  const of = (pattern: RegExp, isImage: boolean): Link[] =>
    [...text.matchAll(pattern)].map(([, target]) => ({ target, isImage }));
  const sets = [...text.matchAll(/<source\b[^>]*\bsrcset="([^"]*)"/g)].flatMap(([, set]) => set.split(","));
  return [
    ...of(/!\[[^\]]*\]\(\s*([^)\s]+)[^)]*\)/g, true),
    ...of(/<(?:img|source)\b[^>]*\bsrc="([^"]*)"/g, true),
    ...sets.map((entry) => ({ target: entry.trim().split(/\s/)[0], isImage: true })),
    ...of(/(?<!!\[[^\]]*)\]\(\s*([^)\s]+)[^)]*\)/g, false),
    ...of(/^\[[^\]]+\]:\s+(\S+)/gm, false),
    ...of(/<a\b[^>]*\bhref="([^"]*)"/g, false),
  ].filter(({ target }) => !/^(?:https?|mailto):/.test(target));
}

/** The anchors of a page: its headings as GitHub writes them, of which equal ones are numbered, and ids in HTML. */
function anchorsOf(markdown: string): Set<string> {
  const anchors = new Set<string>();
  const seen = new Map<string, number>();
  const text = markdown.replaceAll(/^([ \t]*)```[^]*?^\1```$/gm, "");
  for (const [, heading] of text.matchAll(/^#+ +(.*?)(?: +#+)?$/gm)) {
    const plain = heading.replaceAll(/!?\[([^\]]*)\]\([^)]*\)/g, "$1").replaceAll(/<[^>]+>/g, "");
    const slug = plain.toLowerCase().replaceAll(/[^\p{L}\p{M}\p{N}_\- ]/gu, "").trim().replaceAll(" ", "-");
    const count = seen.get(slug) ?? 0;
    seen.set(slug, count + 1);
    anchors.add(count === 0 ? slug : `${slug}-${count}`);
  }
  for (const [, id] of text.matchAll(/<\w+\b[^>]*\b(?:id|name)="([^"]*)"/g)) anchors.add(id);
  return anchors;
}

/** Returns the reason for which a link of `page` leads nowhere; `undefined` if it leads somewhere. */
function problemOf(
  { target, isImage }: Link,
  page: string,
  isPublished?: (path: string) => boolean,
): string | undefined {
  const [path, anchor] = target.split("#");
  const url = path === "" ? new URL(page, ROOT) : new URL(path, new URL(page, ROOT));
  if (!url.href.startsWith(ROOT.href)) return "leaves the repository";
  const file = decodeURI(url.href.slice(ROOT.href.length));
  try {
    const { isFile } = Deno.statSync(url);
    if (!isFile) return isPublished === undefined ? undefined : "is no file";
  } catch {
    return "is no file";
  }
  if (file.startsWith(PICTURES) && !isImage) return "is a link to a picture; show it as an image";
  if (isPublished?.(file) === false && !file.startsWith(PICTURES)) return "is not published";
  if (anchor !== undefined && !anchorsOf(Deno.readTextFileSync(url)).has(anchor)) {
    return "names no heading of that page";
  }
  return undefined;
}

function problems(page: string, isPublished?: (path: string) => boolean): string[] {
  return linksIn(read(page)).flatMap((link) => {
    const problem = problemOf(link, page, isPublished);
    return problem === undefined ? [] : [`${page}: ${link.target} ${problem}`];
  });
}

Deno.test("linksIn finds links and pictures in Markdown and HTML, and none in code", () => {
  const markdown = `[a](./a.md "title") [\`b\`](b.md#c) ![d](d.png) [![e](e.svg)](e.md) <a href="f.md">f</a>
<picture><source media="(x)" srcset="g.svg, h.svg 2x"><img alt="i" src="i.svg"></picture>
[j](https://j.test) \`[k](k.md)\` <!-- [l](l.md) -->

[m]: m.md

\`\`\`md
[n](n.md)
\`\`\`
`;
  const of = (images: boolean): string[] =>
    linksIn(markdown).filter(({ isImage }) => isImage === images).map(({ target }) => target).sort();
  assertEquals(of(false), ["./a.md", "b.md#c", "e.md", "f.md", "m.md"]);
  assertEquals(of(true), ["d.png", "e.svg", "g.svg", "h.svg", "i.svg"]);
});

Deno.test("anchorsOf numbers equal headings, and drops markup", () => {
  const markdown = "# `a.b()` and _c_\n\n## Limits\n\n## Limits\n\n### See [x](y.md), too\n\n```sh\n# no\n```\n";
  assertEquals([...anchorsOf(markdown)], ["ab-and-_c_", "limits", "limits-1", "see-x-too"]);
});

Deno.test("relative links of README, CHANGELOG and docs lead to published files, and to their headings", () => {
  const { publish } = JSON.parse(read("deno.json")) as { publish: { include: string[]; exclude?: string[] } };
  const isBelow = (path: string, folders: readonly string[]): boolean =>
    folders.some((folder) => path === folder || path.startsWith(`${folder}/`));
  const isPublished = (path: string): boolean =>
    isBelow(path, publish.include) && !isBelow(path, publish.exclude ?? []);
  assertEquals(["CHANGELOG.md", ...pages()].flatMap((page) => problems(page, isPublished)), []);
});

Deno.test("relative links of pages for contributors lead to files, and to their headings", () => {
  assertEquals(INTERNAL.flatMap((page) => problems(page)), []);
});

Deno.test("paths of guides in sources lead to pages, and to their headings", () => {
  const sources = [...filesBelow("src"), ...filesBelow("tools"), ...filesBelow("examples"), "mod.ts"];
  const wrong = sources.filter((path) => path.endsWith(".ts")).flatMap((path) =>
    [...read(path).matchAll(/(?<![\w/.:-])((?:\.{1,2}\/)*)(docs\/[\w/-]+\.md(?:#[\w-]+)?)/g)].flatMap(
      ([found, relative, target]) => {
        const problem = problemOf({ target: relative + target, isImage: false }, relative === "" ? "mod.ts" : path);
        return problem === undefined ? [] : [`${path}: ${found} ${problem}`];
      },
    )
  );
  assertEquals(wrong, []);
});

function filesBelow(folder: string): string[] {
  return [...Deno.readDirSync(new URL(folder, ROOT))].flatMap(({ name, isDirectory }) =>
    isDirectory ? filesBelow(`${folder}/${name}`) : [`${folder}/${name}`]
  );
}

Deno.test("docs/README.md links to every page in a folder of docs", () => {
  const linked = new Set(
    linksIn(read("docs/README.md")).map(({ target }) => {
      return new URL(target.split("#")[0], new URL("docs/README.md", ROOT)).href.slice(ROOT.href.length);
    }),
  );
  assertEquals(pages().filter((page) => /^docs\/.+\//.test(page) && !linked.has(page)), []);
});

Deno.test("pages are short, and their diagrams are described", () => {
  const wrong: string[] = [];
  for (const page of pages()) {
    const text = read(page);
    const words = wordCount(proseOf(text));
    if (words > PAGE_WORDS) wrong.push(`${page}: ${words} words`);
    for (const [, diagram] of text.matchAll(/^```mermaid\n([^]*?)^```$/gm)) {
      const isDescribed = /^\s+accTitle: .{10}/m.test(diagram) && /^\s+accDescr: .{60}/m.test(diagram);
      if (!isDescribed) wrong.push(`${page}: a diagram has no accTitle or accDescr, for readers that do not see it`);
    }
  }
  const { length } = read("README.md").trimEnd().split("\n");
  assert(length <= README_LINES, `README.md has ${length} lines`);
  assertEquals(wrong, [], `at most ${PAGE_WORDS} words, tables included`);
});
