/**
 * The configuration of VitePress, which makes the site of the pages in `docs`.
 *
 * `tools/site.ts` runs VitePress with it, and passes {@linkcode Settings} in the variable `INFORMER_SITE`. It imports
 * nothing of VitePress, so that the repository's checks need no packages of the site.
 *
 * @module
 */
import { readFileSync } from "node:fs";
import { join } from "node:path/posix";
import process from "node:process";
import type { Addresses } from "../addresses.ts";
import { ICON } from "./icon.ts";
import { type Entry, type Index, readIndex } from "./index.ts";
import { anchorOf, type Markdown, useRepositoryMarkdown } from "./markdown.ts";

/** The settings that `tools/site.ts` passes. */
export interface Settings {
  /** The folder of the repository. */
  readonly root: string;
  /** The folder of the packages and of everything that is generated. */
  readonly folder: string;
  readonly addresses: Addresses;
}

/** As much of the data of a page as is read and changed. */
export interface PageData {
  readonly filePath: string;
  description: string;
  frontmatter: Record<string, unknown>;
}

/** As much of Vite's server as is used. */
interface DevServer {
  readonly middlewares: {
    use(
      handle: (
        request: { url?: string },
        response: unknown,
        next: () => void,
      ) => void,
    ): void;
  };
}

/** Shows the one of two pictures that fits the switch of the site. Has room for lines of code of about 110 columns. */
const STYLE = `html:not(.dark) .dark-only, .dark .light-only { display: none }
:root { --vp-layout-max-width: 1640px; --vp-code-font-size: 13px }
@media (min-width: 1440px) { .VPDoc.has-aside .content-container.content-container { max-width: 900px } }`;

/** The path of the site on its host, `/` without an address. */
export function baseOf({ site }: Addresses): string {
  return site === "" ? "/" : `${new URL(site).pathname.replace(/\/$/, "")}/`;
}

/** The link to a page, from the root of the site. */
function linkTo(page: string): string {
  return `/${page.replace(/\.md$/, "")}`;
}

/** The first page of the site: the index, below an introduction and links to its first two pages. */
function home(
  { title, introduction, sections }: Index,
): Record<string, unknown> {
  const [first, second] = sections.flatMap(({ entries }) => entries);
  const actions = [first, second].filter((entry) => entry !== undefined).map((
    { title, page },
    index,
  ) => ({
    theme: index === 0 ? "brand" : "alt",
    text: title,
    link: linkTo(page),
  }));
  const reference = {
    theme: "alt",
    text: "API reference",
    link: "/api/index.html",
    target: "_self",
  };
  return {
    layout: "home",
    hero: {
      name: title,
      tagline: introduction,
      actions: [...actions, reference],
    },
  };
}

/**
 * Returns the HTML of a page for the search. The words of its line in the index and of its path find the page, too; its
 * links to further pages do not. The index itself has no words of its own.
 */
export function searched(html: string, entry: Entry | undefined): string {
  if (entry === undefined) return "";
  const { page, title, description } = entry;
  const words = `<p>${
    [title, page.replace(/\.md$/, "").replaceAll(/[/-]/g, " "), description]
      .map(escaped).join(". ")
  }</p>`;
  return html.replace(/<h2 id="next"[^]*?(?=<h2 |$)/, "").replace(
    "</h1>",
    `</h1>${words}`,
  );
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
}

/** Makes the configuration. */
export function configOf(
  { root, folder, addresses }: Settings,
): Record<string, unknown> {
  const index = readIndex(readFileSync(join(root, "docs/README.md"), "utf8"));
  const pages = join(folder, "docs");
  const base = baseOf(addresses);
  const entries = new Map(
    index.sections.flatMap(({ entries }) =>
      entries.map((entry) => [entry.page, entry])
    ),
  );
  const first = index.sections[0]?.entries[0];
  const { repository, site } = addresses;
  return {
    title: index.title,
    description: index.introduction,
    lang: "en",
    base,
    srcDir: "docs",
    rewrites: { "README.md": "index.md" },
    head: [["link", { rel: "icon", href: ICON }], ["style", {}, STYLE]],
    ...(site === "" ? {} : { sitemap: { hostname: `${site}/` } }),
    transformPageData(page: PageData): void {
      page.description = entries.get(page.filePath)?.description ??
        index.introduction;
      if (page.filePath === "README.md") {
        page.frontmatter = { ...page.frontmatter, ...home(index) };
      }
    },
    markdown: {
      anchor: { slugify: anchorOf },
      config: (markdown: Markdown) =>
        useRepositoryMarkdown(markdown, { root, pages, repository }),
    },
    themeConfig: {
      search: {
        provider: "local",
        options: {
          detailedView: true,
          _render(
            text: string,
            env: { readonly relativePath: string },
            markdown: Markdown,
          ): string {
            return searched(
              markdown.render(text, { ...env }),
              entries.get(env.relativePath),
            );
          },
        },
      },
      outline: [2, 3],
      nav: [
        ...(first === undefined ? [] : [{
          text: "Guides",
          link: linkTo(first.page),
          activeMatch: "^/(?!api/).+",
        }]),
        { text: "API reference", link: "/api/index.html", target: "_self" },
      ],
      sidebar: index.sections.map(({ title, entries }) => ({
        text: title,
        collapsed: false,
        items: entries.map(({ title, page }) => ({
          text: title,
          link: linkTo(page),
        })),
      })),
      ...(repository === "" ? {} : {
        socialLinks: [{
          icon: iconOf(repository),
          link: repository,
          ariaLabel: "The repository",
        }],
        editLink: {
          pattern: `${repository}/edit/main/docs/:path`,
          text: "Edit this page",
        },
      }),
    },
    vite: {
      publicDir: join(folder, "public"),
      resolve: { preserveSymlinks: true }, // the folder of the pages is a link, beside the packages
      plugins: [{
        name: "reference",
        configureServer({ middlewares }: DevServer): void {
          middlewares.use((request, _, next) => {
            const path = request.url?.replace(/[?#].*$/, "") ?? "";
            if (path.startsWith(`${base}api/`) && path.endsWith("/")) {
              request.url = request.url!.replace(path, `${path}index.html`);
            }
            next();
          });
        },
      }],
    },
  };
}

function iconOf(repository: string): string {
  const [, name] = /(github|gitlab)/.exec(new URL(repository).host) ?? [];
  return name ?? "git";
}

const settings = process.env.INFORMER_SITE;

/** The configuration; empty in a process that is not VitePress, such as a test. */
const config: Record<string, unknown> = settings === undefined
  ? {}
  : configOf(JSON.parse(settings));
export default config;
