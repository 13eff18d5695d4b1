/**
 * The first screen of the site: what it is, how to begin, and where to read on.
 *
 * {@linkcode home} is the entry point. Its texts are in README, which `index.ts` reads; `home.vue` shows the parts that
 * VitePress's own first page has no place for, and has the three reasons with figures of README.
 *
 * @module
 */
import type { Introduction } from "./index.ts";

/** What readers write, the page that shows it, and a few words. */
const CHOICES: readonly (readonly [title: string, link: string, details: string])[] = [
  ["A script", "/start/first-program", "Follow, wait, report"],
  ["A service", "/jobs/service-in-kubernetes", "Runs in the cluster"],
  ["An operator", "/controllers/tutorial", "For your own kind"],
  ["A web page", "/relay/browser", "Live in the browser"],
  ["Tests", "/testing/fake-server", "Without a cluster"],
];

/** What VitePress and `home.vue` show above the index. The commands depend on whether the package is published. */
export function home({ name, claim, text, starts }: Introduction, isPublished: boolean): Record<string, unknown> {
  const { where, commands } = isPublished ? starts[1] : starts[0];
  return {
    layout: "home",
    hero: { name, text: claim, tagline: text },
    start: { where, commands: commands.slice(0, isPublished ? 2 : 1) },
    features: CHOICES.map(([title, link, details]) => ({ title, link, details })),
  };
}
