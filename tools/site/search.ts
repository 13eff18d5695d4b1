/**
 * What the search compares: the words of pages, and the weight of what it finds.
 *
 * The guides come first, unless the reader types the name of an export. VitePress copies the text of
 * {@linkcode stemOf}, {@linkcode wordsOf}, {@linkcode isFuzzy} and {@linkcode boostOf} into the pages, so these use
 * nothing outside themselves.
 *
 * @module
 */
import type { Entry } from "./index.ts";

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
 * Returns the HTML of a page of the reference for the search: its names and its sentences, without programs. The word
 * `exportedNAME` finds the page or the heading of an export.
 */
export function searchedReference(markdown: string): string {
  const prose = markdown.replace(/^---\n[^]*?^---\n/, "").replaceAll(/^ *```[^]*?^ *```$/gm, "")
    .replaceAll(/<pre[^]*?<\/pre>/g, "").replaceAll(/^## Used in\n[^]*/gm, "").replaceAll(
      /^\|(?: ---.*| name .*)$/gm,
      "",
    )
    .replaceAll(/\]\([^)]*\)/g, "] ").replaceAll(/<[^>]*>/g, " ");
  const isEntry = /^# @/m.test(prose);
  const anchors = new Set<string>();
  return prose.replaceAll(/^(#+) (.*)$/gm, (_, { length }, title) => {
    const anchor = title.toLowerCase().replaceAll(/[^\w-]/g, ""); // without one, VitePress cannot show an excerpt
    const isSection = length === 1 || (isEntry ? length === 3 : length === 2 && title.endsWith("()"));
    if (!isSection || anchors.has(anchor)) return "";
    anchors.add(anchor);
    const name = length === 2 ? undefined : /^(\w+)(?:\(\))?$/.exec(title)?.[1];
    return `<h${length}>${title} <a href="#${anchor}">#</a></h${length}> ${
      name === undefined ? "." : `exported${name}`
    }`;
  });
}

/** Returns the form of a word that the search compares: `sharding`, `sharded` and `shards` find each other. */
export function stemOf(word: string): string {
  return word.toLowerCase().replace(/^(.{2,})ies$/, "$1y").replace(/^(.{3,}?)(?:ing|ed|s)$/, "$1");
}

/** Returns the words that a reader types; for one word also the word that finds an export with this name. */
export function wordsOf(text: string): string[] {
  const words = text.split(/[\n\r\p{Z}\p{P}]+/u).filter((word) => word !== "");
  return words.length === 1 ? [...words, `exported${words[0]}`] : words;
}

/** Returns whether the search also finds words that begin with a word, or are like it. Names of exports are exact. */
export function isFuzzy(word: string): number | boolean {
  return word.startsWith("exported") ? false : 0.2;
}

/** Returns the weight of what a word finds on a page. */
export function boostOf(id: string, word: string): number {
  if (!id.includes("/api/")) return 1;
  if (!word.startsWith("exported")) return 0.1;
  return id.includes("/testing/") ? 10 : id.includes("/kinds/") ? 50 : 100; // builders have the names of kinds
}
