/**
 * The first screen of the site: what it is, how to begin, three reasons with figures, and where to read on.
 *
 * {@linkcode home} is the entry point. Its texts and figures are in README, which `index.ts` reads; `home.vue` shows
 * the parts that VitePress's own first page has no place for.
 *
 * @module
 */
import type { Entry, Introduction } from "./index.ts";

/** A reason, the column in the benchmark of README that has its figure, and the unit. */
const REASONS: readonly (readonly [title: string, column: string, unit: string, what: string])[] = [
  ["In sync sooner", "first sync, ms", "ms", "until 10,000 pods are in the cache"],
  ["Never in your way", "longest stall, ms", "ms", "at most until your program runs again, in 50,000 events"],
  ["Fits in small pods", "peak memory, MB", "MB", "of memory at the peak"],
];

/** What readers write, the page that shows it, and a few words. */
const CHOICES: readonly (readonly [title: string, page: string, details: string])[] = [
  ["A script", "start/first-program.md", "Follow, wait, report"],
  ["A service", "jobs/service-in-kubernetes.md", "Runs in the cluster"],
  ["An operator", "controllers/tutorial.md", "For your own kind"],
  ["A web page", "relay/browser.md", "Live in the browser"],
  ["Tests", "testing/fake-server.md", "Without a cluster"],
];

/** What VitePress and `home.vue` show above the index. The commands depend on whether the package is published. */
export function home(
  { name, claim, text, starts, figures }: Introduction,
  entries: readonly Entry[],
  isPublished: boolean,
): Record<string, unknown> {
  const start = isPublished ? starts[1] : starts[0];
  return {
    layout: "home",
    hero: { name, text: claim, tagline: text },
    start: { where: start.where, commands: start.commands.slice(0, isPublished ? 2 : 1) },
    reasons: REASONS.map(([title, column, unit, what]) => {
      const [ours, theirs] = figures[column] ?? [];
      if (theirs === undefined) {
        throw new Error(`Cannot show README's figures: no column "${column}". Correct REASONS.`);
      }
      return { title, figure: `${ours} ${unit}`, what: `${what}. client-node: ${theirs}\u00a0${unit}` };
    }),
    features: CHOICES.map(([title, page, details]) => {
      if (!entries.some((entry) => entry.page === page)) {
        throw new Error(`Cannot show "${title}" on the first page: docs/README.md does not list ${page}.`);
      }
      return { title, details, link: `/${page.replace(/\.md$/, "")}` };
    }),
  };
}
