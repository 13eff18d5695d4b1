/**
 * The Markdown of the pages for users on the site: links to files of the repository, pictures for light and dark, and
 * anchors as the repository's own page has them.
 *
 * {@linkcode useRepositoryMarkdown} is the entry point, a plugin of markdown-it. Links from page to page are left to
 * VitePress, which reports those that lead nowhere.
 *
 * @module
 */
import { existsSync, statSync } from "node:fs";
import { dirname, join, normalize } from "node:path/posix";

/** As much of a token of markdown-it as is read and changed. */
export interface Token {
  type: string;
  content: string;
  readonly children: Token[] | null;
  attrGet(name: string): string | null;
  attrSet(name: string, value: string): void;
}

/** As much of markdown-it as is used. */
export interface Markdown {
  render(text: string, env: Record<string, unknown>): string;
  readonly core: {
    readonly ruler: {
      push(
        name: string,
        rule: (
          state: { tokens: Token[]; readonly env: { readonly path?: string } },
        ) => void,
      ): void;
    };
  };
}

/** The places of the repository. */
export interface Places {
  /** The folder of the repository. */
  readonly root: string;
  /** The folder of the pages as VitePress knows it. */
  readonly pages: string;
  /** The address of the repository; empty while there is none. */
  readonly repository: string;
}

/** The anchor of a heading, as GitHub makes it. */
export function anchorOf(heading: string): string {
  return heading.trim().toLowerCase().replaceAll(/[^\p{L}\p{N}\p{M}_\- ]/gu, "")
    .replaceAll(" ", "-");
}

/**
 * The target of a link on a page of `docs`, for the site. Returns `undefined` for a file of the repository while there is
 * no address of the repository: the site shows the text without a link.
 *
 * @throws {Error} when the link leads to a file that is not there.
 */
export function targetOf(
  link: string,
  page: string,
  { root, repository }: Omit<Places, "pages">,
): string | undefined {
  if (/^(?:[a-z][a-z\d+.-]*:|\/|#)/i.test(link)) return link;
  const [, path, anchor] = /^([^#]*)(#.*)?$/.exec(link)!;
  const target = normalize(join("docs", dirname(page), decodeURI(path)));
  if (target.startsWith("docs/")) {
    return link.replace(/(^|\/)README\.md(?=#|$)/, "$1index.md");
  }
  if (!existsSync(join(root, target))) {
    throw new Error(
      `Cannot show docs/${page}: its link "${link}" leads to ${target}, which is not there. Correct it.`,
    );
  }
  if (repository === "") return undefined;
  const kind = statSync(join(root, target)).isDirectory() ? "tree" : "blob";
  return `${repository}/${kind}/main/${encodeURI(target.replace(/\/$/, ""))}${
    anchor ?? ""
  }`;
}

/**
 * Returns HTML with two images in place of each `<picture>` that has one for dark screens. A picture follows the browser,
 * these follow the switch of the site.
 */
export function withBothPictures(html: string): string {
  return html.replaceAll(/<picture>([^]*?)<\/picture>/g, (picture, inner) => {
    const source =
      /<source\b[^>]*prefers-color-scheme:\s*dark[^>]*>/.exec(inner)?.[0] ?? "";
    const dark = /\ssrcset="([^"]+)"/.exec(source)?.[1];
    const image = /<img\b[^>]*>/.exec(inner)?.[0];
    if (dark === undefined || image === undefined || !/\ssrc="/.test(image)) {
      return picture;
    }
    const shown = (scheme: string, html: string): string =>
      html.replace("<img", `<img class="${scheme}-only" loading="lazy"`);
    return shown("light", image) +
      shown(
        "dark",
        image.replace(/(\ssrc=")[^"]*/, (_, before) => before + dark),
      );
  });
}

/** Adds the rules to markdown-it. On the index, they hide its title and introduction, which the site shows above it. */
export function useRepositoryMarkdown(
  markdown: Markdown,
  places: Places,
): void {
  markdown.core.ruler.push("repository", ({ tokens, env: { path = "" } }) => {
    const page = path.slice(places.pages.length + 1);
    if (page === "README.md") {
      for (const token of tokens.splice(0, 6)) token.hidden = true;
    }
    for (const token of tokens) {
      if (token.type === "html_block") {
        token.content = withBothPictures(token.content);
      }
      changeLinks(token.children ?? [], page, places);
    }
  });
}

function changeLinks(tokens: Token[], page: string, places: Places): void {
  let isDropped = false;
  for (const token of tokens) {
    if (token.type === "link_open") {
      const target = targetOf(token.attrGet("href") ?? "", page, places);
      isDropped = target === undefined;
      if (target !== undefined) token.attrSet("href", target);
    }
    if (token.type === "html_inline" && token.content.startsWith("<picture")) {
      throw new Error(
        `Cannot show docs/${page}: a <picture> is within a paragraph. Put an empty line before it.`,
      );
    }
    if (
      !isDropped || (token.type !== "link_open" && token.type !== "link_close")
    ) continue;
    isDropped = token.type === "link_open";
    Object.assign(token, { type: "text", content: "" });
  }
}
