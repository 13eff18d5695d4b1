/**
 * The reference of all entry points, as `deno doc --html` writes it, made a part of the site.
 *
 * {@linkcode writeReference} is the entry point. Each page gets a language, a heading, names for its parts, links to
 * the pages for users, and the site's choice of light and dark.
 *
 * @module
 */
import { dirname, join, relative } from "node:path/posix";
import { ICON } from "./icon.ts";

/** Chooses light or dark as the pages of VitePress do, under the same name in the storage of the browser. */
const THEME = `const KEY = "vitepress-theme-appearance";
const root = document.documentElement;
const chosen = localStorage.getItem(KEY);
const dark = chosen === "dark" || chosen !== "light" && matchMedia("(prefers-color-scheme: dark)").matches;
root.classList.toggle("dark", dark);
addEventListener("DOMContentLoaded", () => {
  const toggle = document.getElementById("theme-toggle");
  const show = () => {
    const isDark = root.classList.contains("dark");
    toggle.children[0].classList.toggle("hidden", isDark);
    toggle.children[1].classList.toggle("hidden", !isDark);
  };
  toggle.removeAttribute("style");
  toggle.addEventListener("click", () => {
    localStorage.setItem(KEY, root.classList.toggle("dark") ? "dark" : "light");
    show();
  });
  show();
});
`;

/** The link to the pages for users, a page's heading for screen readers, and colors with a contrast of 4.5 to 1. */
const STYLE = `
.ddoc .guides { margin-right: 1.5rem }
.ddoc .for-readers { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%) }
html:not(.dark) .ddoc a code { color: #1d4ed8 }
html:not(.dark) .ddoc .documentNavigation ul ul { color: #57534e }
html:not(.dark) .ddoc .token:is(.comment, .punctuation) { color: #59636e }
html:not(.dark) .ddoc .token:is(.string, .builtin, .attr-name) { color: #446600 }
html:not(.dark) .ddoc .token:is(.operator, .entity, .url) { color: #7a5220 }
html:not(.dark) .ddoc .token:is(.keyword, .atrule) { color: #00628a }
html:not(.dark) .ddoc .token:is(.class-name, .function) { color: #b3213f }
html:not(.dark) .ddoc .token:is(.regex, .important, .variable) { color: #8a5200 }
`;

/** The picture of a link to a heading, three kilobytes of most headings. */
const ANCHOR = /<svg\b[^>]*>\s*<g clip-path="url\(#clip0_1081_1237\)">[^]*?<\/svg>/g;

/**
 * Returns a page of the reference for the site.
 *
 * @param html The page as `deno doc` writes it.
 * @param path Its path relative to the folder of the reference.
 * @param name The name of the package.
 */
export function finished(html: string, path: string, name: string): string {
  const home = "../".repeat(path.split("/").length);
  const entry = /<meta name="doc-current-file" content="([^"]*)">/.exec(html)?.[1] ?? "";
  const shown = entry === "" || entry === "." ? name : `${name}/${entry}`;
  const places = new Set(Array.from(html.matchAll(/ id="(type_param_[^"]*)"/g), ([, id]) => id));
  return html
    .replace("<html>", '<html lang="en">')
    .replace("</title>", `</title>\n  <link rel="icon" href="${ICON}">`)
    .replaceAll(ANCHOR, "#")
    // The names that a mapped or conditional type binds have no place of their own.
    .replaceAll(/<a href="#(type_param_[^"]*)"[^>]*>([^]*?)<\/a>/g, (link, id, text) => places.has(id) ? link : text)
    // Comments link to the pages from their own place in the repository.
    .replaceAll(/(<a href=")(?:\.{1,2}\/)+docs\/([\w./-]+)\.md(?=[#"])/g, (_, before, page) => {
      return `${before}${home}${page.replace(/(^|\/)README$/, "$1index")}.html`;
    })
    // `deno doc` shows imports from the key in `exports`.
    .replaceAll(`from &quot;${entry || "."}&quot;`, `from &quot;${shown}&quot;`)
    .replace('<ul class="breadcrumbs">', `<a href="${home}" class="guides">Guides</a>\n  <ul class="breadcrumbs">`)
    .replace(/<main\b[^>]*>/, `$&<h1 class="for-readers">${/<title>([^<]*)/.exec(html)?.[1]}</h1>`)
    .replace('<nav class="topSymbols"', '$& aria-label="Symbols"')
    .replace('<nav class="documentNavigation"', '$& aria-label="On this page"')
    .replaceAll('<button class="copyButton"', '$& aria-label="Copy"')
    .replaceAll('<code class="language-', '<code tabindex="0" class="language-') // scrolls by keys
    .replace('id="searchbar"', 'id="searchbar" aria-label="Search names"');
}

/** Writes the reference of entry points to a folder, which is replaced. Returns how many pages it has. */
export async function writeReference(root: string, folder: string): Promise<number> {
  const { name, exports } = JSON.parse(await Deno.readTextFile(join(root, "deno.json")));
  await Deno.remove(folder, { recursive: true }).catch((error) => {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  });
  await Deno.mkdir(dirname(folder), { recursive: true });
  const { success, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["doc", "--quiet", "--html", `--name=${name}`, `--output=${folder}`, ...Object.values<string>(exports)],
    cwd: root,
  }).output();
  if (!success) throw new Error(`Cannot write the reference: ${new TextDecoder().decode(stderr)}`);
  let pages = 0;
  for await (const path of pagesBelow(folder)) {
    await Deno.writeTextFile(path, finished(await Deno.readTextFile(path), relative(folder, path), name));
    pages++;
  }
  await Deno.writeTextFile(join(folder, "page.css"), STYLE, { append: true });
  await Deno.writeTextFile(join(folder, "darkmode_toggle.js"), THEME);
  return pages;
}

async function* pagesBelow(
  folder: string,
): AsyncGenerator<string, void, undefined> {
  for await (const { name, isDirectory } of Deno.readDir(folder)) {
    const path = join(folder, name);
    if (isDirectory) yield* pagesBelow(path);
    else if (name.endsWith(".html")) yield path;
  }
}
