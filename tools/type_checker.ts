import { join } from "node:path";
import ts from "npm:typescript@^6.0.3";

const OPTIONS: ts.CompilerOptions = {
  target: ts.ScriptTarget.ESNext,
  module: ts.ModuleKind.ESNext,
  moduleResolution: ts.ModuleResolutionKind.Bundler,
  allowImportingTsExtensions: true,
  noEmit: true,
  strict: true,
  noImplicitOverride: true,
  lib: ["lib.esnext.d.ts", "lib.dom.d.ts", "lib.dom.iterable.d.ts", "lib.dom.asynciterable.d.ts"],
  types: [],
};

/**
 * Checks changed texts of single files against the project as it is on disk, in this process. Errors that a file has
 * without the change do not count: names of the runtime and packages other than `@std/async` are not resolved.
 */
export class TypeChecker {
  readonly #service: ts.LanguageService;
  readonly #changed = new Map<string, { readonly version: number; readonly text: string }>();
  readonly #errorCounts = new Map<string, number>();
  #version = 0;

  /** Checks files of the project in `root`. `files` are absolute paths. */
  constructor(root: string, files: readonly string[]) {
    const options = { ...OPTIONS, paths: { "@std/async/*": [join(root, "standins/async/*.ts")] } };
    this.#service = ts.createLanguageService({
      getCompilationSettings: () => options,
      getScriptFileNames: () => [...files],
      getScriptVersion: (file) => String(this.#changed.get(file)?.version ?? 0),
      getScriptSnapshot: (file) => {
        const text = this.#changed.get(file)?.text ?? ts.sys.readFile(file);
        return text === undefined ? undefined : ts.ScriptSnapshot.fromString(text);
      },
      getCurrentDirectory: () => root,
      getDefaultLibFileName: (options) => ts.getDefaultLibFilePath(options),
      fileExists: ts.sys.fileExists,
      readFile: ts.sys.readFile,
      directoryExists: ts.sys.directoryExists,
    });
  }

  /** Returns true when a file has no more errors with this text than with the one on disk. */
  compiles(file: string, text: string): boolean {
    let before = this.#errorCounts.get(file);
    if (before === undefined) this.#errorCounts.set(file, before = this.#errorCount(file));
    this.#changed.set(file, { version: ++this.#version, text });
    const after = this.#errorCount(file);
    this.#changed.delete(file);
    return after <= before;
  }

  #errorCount(file: string): number {
    return this.#service.getSyntacticDiagnostics(file).length + this.#service.getSemanticDiagnostics(file).length;
  }
}
