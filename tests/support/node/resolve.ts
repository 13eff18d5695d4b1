/**
 * Module hooks of Node and Bun for the tests: sources of `src` come from the package that npm has installed, and `npm:`
 * specifiers lose their prefix and version.
 *
 * @module
 */
import * as modules from "node:module";
import process from "node:process";
import { fileURLToPath, pathToFileURL } from "node:url";

const ROOT = new URL("../../../", import.meta.url).href;
const PACKAGE = `${ROOT}node_modules/@kube/informer/`;

/** Returns where a specifier leads, or the name of a package; `undefined` for one that needs no help. */
function redirected(specifier: string, parent: string): string | undefined {
  const npm = /^npm:((?:@[^/]+\/)?[^@/]+)(?:@[^/]+)?(\/.*)?$/.exec(specifier);
  if (npm !== null) return `${npm[1]}${npm[2] ?? ""}`;
  if (!/^(?:\.|file:)/.test(specifier) || !parent.startsWith(ROOT) || parent.startsWith(PACKAGE)) return undefined;
  const { href } = new URL(specifier, parent);
  if (!href.startsWith(`${ROOT}src/`) && href !== `${ROOT}mod.ts`) return undefined;
  return `${PACKAGE}${href.slice(ROOT.length).replace(/\.ts(?=$|\?)/, ".js")}`;
}

/** The parts of Bun that are used here. */
interface BunGlobal {
  plugin(plugin: { readonly name: string; setup(build: BunBuild): void }): void;
  resolveSync(name: string, parent: string): string;
}
interface BunBuild {
  onResolve(
    options: { readonly filter: RegExp },
    call: (given: { readonly path: string; readonly importer: string }) => { readonly path: string } | undefined,
  ): void;
}

if (process.versions.bun === undefined) {
  modules.registerHooks({
    resolve(specifier, context, next): modules.ResolveFnOutput {
      return next(redirected(specifier, context.parentURL ?? ROOT) ?? specifier, context);
    },
  });
} else {
  const bun = (globalThis as unknown as { readonly Bun: BunGlobal }).Bun;
  bun.plugin({
    name: "sources of src",
    setup(build): void {
      build.onResolve({ filter: /^npm:|^\.{1,2}\/.*(?:src\/|mod\.ts)/ }, ({ path, importer }) => {
        const parent = importer.startsWith("file:") ? importer : pathToFileURL(importer).href;
        const to = redirected(path, parent);
        if (to === undefined) return undefined;
        return { path: to.startsWith("file:") ? fileURLToPath(to) : bun.resolveSync(to, fileURLToPath(ROOT)) };
      });
    },
  });
}
