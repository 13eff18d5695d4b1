import { Command, EnumType, ValidationError } from "@cliffy/command";
import { assertEquals, assertRejects } from "@std/assert";

/** What a program would have printed, and how it would have ended. */
export interface Outcome {
  /** What went to standard output, without colours. */
  out: string;
  /** What went to standard error, without colours. */
  err: string;
  /** What it would have exited with, if it would have exited. */
  exitCode?: number;
  /** What it threw, if it threw. */
  error?: unknown;
}

/** What stands for the end of the process. */
class Exit extends Error {}

/** Runs something that prints and exits, without printing and exiting. */
export async function outcomeOf(fn: () => Promise<unknown>): Promise<Outcome> {
  const { log, error } = console;
  const { exit } = Deno;
  const outcome: Outcome = { out: "", err: "" };
  console.log = (...args: unknown[]) => outcome.out += `${args.join(" ")}\n`;
  console.error = (...args: unknown[]) => outcome.err += `${args.join(" ")}\n`;
  Deno.exit = ((code: number = 0): never => {
    outcome.exitCode ??= code;
    throw new Exit("exit");
  }) as typeof Deno.exit;
  try {
    await fn();
  } catch (thrown) {
    if (!(thrown instanceof Exit)) outcome.error = thrown;
  } finally {
    console.log = log;
    console.error = error;
    Deno.exit = exit;
  }
  outcome.out = plain(outcome.out);
  outcome.err = plain(outcome.err);
  return outcome;
}

/** A text without colours. */
export function plain(text: string): string {
  // deno-lint-ignore no-control-regex -- escape sequences begin with a control character
  return text.replace(/\u001b\[[0-9;]*m/g, "");
}

/** The message of the usage error that these words make. */
export async function wrong(
  make: () => { parse(args: string[]): Promise<unknown> },
  ...words: string[]
): Promise<string> {
  const error = await assertRejects(() => make().parse(words), ValidationError);
  assertEquals(error.exitCode, 2);
  return error.message;
}

/** Whether two types are the same. */
export type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;

/** Demands of the compiler that two types are the same. */
export function sameType<A, B>(_same: Same<A, B>): void {}

/** A program with options and values of every kind; what is run is noted in `seen`. */
// deno-lint-ignore no-explicit-any -- a command of any kind
export function program(seen: unknown[] = []): Command<any> {
  return new Command()
    .noExit()
    .name("informer")
    .version("1.2.3")
    .description("Watches.\n\nAnd more.")
    .help({ colors: false })
    .example("All pods", "informer watch pods -A")
    .command("watch <resource:string> [names...:string]", "Runs informers.")
    .type("format", new EnumType(["json", "table"]))
    .option("-n, --namespace <ns:string>", "Namespace.", { default: "default" })
    .option("-A, --all-namespaces", "All namespaces.")
    .option("-l, --selector <selector:string>", "Label selector.")
    .option("--limit <n:integer>", "Limit.")
    .option("--rate <n:number>", "Rate.")
    .option("--no-color", "No colours.")
    .option("-o, --output <format:format>", "Output.", { default: "table" as const })
    .action((options, resource, ...names) => {
      seen.push(options, resource, names);
    })
    .reset()
    .command("serve", "Serves.\nFor ever.")
    .action((options) => {
      seen.push("serve", options);
    })
    .reset();
}
