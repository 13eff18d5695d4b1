import { assert, assertEquals, assertThrows } from "@std/assert";
import { home } from "../../tools/site/home.ts";
import { readIndex, readIntroduction } from "../../tools/site/index.ts";
import { anchorOf, type Markdown, targetOf, type Token, useRepositoryMarkdown } from "../../tools/site/markdown.ts";
import { finderOf, mentionedIn, type Places } from "../../tools/site/names.ts";
import { boostOf, searched, searchedReference, stemOf, wordsOf } from "../../tools/site/search.ts";
import { linked, type Location, parametersAt, signatureAt, typeAt } from "../../tools/site/source.ts";
import { mendTheme } from "../../tools/site/theme.ts";

const ROOT = new URL("../../", import.meta.url).pathname;
const REPOSITORY = "https://git.example/informer";

type Rule = Parameters<Markdown["core"]["ruler"]["push"]>[1];

/** Two entry points with a name for different things, a function, and a kind. */
const PLACES: Places = {
  Client: [{ name: "Client", entries: ["."], link: "/api/informer/Client", isFunction: false }],
  Event: [
    { name: "Event", entries: ["./a"], link: "/api/a#event", isFunction: false },
    { name: "Event", entries: ["./b"], link: "/api/b#event", isFunction: false },
  ],
  logs: [{ name: "logs", entries: ["./logs"], link: "/api/logs/logs", isFunction: true }],
  Pod: [{ name: "Pod", entries: ["./kinds/core/v1"], link: "/api/kinds/core/v1#pod", isFunction: false }],
};

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
function apply(tokens: Token[], page = "guides/a.md", repository = REPOSITORY, src = ""): void {
  let rule: Rule | undefined;
  const markdown: Markdown = { core: { ruler: { push: (_, added) => rule = added } }, render: () => "" };
  useRepositoryMarkdown(markdown, {
    root: ROOT,
    pages: "/site/docs",
    repository,
    program: "first();\n",
    places: PLACES,
  });
  rule!({ src, tokens, env: { path: `/site/docs/${page}` }, Token: FakeToken });
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

Deno.test("site: the first page has the name, the claim, the program and the commands of README", () => {
  const readme = "# Name\n\n**It works.** You get `it`,\nand more.\n\n```ts ignore\nfirst();\n```\n\n## Start\n\n" +
    "In a clone:\n\n```sh\na   # b\n```\n\nIn yours:\n\n```sh\nc\nd\n```\n\n## Fast\n";
  assertEquals(readIntroduction(readme), {
    name: "Name",
    claim: "It works",
    text: "You get it, and more.",
    program: "first();\n",
    starts: [{ where: "In a clone", commands: ["a"] }, { where: "In yours", commands: ["c", "d"] }],
  });
  assertThrows(() => readIntroduction("# Name\n\nIt works.\n"), Error, "Cannot read README.md");
  assertThrows(() => readIntroduction(readme.replace("In yours:", "")), Error, '"## Start" needs two blocks');
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

Deno.test("site: names in code lead to the reference, except in headings, in links, and on their own page", () => {
  const code = (): FakeToken => token("code_inline", "Client");
  const hrefs = (tokens: Token[], page?: string): (string | null)[] => {
    apply(tokens, page);
    return tokens.flatMap(({ children }) => children ?? []).filter(({ type }) => type === "link_open")
      .map((open) => open.attrGet("href"));
  };
  assertEquals(hrefs([token("inline", "", [code(), code()])]), ["/api/informer/Client", "/api/informer/Client"]);
  assertEquals(hrefs([token("heading_open", ""), token("inline", "", [code()])]), []);
  assertEquals(hrefs([token("inline", "", [code()])], "api/informer/Client.md"), []);
  const link = new FakeToken("link_open", "a", 1, { href: "/a" });
  assertEquals(hrefs([token("inline", "", [link, code(), token("link_close", "")])]), ["/a"]);
});

Deno.test("site: a name is found if it can be nothing else, and a kind or an ambiguous name if it is imported", () => {
  const find = finderOf(PLACES, "");
  const found = ["Client", "Client()", "logs()", "logs", "Event", "Pod", "Missing", "toString"].map((it) =>
    find(it)?.link
  );
  assertEquals(found.filter(Boolean), ["/api/informer/Client", "/api/logs/logs"]);
  const page = '```ts\nimport { type Event, x } from "@kube/informer/b";\n' +
    'import { Pod } from "@kube/informer/kinds/core/v1";\n```\n`logs()`';
  const importing = finderOf(PLACES, page);
  assertEquals([importing("Event")?.link, importing("Pod")?.link], ["/api/b#event", "/api/kinds/core/v1#pod"]);
  assertEquals([...mentionedIn(PLACES, page)].map(({ name }) => name).sort(), ["Event", "Pod", "logs"]);
});

Deno.test("site: signatures are the source without bodies, comments and programs' details, with links to types", () => {
  const file = Deno.makeTempFileSync({ suffix: ".ts" });
  const source = `/** A. */
export class A<T = "Pod"> extends B {
  override readonly name = "A";
  constructor(first: string, { a = 1 }: { readonly a?: number /* n */ } = {}) {}
  /** The size. */
  get size(): number { return 1; }
  static async find(name: string, ...others: (
    | string
    | Pod
  )[]): Promise<Pod | undefined> {}
}
export type Keys = {
  readonly [name: string]: unknown; // any
};
export const pods: Pod = {};
`;
  Deno.writeTextFileSync(file, source);
  const at = (start: string): Location => {
    const before = source.slice(0, source.indexOf(start)).split("\n");
    return { filename: `file://${file}`, line: before.length - 1, col: before.at(-1)!.length };
  };
  assertEquals(signatureAt(at("export class"), "A"), 'class A<T = "Pod"> extends B');
  assertEquals(signatureAt(at("constructor"), "A"), "new A(first: string, options?: { readonly a?: number })");
  assertEquals(
    signatureAt(at("static"), "A"),
    "static find(name: string, ...others: (string | Pod)[]): Promise<Pod | undefined>",
  );
  assertEquals(signatureAt(at("export type"), "Keys"), "type Keys = { readonly [name: string]: unknown }");
  assertEquals(signatureAt(at("readonly [name"), ""), "readonly [name: string]: unknown");
  assertEquals(signatureAt(at("pods"), "pods"), "const pods: Pod");
  assertEquals([typeAt(at("override")), typeAt(at("get size"))], ['"A"', "number"]);
  assertEquals(parametersAt(at("static")).map(({ name }) => name), ["name", "...others"]);
  assertThrows(() => typeAt({ ...at("get size"), col: 3 }), Error, "nothing begins there");
  Deno.removeSync(file);
  const linkOf = (name: string): string | undefined => name === "Pod" ? "/pod.html" : undefined;
  assertEquals(
    linked('Map<Pod, "Pod|b">', linkOf),
    'Map&#60;<a href="/pod.html">Pod</a>, &#34;Pod&#124;b&#34;&#62;',
  );
});

Deno.test("site: the search knows the prose of the reference, and finds an export by its whole name", () => {
  const page =
    "---\na: b\n---\n\n# followLogs()\n\nYields lines.\n\n```ts\ncode();\n```\n\n## Errors\n\n## stop()\n\nEnds.\n";
  const html = searchedReference(page);
  assertEquals(html.match(/<h\d>.*?<\/h\d>/g), [
    '<h1>followLogs() <a href="#followlogs">#</a></h1>',
    '<h2>stop() <a href="#stop">#</a></h2>',
  ]);
  assert(html.includes("exportedfollowLogs") && html.includes("Yields lines.") && !html.includes("code()"), html);
  assertEquals([wordsOf("followLogs()"), wordsOf("follow logs")], [["followLogs", "exportedfollowLogs"], [
    "follow",
    "logs",
  ]]);
  const boosts = [
    boostOf("/guides/a.html", "log"),
    boostOf("/api/a.html", "log"),
    boostOf("/api/a.html", "exportedlog"),
  ];
  assert(boosts[1] < boosts[0] && boosts[0] < boosts[2], String(boosts));
});

Deno.test("site: the first page has the commands for a clone until the package is published, listed pages, and README's figures", async () => {
  const introduction = readIntroduction(await Deno.readTextFile("README.md"));
  const commandsOf = (isPublished: boolean): unknown => home(introduction, isPublished).start;
  assertEquals(commandsOf(false), {
    where: "In a clone of this repository, with only Node on your machine",
    commands: ["npx -y deno@2.9.6 task demo"],
  });
  assertEquals(commandsOf(true), {
    where: "In your own project",
    commands: ["deno add jsr:@kube/informer", "npx jsr add @kube/informer"],
  });
  const entries = readIndex(await Deno.readTextFile("docs/README.md")).flatMap(({ entries }) => entries);
  const features = home(introduction, true).features as { link: string }[];
  assertEquals(features.filter(({ link }) => !entries.some(({ page }) => `/${page}` === `${link}.md`)), []);
  const readme = await Deno.readTextFile("README.md");
  const [, ours] = /^\| `@kube\/informer` on Node, keys +\|(.*)\|$/m.exec(readme)!;
  const [, theirs] = /^\| `@kubernetes\/client-node` [\d.]+ +\|(.*)\|$/m.exec(readme)!;
  const shown = (await Deno.readTextFile("tools/site/home.vue")).matchAll(/^ {2}\["(\S+) .*: (\S+)\\u00a0\w+"\],$/gm);
  assertEquals(
    [...shown].map(([, our, their]) => [our, their]),
    [0, 2, 3].map((at) => {
      return [ours, theirs].map((row) => row.split("|")[at].trim());
    }),
  );
});

Deno.test("site: a component of VitePress gets its mend, and the build ends when there is no place for it", () => {
  const { transform } = mendTheme();
  const id = "/a/theme-default/components/VPHome.vue";
  assertEquals(transform('<div class="VPHome">', id), '<div class="VPHome" role="main">');
  assertEquals(transform("<div>", "/a/theme-default/components/VPPage.vue"), undefined);
  assertThrows(() => transform("<div>", id), Error, 'Cannot mend VPHome.vue of VitePress: it has no class="VPHome"');
});
