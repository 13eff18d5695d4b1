/**
 * Serves the documentation site on this machine, or writes it to a folder.
 *
 * {@linkcode buildSite} is the entry point for tests. The site has the pages of `docs`, with the navigation of
 * `docs/README.md`, and the reference of all entry points. VitePress makes it. npm installs it in `.site`, and all
 * generated files are there, too.
 *
 * @module
 */
import { basename, join, resolve } from "node:path";
import { type Addresses, addressProblem, readAddresses } from "./addresses.ts";
import { count, quit, readFlags, text, toggle } from "./flags.ts";
import { baseOf, type Settings } from "./site/config.ts";
import { readIndex } from "./site/index.ts";
import { writeReference } from "./site/reference.ts";

const ROOT = join(import.meta.dirname!, "..");
const FOLDER = join(ROOT, ".site");
const PACKAGES = join(ROOT, "tools/site/npm");
const PAGES = join(FOLDER, "pages");

/** The file that begins the configuration of VitePress, which looks for it next to its packages. */
const CONFIG = `export { default } from "../../tools/site/config.ts";\n`;

/** The file that adds to the theme the components that are copied next to it. */
const THEME = `import Theme from "vitepress/theme-without-fonts"; // the text would move when a font comes
import { h } from "vue";
import Diagram from "./diagram.vue";
import Home from "./home.vue";
import "./style.css";
const parts = { "home-hero-info-after": "start", "home-hero-image": "picture", "home-hero-after": "reasons" };
const slots = Object.fromEntries(Object.entries(parts).map(([slot, part]) => [slot, () => h(Home, { part })]));
export default {
  extends: Theme,
  Layout: () => h(Theme.Layout, null, slots),
  enhanceApp: ({ app }) => void app.component("Diagram", Diagram),
};
`;

/** What npm prints when it cannot reach its registry, or a proxy refuses. */
const NO_ROUTE =
  /\b(?:ENOTFOUND|ECONNREFUSED|ECONNRESET|ETIMEDOUT|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|E403|E407|E50[234])\b/;

/** The error without npm, or when npm has no route to its registry. A test is skipped then, and does not fail. */
export class RegistryError extends Error {
  override readonly name = "RegistryError";
}

/** What a process printed, and whether it succeeded. */
interface Result {
  readonly success: boolean;
  readonly output: string;
}

async function run(command: string, args: readonly string[], env: Record<string, string> = {}): Promise<Result> {
  const child = new Deno.Command(command, { args: [...args], cwd: FOLDER, env, stdin: "null" });
  const { success, stdout, stderr } = await child.output();
  return { success, output: new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr) };
}

