/**
 * The Markdown of the pages for users on the site: links to files of the repository, pictures for light and dark,
 * diagrams, links from names in code to the reference, and anchors as the repository's own page has them.
 *
 * {@linkcode useRepositoryMarkdown} is the entry point, a plugin of markdown-it. Links from page to page are left to
 * VitePress, which reports dead links.
 *
 * @module
 */
import { existsSync, statSync } from "node:fs";
import { dirname, join, normalize } from "node:path/posix";
import { finderOf, type Place, type Places } from "./names.ts";

/** As much of a token of markdown-it as is read and changed. */
export interface Token {
  type: string;
  content: string;
  info: string;
  readonly children: Token[] | null;
  attrGet(name: string): string | null;
  attrSet(name: string, value: string): void;
}

/** As much of the state of markdown-it as is used. */
interface State {
  readonly src: string;
  readonly tokens: Token[];
  readonly env: { readonly path?: string };
  readonly Token: new (type: string, tag: string, nesting: number) => Token;
}

/** As much of markdown-it as is used. */
export interface Markdown {
  readonly core: { readonly ruler: { push(name: string, rule: (state: State) => void): void } };
  render(text: string, env: Record<string, unknown>): string;
}

/** The places of the repository and of exported names, and the program of the first page. */
export interface Repository {
  /** The folder of the repository. */
  readonly root: string;
  /** The folder of the pages as VitePress knows it. */
  readonly pages: string;
  /** The address of the repository; empty while there is none. */
  readonly repository: string;
  /** The program above the index. */
  readonly program: string;
  readonly places: Places;
}

/** The anchor of a heading, as the repository's page makes it. */
export function anchorOf(heading: string): string {
  return heading.trim().toLowerCase().replaceAll(/[^\p{L}\p{N}\p{M}_\- ]/gu, "").replaceAll(" ", "-");
}

/**
 * The target of a link on a page of `docs`, for the site. Returns `undefined` for a file of the repository while there
 * is no address of the repository: the site shows the text without a link.
 *
 * @throws {Error} when the link leads to a file that is not there.
 */
export function targetOf(
  link: string,
  page: string,
  { root, repository }: Pick<Repository, "root" | "repository">,
): string | undefined {
  if (/^(?:[a-z][a-z\d+.-]*:|\/|#)/i.test(link)) return link;
  const [, path, anchor = ""] = /^([^#]*)(#.*)?$/.exec(link)!;
  const target = normalize(join("docs", dirname(page), decodeURI(path))).replace(/\/$/, "");
  if (target.startsWith("docs/")) return link.replace(/(^|\/)README\.md(?=#|$)/, "$1index.md");
  if (!existsSync(join(root, target))) {
    throw new Error(`Cannot show docs/${page}: its link "${link}" leads to ${target}, which is not there. Correct it.`);
  }
  if (repository === "") return undefined;
  const kind = statSync(join(root, target)).isDirectory() ? "tree" : "blob";
  return `${repository}/${kind}/main/${encodeURI(target)}${anchor}`;
}

/**
 * Returns HTML with two images in place of each `<picture>` that has one for dark screens. A picture follows the
 * browser, these follow the switch of the site.
 */
export function withBothPictures(html: string): string {
  return html.replaceAll(/<picture>([^]*?)<\/picture>/g, (picture, inner) => {
    const source = /<source\b[^>]*prefers-color-scheme:\s*dark[^>]*>/.exec(inner)?.[0] ?? "";
    const dark = /\ssrcset="([^"]+)"/.exec(source)?.[1];
    const image = /<img\b[^>]*>/.exec(inner)?.[0];
    if (dark === undefined || image === undefined) return picture;
    const only = (scheme: string, html: string): string =>
      html.replace("<img", `<img class="${scheme}-only" loading="lazy"`);
    return only("light", image) + only("dark", image.replace(/(\ssrc=")[^"]*/, (_, before) => before + dark));
  });
}

/** Adds the rules to markdown-it. The first page has a program in place of the title of the index. */
export function useRepositoryMarkdown(markdown: Markdown, repository: Repository): void {
  markdown.core.ruler.push("repository", ({ src, tokens, env: { path = "" }, Token }) => {
    const page = path.slice(repository.pages.length + 1);
    const find = finderOf(repository.places, src);
    for (const [at, token] of tokens.entries()) {
      if (token.type === "fence" && token.info === "mermaid") {
        const text = encodeURIComponent(token.content); // nothing in it is HTML, or code of Vue
        Object.assign(token, { type: "html_block", content: `<Diagram name="diagram-${at}" text="${text}" />\n` });
      } else if (token.type === "html_block") token.content = withBothPictures(token.content);
      if (token.type === "inline" && token.content.startsWith("<picture>")) {
        const content = withBothPictures(token.content);
        token.children!.splice(0, Infinity, Object.assign(new Token("html_inline", "", 0), { content }));
      }
      changeLinks(token.children ?? [], page, repository);
      const isHeading = tokens[at - 1]?.type === "heading_open";
      if (token.children && !isHeading) linkNames(token.children, `/${page.replace(/\.md$/, "")}`, find, Token);
    }
    if (page !== "index.md") return;
    const program = Object.assign(new Token("fence", "code", 0), { info: "ts", content: repository.program });
    tokens.splice(0, 3, program); // the opening, the text and the end of the title
  });
}

/** Links code that is an exported name to its place in the reference, unless it is within a link or on that page. */
function linkNames(
  tokens: Token[],
  page: string,
  find: (code: string) => Place | undefined,
  Token: State["Token"],
): void {
  let isWithin = false;
  for (let at = 0; at < tokens.length; at++) {
    const { type, content } = tokens[at];
    if (type === "link_open" || type === "link_close") isWithin = type === "link_open";
    const link = type === "code_inline" && !isWithin ? find(content)?.link : undefined;
    if (link === undefined || link === page) continue;
    const open = new Token("link_open", "a", 1);
    open.attrSet("href", link);
    tokens.splice(at, 1, open, tokens[at], new Token("link_close", "a", -1));
    at += 2;
  }
}

function changeLinks(tokens: readonly Token[], page: string, repository: Repository): void {
  let isDropped = false;
  for (const token of tokens) {
    if (token.type === "html_inline" && token.content === "<picture>") {
      throw new Error(`Cannot show docs/${page}: a <picture> is within a paragraph. Put an empty line before it.`);
    }
    if (token.type === "link_open") {
      const target = targetOf(token.attrGet("href") ?? "", page, repository);
      isDropped = target === undefined;
      if (target === undefined) Object.assign(token, { type: "text", content: "" });
      else token.attrSet("href", target);
    } else if (token.type === "link_close" && isDropped) {
      isDropped = false;
      Object.assign(token, { type: "text", content: "" });
    }
  }
}
