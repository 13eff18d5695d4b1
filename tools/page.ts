/**
 * Bundles the page of `informer serve` into one module.
 *
 * @module
 */
import { join } from "node:path";
import { readFlags, toggle } from "./flags.ts";

const ROOT = join(import.meta.dirname!, "..");
const RESULT = join(ROOT, "src/cli/page_html.ts");

/** Returns the text of the module. */
async function bundle(): Promise<string> {
  const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["bundle", "--quiet", "--minify", "--platform", "browser", join(ROOT, "page/main.ts")],
  }).output();
  if (!success) throw new Error(`Cannot bundle page/main.ts: ${new TextDecoder().decode(stderr)}`);
  const script = new TextDecoder().decode(stdout).trim();
  if (/<\/script|<!--/i.test(script)) throw new Error("Cannot put page/main.ts into a page: it has a tag in a text");
  const style = (await Deno.readTextFile(join(ROOT, "page/style.css"))).trim().replace(/\s+/g, " ");
  const html = (await Deno.readTextFile(join(ROOT, "page/index.html")))
    .replace(/^\s+/gm, "")
    .replace(/<style>[^<]*<\/style>/, () => `<style>${style}</style>`)
    .replace(/(<script[^>]*>)[^<]*<\/script>/, (_, tag) => `${tag}${script}</script>`);
  const policy = [
    "default-src 'none'",
    `script-src ${await hashOf(script)}`,
    `style-src ${await hashOf(style)}`,
    "connect-src 'self'",
    "img-src data:",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
  ].join("; ");
  const escaped = html.replace(/[\\`]|\$\{/g, "\\$&");
  return `// deno-fmt-ignore-file
// Written by \`deno task page\` from the folder page; not edited by hand.

/** The page of \`informer serve\`. It is static: all that it shows comes from the relay that serves it. */
export const PAGE_HTML: string = \`${escaped}\`;

/** The value of \`content-security-policy\` for {@linkcode PAGE_HTML}. */
export const PAGE_POLICY: string = ${JSON.stringify(policy)};
`;
}

async function hashOf(text: string): Promise<string> {
  const bytes = new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text)));
  return `'sha256-${btoa(String.fromCharCode(...bytes))}'`;
}

if (import.meta.main) {
  const { check } = readFlags({
    task: "page",
    summary: "Bundles the page of informer serve, from the folder page, into src/cli/page_html.ts.",
    flags: { check: toggle("writes nothing; fails when the file differs") },
  });
  const text = await bundle();
  if (!check) await Deno.writeTextFile(RESULT, text);
  else if (await Deno.readTextFile(RESULT) !== text) {
    console.error("src/cli/page_html.ts differs from the folder page: run deno task page");
    Deno.exit(1);
  }
}
