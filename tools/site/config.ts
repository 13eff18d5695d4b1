/**
 * The configuration of VitePress, which makes the site of the pages in `docs`.
 *
 * {@linkcode configOf} makes it. `tools/site.ts` runs VitePress with it, and passes {@linkcode Settings} in
 * `INFORMER_SITE`. It imports nothing of VitePress, so that the repository's checks need no packages of the site.
 *
 * @module
 */
import { readFileSync } from "node:fs";
import { join } from "node:path/posix";
import process from "node:process";
import type { Addresses } from "../addresses.ts";
import { ICON } from "./icon.ts";
import { type Entry, type Introduction, readIndex, readIntroduction } from "./index.ts";
import { anchorOf, type Markdown, useRepositoryMarkdown } from "./markdown.ts";
import { mendTheme } from "./theme.ts";

/** The settings that `tools/site.ts` passes. */
export interface Settings {
  /** The folder of the repository. */
  readonly root: string;
  /** The folder of the packages and of everything that is generated. */
  readonly folder: string;
  readonly version: string;
  readonly addresses: Addresses;
}

/** As much of the data of a page as is read and changed. */
interface PageData {
  readonly filePath: string;
  description: string;
  frontmatter: Record<string, unknown>;
}

/** As much of Vite's server as is used. */
interface DevServer {
  readonly middlewares: { use(handle: (request: { url?: string }, response: unknown, next: () => void) => void): void };
}

/**
 * Shows the one of two pictures that fits the switch of the site, and has room for code of about 110 columns. Its
 * colors have a contrast of 4.5 to 1. The theme's own colors miss it on buttons and on the language of code. Labels of
 * diagrams have the height that Mermaid has measured.
 */
const STYLE = `html:not(.dark) .dark-only, .dark .light-only { display: none }
:root { --vp-layout-max-width: 1640px; --vp-code-font-size: 13px; --vp-code-lang-color: var(--vp-c-text-2) }
.dark { --vp-code-lang-color: var(--vp-c-text-2) }
html:not(.dark) { --vp-button-brand-bg: var(--vp-c-brand-2); --vp-button-brand-hover-bg: var(--vp-c-brand-1) }
.vp-doc .diagram { overflow-x: auto }
.vp-doc .diagram p { line-height: 24px; margin: 0 }
.DocSearch-Button-Key[data-key]::before { content: attr(data-key) }
@media (min-width: 1440px) { .VPDoc.has-aside .content-container.content-container { max-width: 900px } }`;

const REFERENCE = { text: "API reference", link: "/api/index.html", target: "_self" };

/** The path of the site on its host, `/` without an address. */
export function baseOf({ site }: Addresses): string {
  return site === "" ? "/" : `${new URL(site).pathname.replace(/\/$/, "")}/`;
}

/** The link to a page, from the root of the site. */
function linkTo({ page }: Entry): string {
  return `/${page.replace(/\.md$/, "")}`;
}

/** What the first page shows above the index. */
function home({ name, claim, text }: Introduction, entries: readonly Entry[]): Record<string, unknown> {
  const actions = entries.slice(0, 2).map((entry, i) => {
    return { theme: i === 0 ? "brand" : "alt", text: entry.title, link: linkTo(entry) };
  });
  return {
    layout: "home",
    hero: { name, text: claim, tagline: text, actions: [...actions, { theme: "alt", ...REFERENCE }] },
  };
}

/**
 * Returns the HTML of a page for the search. The words of its line in the index and of its path find the page, too; its
 * links to further pages do not. The index has no words of its own.
 */
export function searched(html: string, entry: Entry | undefined): string {
  if (entry === undefined) return "";
  const words = [entry.title, entry.page.replace(/\.md$/, "").replaceAll(/[/-]/g, " "), entry.description];
  const escaped = words.join(". ").replaceAll("&", "&amp;").replaceAll("<", "&lt;");
  return html.replace(/<h2 id="next"[^]*?(?=<h2 |$)/, "").replace("</h1>", `</h1><p>${escaped}</p>`);
}

