import { assert, assertEquals, assertThrows } from "@std/assert";
import { searched, stemOf } from "../../tools/site/config.ts";
import { readIndex, readIntroduction } from "../../tools/site/index.ts";
import { anchorOf, type Markdown, targetOf, type Token, useRepositoryMarkdown } from "../../tools/site/markdown.ts";
import { finished } from "../../tools/site/reference.ts";
import { mendTheme } from "../../tools/site/theme.ts";

const ROOT = new URL("../../", import.meta.url).pathname;
const REPOSITORY = "https://git.example/informer";

type Rule = Parameters<Markdown["core"]["ruler"]["push"]>[1];

/** A token of markdown-it. */
class FakeToken implements Token {
  content = "";
  info = "";
  children: Token[] | null = null;
  readonly #attributes: Record<string, string>;

  constructor(public type: string, _tag = "", _nesting = 0, attributes: Record<string, string> = {}) {
    this.#attributes = attributes;
  }

  attrGet(name: string): string | null {
    return this.#attributes[name] ?? null;
  }

  attrSet(name: string, value: string): void {
    this.#attributes[name] = value;
  }
}

function token(type: string, content: string, children: Token[] | null = null): FakeToken {
  return Object.assign(new FakeToken(type), { content, children });
}

/** Applies the rules for pages to the tokens of one page of `docs`. */
function apply(tokens: Token[], page = "guides/a.md", repository = REPOSITORY): void {
  let rule: Rule | undefined;
  const markdown: Markdown = { core: { ruler: { push: (_, added) => rule = added } }, render: () => "" };
  useRepositoryMarkdown(markdown, { root: ROOT, pages: "/site/docs", repository, program: "first();\n" });
  rule!({ tokens, env: { path: `/site/docs/${page}` }, Token: FakeToken });
}

const PICTURE = '<picture><source media="(prefers-color-scheme: dark)" srcset="../a-dark.svg">' +
  '<img src="../a-light.svg" alt="An a"></picture>';
const BOTH = '<img class="light-only" loading="lazy" src="../a-light.svg" alt="An a">' +
  '<img class="dark-only" loading="lazy" src="../a-dark.svg" alt="An a">';

Deno.test("site: a picture becomes two images, as a block of HTML and on one line of text", () => {
  const block = token("html_block", PICTURE);
  // markdown-it reads a line that begins with <picture> as text, because no element of blocks has this name.
  const parts = PICTURE.match(/<[^>]*>/g)!.map((tag) => token("html_inline", tag));
  const line = token("inline", PICTURE, parts);
  apply([block, line]);
  assertEquals(block.content, BOTH);
  assertEquals(line.children!.map(({ type, content }) => [type, content]), [["html_inline", BOTH]]);
});

Deno.test("site: a fence of Mermaid becomes a component that has its text, and other fences stay", () => {
  const diagram = Object.assign(token("fence", 'flowchart LR\n  a["{{b}}"] --> c\n'), { info: "mermaid" });
  const program = Object.assign(token("fence", "first();\n"), { info: "ts" });
  apply([program, diagram]);
  assertEquals([program.type, diagram.type], ["fence", "html_block"]);
  const [, name, text] = /^<Diagram name="(.*?)" text="(.*?)" \/>\n$/.exec(diagram.content)!;
  assertEquals([name, decodeURIComponent(text)], ["diagram-1", 'flowchart LR\n  a["{{b}}"] --> c\n']);
});

Deno.test("site: a picture within a paragraph is refused, as its two images would be two lines of text", () => {
  const line = token("inline", `See ${PICTURE}`, [token("text", "See "), token("html_inline", "<picture>")]);
  assertThrows(() => apply([line]), Error, "Cannot show docs/guides/a.md: a <picture> is within a paragraph.");
});

Deno.test("site: a link to a file of the repository leads there, or is text while there is no address", () => {
  const link = (): Token[] => [
    new FakeToken("link_open", "a", 1, { href: "../../bench/README.md#load" }),
    token("text", "measurements"),
    new FakeToken("link_close", "a", -1),
  ];
  const [kept, dropped] = [link(), link()];
  apply([token("inline", "", kept)]);
  apply([token("inline", "", dropped)], "guides/a.md", "");
  assertEquals(kept[0].attrGet("href"), `${REPOSITORY}/blob/main/bench/README.md#load`);
  assertEquals(dropped.map(({ type, content }) => [type, content]), [
    ["text", ""],
    ["text", "measurements"],
    ["text", ""],
  ]);
});

Deno.test("site: links lead to pages, folders and files, and to nothing that is not there", () => {
  const target = (link: string): string | undefined =>
    targetOf(link, "guides/a.md", { root: ROOT, repository: REPOSITORY });
  assertEquals(target("../README.md#guides"), "../index.md#guides");
  assertEquals(target("./lean-caches.md"), "./lean-caches.md");
  assertEquals(target("../../examples"), `${REPOSITORY}/tree/main/examples`);
  for (const link of ["https://a.example", "#here", "/api/index.html"]) assertEquals(target(link), link);
  assertThrows(() => target("../../nowhere.ts"), Error, "leads to nowhere.ts, which is not there");
});

