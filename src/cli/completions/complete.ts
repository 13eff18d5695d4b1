/**
 * Completes command lines in shells.
 *
 * {@linkcode complete} answers the scripts of `completionScript`, which send the words of the line. Kinds, namespaces and
 * names come from the server that the flags on the line choose, contexts from the kubeconfig.
 *
 * @module
 */
import type { ClusterNames } from "./cluster_names.ts";

/** A word that a shell offers. */
export interface Candidate {
  /** The word. */
  readonly word: string;
  /** A description, for shells that show one. */
  readonly description?: string;
}

/** The part of a command of `@cliffy/command` that completion reads. */
export interface CompletedCommand {
  /** The name. */
  getName(): string;
  /** The first line of the description. */
  getShortDescription(): string;
  /** The subcommands. */
  getCommands(): readonly CompletedCommand[];
  /** The options. */
  getOptions(): readonly {
    readonly flags: readonly string[];
    readonly description: string;
    readonly args: readonly { readonly type: string }[];
  }[];
  /** The type of that name. */
  getType(name: string): { readonly handler: unknown } | undefined;
}

/** Flags whose value is the path of a file. */
const FILES = ["--kubeconfig", "--token-file", "--cache", "--file", "--out", "--snapshot"];

/**
 * Returns the words that can stand in place of the last of `words`, which may be empty; `"files"` for paths. `words` are
 * those behind the name of the program.
 */
export async function complete(
  program: CompletedCommand,
  words: readonly string[],
  cluster: ClusterNames,
): Promise<readonly Candidate[] | "files"> {
  const current = words.at(-1) ?? "";
  const command = program.getCommands().find((command) => command.getName() === words[0]);
  if (words.length <= 1) {
    const commands = program.getCommands();
    return startingWith(
      current,
      commands.map((each) => ({ word: each.getName(), description: firstSentence(each) })),
    );
  }
  if (command === undefined) return [];
  const options = command.getOptions();
  const optionOf = (flag: string): (typeof options)[number] | undefined =>
    options.find(({ flags }) => flags.includes(flag));
  // bash takes `--flag=value` apart at the equals sign.
  const before = words.slice(1, -1).filter((word) => word !== "=");
  const waiting = optionOf(before.at(-1) ?? "");
  if (waiting !== undefined && waiting.args.length > 0) {
    if (waiting.flags.some((flag) => FILES.includes(flag))) return "files";
    if (waiting.flags.includes("--context")) return startingWith(current, wordsOf(await cluster.contexts()));
    if (waiting.flags.includes("--namespace")) return startingWith(current, wordsOf(await cluster.namespaces()));
    return startingWith(current, wordsOf(valuesOf(command.getType(waiting.args[0].type)?.handler)));
  }
  if (current.startsWith("-")) {
    return startingWith(
      current,
      options.flatMap(({ flags, description }) => flags.map((word) => ({ word, description }))),
    );
  }
  const given = before.filter((word, i) => !word.startsWith("-") && !(optionOf(before[i - 1])?.args.length));
  return startingWith(current, wordsOf(await argumentsOf(command.getName(), given, current, cluster)));
}

async function argumentsOf(
  command: string,
  given: readonly string[],
  current: string,
  cluster: ClusterNames,
): Promise<readonly string[]> {
  if (command === "completions") return given.length === 0 ? ["bash", "fish", "zsh"] : [];
  if (!["get", "watch", "serve", "doctor"].includes(command)) return [];
  const slash = current.indexOf("/");
  if (command === "get" && slash !== -1) {
    const kind = current.slice(0, slash);
    return (await cluster.names(kind)).map((name) => `${kind}/${name}`);
  }
  if (command === "get" && given.length > 0) {
    return given.some((word) => word.includes("/"))
      ? []
      : (await cluster.names(given[0])).filter((name) => !given.includes(name));
  }
  const list = current.slice(0, current.lastIndexOf(",") + 1);
  return (await cluster.kinds()).map((kind) => `${list}${kind}`);
}

function firstSentence(command: CompletedCommand): string {
  return command.getShortDescription().split(/(?<=\.) /, 1)[0];
}

function valuesOf(type: unknown): readonly string[] {
  const { values } = (type ?? {}) as { readonly values?: unknown };
  return typeof values === "function" ? (values.call(type) as readonly unknown[]).map(String) : [];
}

function wordsOf(words: readonly string[]): Candidate[] {
  return words.map((word) => ({ word }));
}

function startingWith(current: string, candidates: readonly Candidate[]): Candidate[] {
  return candidates.filter(({ word }) => word.startsWith(current));
}
