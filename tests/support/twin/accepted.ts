import type { Accepted } from "./summary.ts";

/** The page that lists what differs and stays so. */
const PAGE = new URL("../../../docs/test_with_the_fake.md", import.meta.url);

/**
 * The accepted differences: of each row of the page's table, a piece of a signature, between backquotes, and the
 * reason.
 */
export function acceptedDifferences(page = Deno.readTextFileSync(PAGE)): readonly Accepted[] {
  const [, section = ""] = page.split("\n## Beside a real server\n");
  return [...section.matchAll(/^\| `(.+?)` +\| (.+?) +\|$/gm)].map(([, signature, reason]) => ({
    signature: signature.replaceAll("\\|", "|"),
    reason,
  }));
}
