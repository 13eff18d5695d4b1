import { Folder } from "../support/serve.ts";

/** The root of the repository. */
export const ROOT = new URL("../../", import.meta.url);

/** A block of TypeScript in a page. */
export interface Block {
  /** Path of the page and line of the fence, `docs/permissions.md:12`. */
  readonly place: string;
  /** `ts`, run by `deno test --doc`, or `ts ignore`, run by `programs_test.ts`. */
  readonly fence: string;
  readonly text: string;
}

/** A block that says in its first two lines the name of its file, and the command that runs it. */
export interface DocumentedProgram {
  readonly place: string;
  readonly file: string;
  /** `run` or `test`. */
  readonly command: string;
  /** The flags of the documented command. */
  readonly flags: readonly string[];
  readonly text: string;
}

/** The pages for users: README and `docs`. */
export function pages(): string[] {
  const files = [...Deno.readDirSync(new URL("docs", ROOT))].map(({ name }) => `docs/${name}`);
  return ["README.md", ...files.filter((file) => file.endsWith(".md")).sort()];
}

/** The TypeScript blocks of a page. */
export function blocksOf(page: string): Block[] {
  const text = Deno.readTextFileSync(new URL(page, ROOT));
  return [...text.matchAll(/^```(ts\b.*|typescript\b.*)\n([\s\S]*?)^```$/gm)].map((match) => ({
    place: `${page}:${text.slice(0, match.index).split("\n").length}`,
    fence: match[1],
    text: match[2],
  }));
}

/** The programs of all pages: blocks that `deno test --doc` does not run. */
export function programs(): DocumentedProgram[] {
  return pages().flatMap(blocksOf).filter(({ fence }) => fence === "ts ignore").map(({ place, text }) => {
    const match = /^\/\/ (\w+\.ts): .*\n\/\/ {3}deno (run|test)((?: --\S+)*) (\w+\.ts)/.exec(text);
    if (match === null || match[1] !== match[4]) {
      throw new Error(
        `${place}: the first lines of a program are "// NAME.ts: SENTENCE" and "//   deno run FLAGS NAME.ts"`,
      );
    }
    return { place, file: match[1], command: match[2], flags: match[3].split(" ").filter((flag) => flag !== ""), text };
  });
}

/** Writes the programs of all pages, and the YAML files that they read, to a folder of their own. */
export function extractPrograms(): Folder {
  const folder = new Folder();
  for (const { file, text } of programs()) folder.write(file, text);
  for (const page of pages()) {
    const text = Deno.readTextFileSync(new URL(page, ROOT));
    for (const [, yaml, file] of text.matchAll(/^```yaml\n(# (\w+\.yaml)\n[\s\S]*?)^```$/gm)) folder.write(file, yaml);
  }
  return folder;
}
