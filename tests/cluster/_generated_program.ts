import { deno, type Output } from "../support/processes/program.ts";

/** The root of the repository. */
const ROOT = new URL("../../", import.meta.url);

/** A program that imports a generated module as `./kinds.ts` and the package by its name, as users do. */
export class GeneratedProgram implements AsyncDisposable {
  readonly #folder: string = Deno.makeTempDirSync({ prefix: "informer-kinds-" });

  /** Writes the two modules. */
  constructor(kinds: string, program: string) {
    const imports = {
      "@kube/informer": new URL("mod.ts", ROOT).href,
      "@kube/informer/connect": new URL("src/host/connect/mod.ts", ROOT).href,
      "@kube/informer/testing": new URL("src/testing/mod.ts", ROOT).href,
      "@std/async/": new URL("standins/async/", ROOT).href,
      "js-yaml": "npm:js-yaml@^5.5.0",
    };
    this.#write("deno.json", JSON.stringify({ imports }));
    this.#write("kinds.ts", kinds);
    this.#write("program.ts", program);
  }

  /** Checks the types of both. */
  check(): Promise<Output> {
    return this.#deno("check", "--quiet", "--no-lock", "program.ts");
  }

  /** Runs the program with all permissions, without checking types. */
  run(...args: readonly string[]): Promise<Output> {
    return this.#deno("run", "--quiet", "--no-lock", "--no-check", "-A", "program.ts", ...args);
  }

  #deno(...args: readonly string[]): Promise<Output> {
    return deno(args, { cwd: this.#folder });
  }

  #write(name: string, text: string): void {
    Deno.writeTextFileSync(`${this.#folder}/${name}`, text);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Deno.remove(this.#folder, { recursive: true });
  }
}
