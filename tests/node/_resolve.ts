/**
 * Module hooks of Node for the tests: sources of `src` come from the package that npm has installed, and `npm:`
 * specifiers lose their prefix and version.
 *
 * @module
 */
import { registerHooks, type ResolveFnOutput } from "node:module";

const ROOT = new URL("../../", import.meta.url).href;
const PACKAGE = `${ROOT}node_modules/@kube/informer/`;

registerHooks({
  resolve(specifier, context, next): ResolveFnOutput {
    const npm = /^npm:((?:@[^/]+\/)?[^@/]+)(?:@[^/]+)?(\/.*)?$/.exec(specifier);
    if (npm !== null) return next(`${npm[1]}${npm[2] ?? ""}`, context);
    if (
      /^(?:\.|file:)/.test(specifier) && context.parentURL?.startsWith(ROOT) && !context.parentURL.startsWith(PACKAGE)
    ) {
      const { href } = new URL(specifier, context.parentURL);
      if (href.startsWith(`${ROOT}src/`) || href === `${ROOT}mod.ts`) {
        return next(`${PACKAGE}${href.slice(ROOT.length).replace(/\.ts(?=$|\?)/, ".js")}`, context);
      }
    }
    return next(specifier, context);
  },
});
