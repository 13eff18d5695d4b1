import { assert, assertEquals } from "@std/assert";
import { join } from "node:path";
import ts from "npm:typescript@^6.0.3";

const ROOT = join(import.meta.dirname!, "..");
/** The file in which the completions are asked for; it is not on disk. */
const ASKING = join(ROOT, "tests/_completions.ts");
const ENTRIES = [
  "mod.ts",
  "src/operator/controllers/clusters/mod.ts",
  "src/operator/controllers/reconcile/mod.ts",
  "src/relay/client/mod.ts",
  "src/relay/server/mod.ts",
  "src/testing/mod.ts",
];
/** As an editor asks that also completes names that are not imported yet. */
const EDITOR: ts.UserPreferences = {
  includeCompletionsWithInsertText: true,
  includeCompletionsForModuleExports: true,
};

interface Member {
  readonly name: string;
  readonly isStatic?: boolean;
  readonly accessibility?: string;
  readonly jsDoc?: { readonly tags?: readonly { readonly kind: string }[] };
}

interface ClassDeclaration {
  readonly kind: string;
  readonly def: {
    readonly extends?: string;
    readonly constructors?: readonly Member[];
    readonly properties?: readonly Member[];
    readonly methods?: readonly Member[];
  };
}

function isInternal({ jsDoc }: Pick<Member, "jsDoc">): boolean {
  return jsDoc?.tags?.some((it) => it.kind === "internal") ?? false;
}

/** The members of each exported class that `deno doc` documents; not of classes that inherit some. */
async function documentedMembers(entry: string): Promise<Map<string, string[]>> {
  const args = ["doc", "--quiet", "--json", join(ROOT, entry)];
  const { stdout } = await new Deno.Command(Deno.execPath(), { args, cwd: ROOT }).output();
  const { nodes } = JSON.parse(new TextDecoder().decode(stdout)) as {
    nodes: Record<string, { symbols: { name: string; declarations: ClassDeclaration[] }[] }>;
  };
  const found = new Map<string, string[]>();
  for (const { name, declarations } of Object.values(nodes).flatMap(({ symbols }) => symbols)) {
    const declaration = declarations.find(({ kind }) => kind === "class");
    if (declaration === undefined || declaration.def.extends !== undefined) continue;
    const { constructors = [], properties = [], methods = [] } = declaration.def;
    const reachable = constructors.filter(({ accessibility }) => accessibility === undefined);
    assert(!reachable.some(isInternal), `an internal constructor of ${name} is offered`);
    const members = [...properties, ...methods].filter(({ name, isStatic, accessibility, jsDoc }) =>
      !isStatic && accessibility === undefined && !/^[[#]/.test(name) && !isInternal({ jsDoc })
    );
    found.set(name, [...new Set(members.map(({ name }) => name))].sort());
  }
  return found;
}

/** The names that an editor offers after a dot, by the names of the classes. */
function completions(entry: string, classes: readonly string[]): Map<string, string[]> {
  const imports = `import type { ${classes.join(", ")} } from ${JSON.stringify(join(ROOT, entry))};\n`;
  const text = imports +
    classes.map((name) => `declare const of${name}: typeof ${name}.prototype;\nof${name}.\n`).join("");
  const options: ts.CompilerOptions = {
    target: ts.ScriptTarget.ESNext,
    module: ts.ModuleKind.ESNext,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
    allowImportingTsExtensions: true,
    noEmit: true,
    strict: true,
    lib: ["lib.esnext.d.ts", "lib.dom.d.ts", "lib.dom.iterable.d.ts", "lib.dom.asynciterable.d.ts"],
    types: [],
  };
  const service = ts.createLanguageService({
    getCompilationSettings: () => options,
    getScriptFileNames: () => [ASKING],
    getScriptVersion: () => "1",
    getScriptSnapshot: (file) => {
      const found = file === ASKING ? text : ts.sys.readFile(file);
      return found === undefined ? undefined : ts.ScriptSnapshot.fromString(found);
    },
    getCurrentDirectory: () => ROOT,
    getDefaultLibFileName: (options) => ts.getDefaultLibFilePath(options),
    fileExists: (file) => file === ASKING || ts.sys.fileExists(file),
    readFile: ts.sys.readFile,
    directoryExists: ts.sys.directoryExists,
  });
  return new Map(classes.map((name) => {
    const at = text.indexOf(`\nof${name}.\n`) + `\nof${name}.`.length;
    const entries = service.getCompletionsAtPosition(ASKING, at, EDITOR)?.entries ?? [];
    // `[Symbol.asyncDispose]` and the like are offered as `Symbol`.
    return [name, entries.map(({ name }) => name).filter((name) => name !== "Symbol").sort()];
  }));
}

for (const entry of ENTRIES) {
  Deno.test(`${entry}: an editor offers the documented members of each class, and no internal ones`, async () => {
    const documented = await documentedMembers(entry);
    assert(documented.size > 0);
    assertEquals(completions(entry, [...documented.keys()]), documented);
  });
}
