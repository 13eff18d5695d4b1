/**
 * Puts the files of `examples/website` and `examples/website_node`, from which `informer init` makes a project, into
 * one module, as the command line runs from an address, where it has no files; and those of `examples/website` into
 * the blocks of guides that begin with their names.
 *
 * @module
 */
import { join, relative } from "node:path";
import { readFlags, toggle } from "./flags.ts";

const ROOT = join(import.meta.dirname!, "..");
const MODULE = "src/cli/project_files.ts";
const DOCS = join(ROOT, "docs");

/** The files of a project, by their names. */
type Files = Readonly<Record<string, string>>;

/** Returns the text of the module. */
function moduleOf(files: Files, nodeFiles: Files, webhookFiles: Files): string {
  return `// deno-fmt-ignore-file
// Written by \`deno task project\` from the folders of examples/website; not edited by hand.

/** The files of a project for Deno, by their names. */
export const PROJECT_FILES: Readonly<Record<string, string>> = ${JSON.stringify(files, undefined, 2)};

/** The files that a project for Node has in addition, or in place of others. */
export const NODE_FILES: Readonly<Record<string, string>> = ${JSON.stringify(nodeFiles, undefined, 2)};

/** The files that a project with webhooks has in addition, or in place of others. */
export const WEBHOOK_FILES: Readonly<Record<string, string>> = ${JSON.stringify(webhookFiles, undefined, 2)};
`;
}

/** Returns a page in which each block whose first line is a comment with the name of a file has the text of it. */
function withBlocks(page: string, files: Files): string {
  return page.replace(
    /^(```[^\n]+\n)((?:\/\/|#) ([\w.]+): [^]*?)^```$/gm,
    (all, fence, _text, name) => name in files ? `${fence}${files[name]}\`\`\`` : all,
  );
}

/** The pages below a folder. */
function walk(folder: string): string[] {
  return [...Deno.readDirSync(folder)].flatMap(({ name, isDirectory }) => {
    if (isDirectory) return walk(join(folder, name));
    return name.endsWith(".md") ? [join(folder, name)] : [];
  });
}

/** Returns the files of a folder of `examples`. */
function filesIn(name: string): Files {
  const folder = join(ROOT, "examples", name);
  const names = [...Deno.readDirSync(folder)].filter(({ isFile }) => isFile).map(({ name }) => name).sort();
  const files = names.map((name) => [name, Deno.readTextFileSync(join(folder, name))]);
  return Object.fromEntries(files.filter(([, text]) => !text.includes('export * from "../website/'))); // not copied
}

if (import.meta.main) {
  const { check } = readFlags({
    task: "project",
    summary:
      `Puts the files of examples/website and website_node, which informer init writes, into ${MODULE} and the guides.`,
    flags: { check: toggle("writes nothing; fails when a file differs") },
  });
  const files = filesIn("website");
  const webhookFiles = filesIn("website_webhooks");
  const results = new Map([[MODULE, moduleOf(files, filesIn("website_node"), webhookFiles)]]);
  for (const page of walk(DOCS)) results.set(relative(ROOT, page), withBlocks(Deno.readTextFileSync(page), files));
  for (const [path, text] of results) {
    if (!check) Deno.writeTextFileSync(join(ROOT, path), text);
    else if (Deno.readTextFileSync(join(ROOT, path)) !== text) {
      console.error(`${path} differs from the folders of examples: run deno task project`);
      Deno.exit(1);
    }
  }
}
