/**
 * Completions of the command line for bash, zsh and fish.
 *
 * {@linkcode complete} finds the words, and {@linkcode completionScript} returns the script that a shell sources. It
 * reads commands and flags from the parser, so that it needs no list of its own. It asks no server.
 *
 * @module
 */
import type { Command } from "@cliffy/command";

/** A word that a shell offers. */
interface Candidate {
  readonly word: string;
  /** A description, for shells that show one. */
  readonly description?: string;
}

/** What a shell offers; `"files"` for paths. */
type Offer = readonly Candidate[] | "files";

type CompletedCommand = Pick<Command, "getName" | "getShortDescription" | "getCommands" | "getOptions" | "getType">;

/** Returns the subcommand of a name, if there is one. */
export function commandOf(program: CompletedCommand, name: string): CompletedCommand | undefined {
  return program.getCommands().find((command) => command.getName() === name);
}

/** Flags whose value is the path of a file. */
const FILES = ["--kubeconfig", "--token-file", "--cache", "--file", "--out", "--snapshot", "--dir"];

/**
 * Returns the words that can stand in place of the last of `words`, which may be empty; `"files"` for paths. `words`
 * are those behind the name of the program.
 */
export function complete(program: CompletedCommand, words: readonly string[]): Offer {
  const found = candidates(program, words);
  return found === "files" ? found : found.filter(({ word }) => word.startsWith(words.at(-1) ?? ""));
}

function candidates(program: CompletedCommand, words: readonly string[]): Offer {
  if (words.length <= 1) {
    return program.getCommands().map((each) => ({ word: each.getName(), description: firstSentence(each) }));
  }
  const command = commandOf(program, words[0]);
  if (command === undefined) return [];
  const options = command.getOptions();
  // bash takes `--flag=value` apart at the equals sign.
  const before = words.slice(1, -1).filter((word) => word !== "=");
  const waiting = options.find(({ flags }) => flags.includes(before.at(-1) ?? ""));
  if (waiting !== undefined && waiting.args.length > 0) {
    if (waiting.flags.some((flag) => FILES.includes(flag))) return "files";
    if (command.getName() === "wait" && waiting.flags.includes("--for")) {
      return wordsOf(["ready", "deleted", "condition="]);
    }
    return wordsOf(valuesOf(command.getType(waiting.args[0].type)?.handler));
  }
  if (words.at(-1)?.startsWith("-")) {
    return options.flatMap(({ flags, description }) => flags.map((word) => ({ word, description })));
  }
  if (command.getName() === "crds") return "files";
  return command.getName() === "completions" && before.length === 0 ? wordsOf(SHELLS) : [];
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

/**
 * The answer to a script: a line for each word, with its description behind a tab; or this line alone, for paths of
 * files.
 */
export const FILES_LINE = ":files";

const SCRIPTS: Readonly<Record<string, string>> = {
  bash: `# bash completion for informer: source <(informer completions bash)
_informer() {
  local line
  COMPREPLY=()
  while IFS= read -r line; do
    if [[ $line == ${FILES_LINE} ]]; then
      compopt -o default
      return
    fi
    COMPREPLY+=("\${line%%$'\\t'*}")
  done < <(informer completions complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -F _informer informer`,
  zsh: `#compdef informer
# zsh completion for informer: source <(informer completions zsh), after compinit
_informer() {
  local line
  local -a found
  for line in "\${(@f)$(informer completions complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}"; do
    if [[ $line == ${FILES_LINE} ]]; then
      _files
      return
    fi
    [[ -n $line ]] && found+=("\${\${line//:/\\\\:}/$'\\t'/:}")
  done
  (( $#found )) && _describe informer found
}
if [[ $funcstack[1] == _informer ]]; then
  _informer "$@"
else
  compdef _informer informer
fi`,
  fish: `# fish completion for informer: informer completions fish | source
function _informer
  set -l found (informer completions complete -- (commandline -opc)[2..] (commandline -ct) 2>/dev/null)
  if test "$found" = ${FILES_LINE}
    __fish_complete_path (commandline -ct)
  else
    printf '%s\\n' $found
  end
end
complete -c informer -f -a '(_informer)'`,
};

/** Shells with a completion script. */
export const SHELLS: readonly string[] = Object.keys(SCRIPTS).sort();

/** Returns the script that one of {@linkcode SHELLS} sources; the program is found in PATH as `informer`. */
export function completionScript(shell: string): string {
  return SCRIPTS[shell];
}
