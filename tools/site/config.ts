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
import { home } from "./home.ts";
import { type Entry, type Introduction, readIndex, readIntroduction } from "./index.ts";
import { anchorOf, type Markdown, useRepositoryMarkdown } from "./markdown.ts";
import type { Reference } from "./reference.ts";
import { boostOf, isFuzzy, searched, searchedReference, stemOf, wordsOf } from "./search.ts";
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

/** The path of the site on its host, `/` without an address. */
export function baseOf({ site }: Addresses): string {
  return site === "" ? "/" : `${new URL(site).pathname.replace(/\/$/, "")}/`;
}

/** The link to a page, from the root of the site. */
function linkTo({ page }: Entry): string {
  return `/${page.replace(/\.md$/, "")}`;
}

/** Makes the configuration. */
export function configOf(
  { root, folder, version, addresses: { repository, site } }: Settings,
): Record<string, unknown> {
  const sections = readIndex(readFileSync(join(root, "docs/README.md"), "utf8"));
  const introduction = readIntroduction(readFileSync(join(root, "README.md"), "utf8"));
  const { name, claim, program } = introduction;
  const entries = sections.flatMap(({ entries }) => entries);
  const byPage = new Map(entries.map((entry) => [entry.page, entry]));
  const { places, sidebar }: Reference = JSON.parse(readFileSync(join(folder, "reference.json"), "utf8"));
  const pages = { root, pages: join(folder, "pages"), repository, program, places };
  const rendered = new Map<string, string>(); // VitePress asks twice for each page
  const base = baseOf({ repository, site });
  const icon = /^https?:\/\/[^/]*(github|gitlab)/.exec(repository)?.[1] ?? "git"; // icons that VitePress has
  return {
    title: name,
    description: claim,
    lang: "en",
    base,
    srcDir: "pages",
    buildConcurrency: 16, // the memory of the build grows with it
    rewrites: { "README.md": "index.md" },
    head: [["link", { rel: "icon", href: `${base}favicon.svg` }], ...previewOf(introduction, site)],
    ...(site === "" ? {} : { sitemap: { hostname: `${site}/` } }),
    transformPageData(page: PageData): void {
      page.description = byPage.get(page.filePath)?.description || claim;
      if (page.filePath === "README.md") Object.assign(page.frontmatter, home(introduction, repository !== ""));
    },
    markdown: {
      theme: { light: "github-light-high-contrast", dark: "github-dark-default" }, // their comments have enough contrast
      anchor: { slugify: anchorOf },
      config: (markdown: Markdown) => useRepositoryMarkdown(markdown, pages),
    },
    themeConfig: {
      siteTitle: `${name} ${version}`,
      search: {
        provider: "local",
        options: {
          detailedView: true,
          miniSearch: {
            options: { processTerm: stemOf },
            searchOptions: { tokenize: wordsOf, fuzzy: isFuzzy, prefix: isFuzzy, boostDocument: boostOf },
          },
          _render(text: string, env: { readonly relativePath: string }, markdown: Markdown): string {
            const { relativePath: path } = env;
            if (path.startsWith("api/")) return searchedReference(text);
            const found = rendered.get(text) ?? searched(markdown.render(text, { ...env }), byPage.get(path));
            rendered.set(text, found);
            return found;
          },
        },
      },
      outline: [2, 3],
      nav: [
        { text: "Guides", link: linkTo(entries[0]), activeMatch: "^/(?!api/).+" },
        { text: "API reference", link: "/api/", activeMatch: "^/api/" },
      ],
      sidebar: {
        "/api/": sidebar,
        "/": sections.map(({ title, entries }) => ({
          text: title,
          items: entries.map((entry) => ({ text: entry.title, link: linkTo(entry) })),
        })),
      },
      ...(repository === "" ? {} : {
        socialLinks: [{ icon, link: repository, ariaLabel: "The repository" }],
        editLink: { pattern: `${repository}/edit/main/docs/:path`, text: "Edit this page" },
      }),
    },
    vite: {
      publicDir: join(folder, "static"),
      resolve: { preserveSymlinks: true }, // the folders of the pages are links, next to the packages
      plugins: [mendTheme()],
    },
  };
}

/** What other sites show for a link to this one. It needs the whole address of a picture. */
function previewOf({ name, claim }: Introduction, site: string): unknown[] {
  if (site === "") return [];
  const values = { "og:title": name, "og:description": claim, "og:image": `${site}/page-light.webp` };
  const card = ["meta", { name: "twitter:card", content: "summary_large_image" }];
  return [...Object.entries(values).map(([property, content]) => ["meta", { property, content }]), card];
}

const settings = process.env.INFORMER_SITE;

/** The configuration; empty in a process that is not VitePress, such as a test. */
const config: Record<string, unknown> = settings === undefined ? {} : configOf(JSON.parse(settings));
export default config;