/**
 * Returns the form of a word that the search compares: `sharding`, `sharded` and `shards` find each other. VitePress
 * copies its text into the pages, so it uses nothing outside itself.
 */
export function stemOf(word: string): string {
  return word.toLowerCase().replace(/^(.{2,})ies$/, "$1y").replace(/^(.{3,}?)(?:ing|ed|s)$/, "$1");
}

/** Makes the configuration. */
export function configOf(
  { root, folder, version, addresses: { repository, site } }: Settings,
): Record<string, unknown> {
  const sections = readIndex(readFileSync(join(root, "docs/README.md"), "utf8"));
  const introduction = readIntroduction(readFileSync(join(root, "README.md"), "utf8"));
  const { name, claim, program } = introduction;
  const entries = sections.flatMap(({ entries }) => entries);
  const start = sections.find(({ title }) => title === "Start")?.entries ?? entries;
  const byPage = new Map(entries.map((entry) => [entry.page, entry]));
  const places = { root, pages: join(folder, "docs"), repository, program };
  return {
    title: name,
    description: claim,
    lang: "en",
    base: baseOf({ repository, site }),
    srcDir: "docs",
    rewrites: { "README.md": "index.md" },
    head: [["link", { rel: "icon", href: ICON }], ["style", {}, STYLE]],
    ...(site === "" ? {} : { sitemap: { hostname: `${site}/` } }),
    transformPageData(page: PageData): void {
      page.description = byPage.get(page.filePath)?.description || claim;
      if (page.filePath === "README.md") Object.assign(page.frontmatter, home(introduction, start));
    },
    markdown: {
      theme: { light: "github-light-high-contrast", dark: "github-dark-default" }, // their comments have enough contrast
      anchor: { slugify: anchorOf },
      config: (markdown: Markdown) => useRepositoryMarkdown(markdown, places),
    },
    themeConfig: {
      siteTitle: `${name} ${version}`,
      search: {
        provider: "local",
        options: {
          detailedView: true,
          miniSearch: { options: { processTerm: stemOf } },
          _render(text: string, env: { readonly relativePath: string }, markdown: Markdown): string {
            return searched(markdown.render(text, { ...env }), byPage.get(env.relativePath));
          },
        },
      },
      outline: [2, 3],
      nav: [{ text: "Guides", link: linkTo(entries[0]), activeMatch: "^/(?!api/).+" }, REFERENCE],
      sidebar: sections.map(({ title, entries }) => ({
        text: title,
        items: entries.map((entry) => ({ text: entry.title, link: linkTo(entry) })),
      })),
      ...(repository === "" ? {} : {
        socialLinks: [{ icon: iconOf(repository), link: repository, ariaLabel: "The repository" }],
        editLink: { pattern: `${repository}/edit/main/docs/:path`, text: "Edit this page" },
      }),
    },
    vite: {
      publicDir: join(folder, "public"),
      resolve: { preserveSymlinks: true }, // the folder of the pages is a link, next to the packages
      plugins: [mendTheme(), { name: "folders-of-the-reference", configureServer: serveFolders }],
    },
  };
}

/** Lets the server show `index.html` of a folder of the reference, as other servers do. */
function serveFolders({ middlewares }: DevServer): void {
  middlewares.use((request, _, next) => {
    request.url = request.url?.replace(/^([^?#]*\/api\/(?:[^?#]*\/)?)(?=[?#]|$)/, "$1index.html");
    next();
  });
}

/** The name of an icon that VitePress has. */
function iconOf(repository: string): string {
  return /github|gitlab/.exec(new URL(repository).host)?.[0] ?? "git";
}

const settings = process.env.INFORMER_SITE;

/** The configuration; empty in a process that is not VitePress, such as a test. */
const config: Record<string, unknown> = settings === undefined ? {} : configOf(JSON.parse(settings));
export default config;