async function readOrEmpty(path: string): Promise<string> {
  try {
    return await Deno.readTextFile(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return "";
    throw error;
  }
}

/** Installs VitePress and Mermaid, unless the version of the lock file is there. */
export async function install(log: (line: string) => void): Promise<void> {
  const lock = await Deno.readTextFile(join(PACKAGES, "package-lock.json"));
  const installed = join(FOLDER, "node_modules/.installed");
  if (await readOrEmpty(installed) === lock) return;
  log("Installing VitePress and Mermaid in .site by npm, once (about 260 MB)");
  await Deno.mkdir(FOLDER, { recursive: true });
  for (const name of ["package.json", "package-lock.json"]) {
    await Deno.copyFile(join(PACKAGES, name), join(FOLDER, name));
  }
  let result: Result;
  try {
    // By default, npm without a route tries for more than a minute.
    const patience = ["--fetch-retries=1", "--fetch-retry-mintimeout=1000"];
    result = await run("npm", ["ci", "--ignore-scripts", "--no-audit", "--no-fund", ...patience]);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
    throw new RegistryError("Cannot install VitePress: there is no npm on the PATH. Install Node 20 or newer.");
  }
  if (!result.success) {
    const Kind = NO_ROUTE.test(result.output) ? RegistryError : Error;
    throw new Kind(`Cannot install VitePress: npm ci failed.\n${result.output.trim()}`);
  }
  await Deno.writeTextFile(installed, lock);
}

/** Makes `.site` ready for VitePress: its packages, configuration and files, the reference, and links to the pages. */
async function prepare(addresses: Addresses, log: (line: string) => void): Promise<void> {
  await install(log);
  for (const folder of [".vitepress/theme", "static"]) await Deno.mkdir(join(FOLDER, folder), { recursive: true });
  await Deno.mkdir(PAGES, { recursive: true });
  for await (const { name, isDirectory } of Deno.readDir(join(ROOT, "docs"))) {
    try {
      if (isDirectory) await Deno.symlink(join(ROOT, "docs", name), join(PAGES, name), { type: "junction" });
      else await Deno.copyFile(join(ROOT, "docs", name), join(PAGES, name));
    } catch (error) {
      if (!(error instanceof Deno.errors.AlreadyExists)) throw error;
    }
  }
  log("Writing the reference by deno doc");
  const sections = readIndex(await Deno.readTextFile(join(ROOT, "docs/README.md")));
  const reference = await writeReference(ROOT, PAGES, baseOf(addresses), sections);
  await Deno.writeTextFile(join(FOLDER, "reference.json"), JSON.stringify(reference));
  await Deno.writeTextFile(join(FOLDER, ".vitepress/config.ts"), CONFIG);
  await Deno.writeTextFile(join(FOLDER, ".vitepress/theme/index.js"), THEME);
  for (const name of ["diagram.vue", "home.vue", "style.css"]) {
    await Deno.copyFile(join(ROOT, "tools/site", name), join(FOLDER, ".vitepress/theme", name));
  }
  const pictures = ["watch-light.svg", "watch-dark.svg", "page-light.webp"].map((name) => join("docs/pictures", name));
  for (const path of ["tools/site/favicon.svg", ...pictures]) {
    await Deno.copyFile(join(ROOT, path), join(FOLDER, "static", basename(path)));
  }
}

/** The arguments of Node and its variables, for a command of VitePress. */
function vitePress(addresses: Addresses, ...args: string[]): [args: string[], env: Record<string, string>] {
  const { version } = JSON.parse(Deno.readTextFileSync(join(ROOT, "deno.json")));
  const settings: Settings = { root: ROOT, folder: FOLDER, version, addresses };
  const program = join(FOLDER, "node_modules/vitepress/bin/vitepress.js");
  return [[program, args[0], FOLDER, ...args.slice(1)], { INFORMER_SITE: JSON.stringify(settings) }];
}

/**
 * Writes the site to a folder, which is replaced.
 *
 * @throws {RegistryError} when VitePress is not installed, and npm is missing or cannot reach its registry.
 * @throws {Error} when a link of a page leads nowhere, or anything else fails.
 */
export async function buildSite(out: string, addresses: Addresses, log: (line: string) => void): Promise<void> {
  await prepare(addresses, log);
  log("Building the pages by VitePress");
  const { success, output } = await run("node", ...vitePress(addresses, "build", "--outDir", out));
  if (!success) throw new Error(`Cannot build the site:\n${output.trim()}`);
}

/** Serves the site until a signal ends this process. Returns its exit code. */
async function serve(port: number, addresses: Addresses): Promise<number> {
  try {
    Deno.listen({ hostname: "localhost", port }).close();
  } catch (error) {
    if (!(error instanceof Deno.errors.AddrInUse)) throw error;
    throw new Error(`Cannot serve the site: port ${port} is in use. Choose another port with --port.`);
  }
  await prepare(addresses, console.log);
  console.log("Starting VitePress");
  const [args, env] = vitePress(addresses, "dev", "--port", String(port), "--strictPort");
  const child = new Deno.Command("node", { args, env, cwd: FOLDER, stdout: "null" }).spawn();
  let isStopped = false;
  const stop = (): void => {
    isStopped = true;
    child.kill("SIGTERM"); // after Ctrl-C it may have ended already, which is no error before its status is read
  };
  const signals = Deno.build.os === "windows" ? ["SIGINT"] as const : ["SIGINT", "SIGTERM"] as const;
  for (const signal of signals) Deno.addSignalListener(signal, stop);
  const address = `http://localhost:${port}${baseOf(addresses)}`;
  const status = child.status;
  if (await Promise.race([answers(address), status]) === true) {
    console.log(`The site is at ${address} until you press Ctrl-C, and shows changes of docs immediately`);
  }
  const { code } = await status;
  return isStopped ? 0 : code;
}

/** Resolves with true when a server answers. */
async function answers(address: string): Promise<true> {
  for (;;) {
    try {
      await (await fetch(address)).body?.cancel();
      return true;
    } catch (error) {
      if (!(error instanceof TypeError)) throw error; // nothing listens yet
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}

if (import.meta.main) {
  const { build, out = join(FOLDER, "build"), port, public: isPublic } = readFlags({
    task: "site",
    summary: "Serves the documentation site: the pages of docs, and the reference of all entry points.\n" +
      "It needs Node 20 or newer, and installs VitePress by npm in .site.",
    flags: {
      build: toggle("writes the site to a folder, and serves nothing"),
      out: text("DIR", "the folder of --build; .site/build if absent"),
      port: count("the port of the server", 5173),
      public: toggle("refuses to run while deno.json has no addresses, as the site is published with them"),
    },
    examples: ["", "--build --out /tmp/site"],
  });
  try {
    const addresses = readAddresses(await Deno.readTextFile(join(ROOT, "deno.json")));
    const problem = isPublic ? addressProblem(addresses) : undefined;
    if (problem !== undefined) quit(problem, 1);
    if (!build) Deno.exit(await serve(port, addresses));
    await buildSite(resolve(out), addresses, console.log);
    console.log(`Wrote the site to ${resolve(out)}`);
  } catch (error) {
    quit(error, 1);
  }
}
