import { PROJECT_FILES } from "../../../src/cli/project_files.ts";
import { Folder } from "../servers/serve.ts";

/** The root of the repository. */
export const ROOT = new URL("../../../", import.meta.url);

/** A block of TypeScript in a page. */
export interface Block {
  /** Path of the page and line of the fence, `docs/permissions.md:12`. */
  readonly place: string;
  /** `ts`, run by `deno test --doc`, or `ts ignore`, run by `programs_test.ts`. */
  readonly fence: string;
  readonly text: string;
}

/** A block that has in its first two lines the name of its file, and the command that runs it. */
export interface DocumentedProgram {
  readonly place: string;
  readonly file: string;
  /** The flags of the documented command. */
  readonly flags: readonly string[];
  readonly text: string;
}

/** The pages for users: README, and the pages below `docs`. */
export function pages(): string[] {
  return ["README.md", ...pagesBelow("docs").sort()];
}

function pagesBelow(folder: string): string[] {
  return [...Deno.readDirSync(new URL(folder, ROOT))].flatMap(({ name, isDirectory }) => {
    if (isDirectory) return pagesBelow(`${folder}/${name}`);
    return name.endsWith(".md") ? [`${folder}/${name}`] : [];
  });
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

/** True for a block that shows a module of the project of `informer init`. */
export function isOfProject({ text }: Block): boolean {
  return Object.entries(PROJECT_FILES).some(([file, content]) => text.startsWith(`// ${file}: `) && text === content);
}

/** The programs of all pages: blocks that `deno test --doc` does not run, and that are not of the project. */
export function programs(): DocumentedProgram[] {
  const blocks = pages().flatMap(blocksOf).filter((block) => block.fence === "ts ignore" && !isOfProject(block));
  return blocks.map(({ place, text }) => {
    const match = /^\/\/ (\w+\.ts): .*\n\/\/ {3}deno run((?: --\S+)*) (\w+\.ts)/.exec(text);
    if (match === null || match[1] !== match[3]) {
      throw new Error(
        `${place}: the first lines of a program are "// NAME.ts: SENTENCE" and "//   deno run FLAGS NAME.ts"`,
      );
    }
    return { place, file: match[1], flags: match[2].split(" ").filter((flag) => flag !== ""), text };
  });
}

/** The program with this file name, in whichever page it is. */
export function programNamed(file: string): DocumentedProgram {
  const program = programs().find((program) => program.file === file);
  if (program === undefined) throw new Error(`Cannot find ${file}: no page has a program with this name`);
  return program;
}

/** Writes the programs of all pages to a folder of their own. */
export function extractPrograms(): Folder {
  const folder = new Folder();
  for (const { file, text } of programs()) folder.write(file, text);
  return folder;
}