Deno.test("site: an anchor is a heading in lower case, with dashes, and without punctuation", () => {
  assertEquals(anchorOf("Limits, and `maxBytes`"), "limits-and-maxbytes");
  assertEquals(anchorOf("ECONNRESET — what to do"), "econnreset--what-to-do");
});

Deno.test("site: the first page begins with the program of README instead of the title of the index", () => {
  const tokens = ["heading_open", "inline", "heading_close", "paragraph_open"].map((type) => token(type, type));
  apply(tokens, "index.md");
  assertEquals(tokens.map(({ type, info, content }) => [type, info, content]), [
    ["fence", "ts", "first();\n"],
    ["paragraph_open", "", "paragraph_open"],
  ]);
});

Deno.test("site: the navigation is the index of the pages, whose items have one form", () => {
  const index = "# Docs\n\n## Start\n\n- [First `it`](./a/b.md): from *nothing*\n  to it\n- [C](./c.md)\n\n## Empty\n";
  assertEquals(readIndex(index), [{
    title: "Start",
    entries: [
      { title: "First it", page: "a/b.md", description: "from nothing to it" },
      { title: "C", page: "c.md", description: "" },
    ],
  }]);
  assertThrows(() => readIndex("## A\n\n- no link\n"), Error, 'write "- no link" as');
  assertThrows(() => readIndex("## A\n\n- [A](./a.md)\n- [B](./a.md)\n"), Error, "it has a.md twice");
  assertThrows(() => readIndex("# Docs\n"), Error, "it has no item");
});

Deno.test("site: the first page has the name, the claim and the program of README", () => {
  const readme = "# Name\n\n**It works.** You get `it`,\nand more.\n\n```ts ignore\nfirst();\n```\n";
  assertEquals(readIntroduction(readme), {
    name: "Name",
    claim: "It works",
    text: "You get it, and more.",
    program: "first();\n",
  });
  assertThrows(() => readIntroduction("# Name\n\nIt works.\n"), Error, "Cannot read README.md");
});

Deno.test("site: the search finds a page by its line in the index and its path, and not by its further links", () => {
  const html = '<h1>A</h1><p>text</p><h2 id="next">Next</h2><ul>links</ul>';
  const entry = { title: "A", page: "guides/lean-caches.md", description: "a < b" };
  assertEquals(searched(html, entry), "<h1>A</h1><p>A. guides lean caches. a &lt; b</p><p>text</p>");
  assertEquals(searched(html, undefined), "");
});

Deno.test("site: the search compares words without their endings", () => {
  const stems = ["Sharding", "sharded", "shards", "retries", "proxies", "410", "bus"].map(stemOf);
  assertEquals(stems, ["shard", "shard", "shard", "retry", "proxy", "410", "bus"]);
});

Deno.test("site: a page of the reference gets a language, an icon, the name of its entry, and links to pages", () => {
  const html = '<html><head><title>T</title><meta name="doc-current-file" content="relay"></head>' +
    '<ul class="breadcrumbs"></ul><input id="searchbar"> from &quot;relay&quot;' +
    '<a href="#type_param_a" class="x">A</a><a href="#type_param_b" class="x">B</a><b id="type_param_b"></b>' +
    '<a href="../../docs/relay/serve.md#who">Serve</a><a href="./docs/README.md">All</a></html>';
  const page = finished(html, "relay/~/InformerRelay.html", "@kube/informer");
  assertEquals(page.includes('<html lang="en">') && page.includes('rel="icon"'), true);
  assertEquals(page.includes('<a href="../../../" class="guides">Guides</a>'), true);
  assertEquals(page.includes("from &quot;@kube/informer/relay&quot;"), true);
  assertEquals(page.includes('A<a href="#type_param_b" class="x">B</a>'), true);
  assertEquals(page.includes('<a href="../../../relay/serve.html#who">Serve</a><a href="../../../index.html">'), true);
  assertEquals(page.includes('id="searchbar" aria-label="Search names"'), true);
});

Deno.test("site: a component of VitePress gets its mend, and the build ends when there is no place for it", () => {
  const { transform } = mendTheme();
  const id = "/a/theme-default/components/VPHome.vue";
  assertEquals(transform('<div class="VPHome">', id), '<div class="VPHome" role="main">');
  assertEquals(transform("<div>", "/a/theme-default/components/VPPage.vue"), undefined);
  assertThrows(() => transform("<div>", id), Error, 'Cannot mend VPHome.vue of VitePress: it has no class="VPHome"');
});

Deno.test("site: pages of the reference have one heading, named landmarks, and names of buttons", () => {
  const html = '<title>Pod</title><main class="a"></main><nav class="topSymbols"></nav>' +
    '<nav class="documentNavigation"></nav><button class="copyButton"></button><code class="language-ts"></code>';
  const page = finished(html, "index.html", "@kube/informer");
  for (
    const part of [
      '<main class="a"><h1 class="for-readers">Pod</h1>',
      '<nav class="topSymbols" aria-label="Symbols">',
      '<nav class="documentNavigation" aria-label="On this page">',
      '<button class="copyButton" aria-label="Copy">',
      '<code tabindex="0" class="language-ts">',
    ]
  ) assert(page.includes(part), `${part} is not in ${page}`);
});
