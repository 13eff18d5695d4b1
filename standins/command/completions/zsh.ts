import { functionName, type Place, quoted, type Source } from "./place.ts";

/** The script for zsh: `source <(informer completions zsh)`, or a file `_informer` in a folder of `fpath`. */
export function zshScript(program: string, places: readonly Place[]): string {
  const name = functionName(program);
  return `#compdef ${program}
# zsh completion for ${program}
${name}() {
  local at=${quoted(program)} word previous="\${words[CURRENT-1]}"
  local -a names flags values

  for word in "\${(@)words[2,CURRENT-1]}"; do
    case "$at $word" in
${places.filter(({ ways }) => ways.length > 0).map(step).join("\n")}
    esac
  done

  case "$at $previous" in
${places.flatMap(optionValues).join("\n")}
  esac

  case "$at" in
${places.map(suggestions).join("\n")}
  esac
  if [[ $PREFIX == -* ]]; then
    _describe -o 'option' flags
    return
  fi
  (( $#names )) && _describe 'command' names
  (( $#values )) && compadd -a values
}
if [[ "\${funcstack[1]}" == ${name} ]]; then
  ${name} "$@"
else
  compdef ${name} ${program}
fi`;
}

function step({ path, ways }: Place): string {
  return `    (${ways.map(quoted).join("|")}) at=${quoted(path)} ;;`;
}

function optionValues({ path, options }: Place): string[] {
  return options.flatMap(({ flags, value }) => {
    if (value === undefined) return [];
    const pattern = flags.map((flag) => quoted(`${path} ${flag}`)).join("|");
    const add = value.kind === "text" ? "" : "; compadd -a values";
    return [`  (${pattern}) ${action(value)}${add}; return ;;`];
  });
}

function suggestions({ path, commands, options, argument }: Place): string {
  const names = commands.map(({ word, description }) => described(word, description));
  const flags = options.flatMap((option) => option.flags.map((flag) => described(flag, option.description)));
  return `  (${quoted(path)})
    names=(${names.join(" ")})
    flags=(${flags.join(" ")})
    ${action(argument)} ;;`;
}

/** A word and its description, with a colon between them. */
function described(word: string, description: string): string {
  return quoted(`${word.replaceAll(":", "\\:")}:${description}`);
}

function action(source: Source | undefined): string {
  switch (source?.kind) {
    case "words":
      return `values=(${source.words.map(quoted).join(" ")})`;
    case "text":
    case undefined:
      return ":";
    default:
      return source satisfies never;
  }
}
