import { functionName, type Place, quoted, type Source } from "./place.ts";

/** The script for bash: `source <(informer completions bash)`. */
export function bashScript(program: string, places: readonly Place[]): string {
  const name = functionName(program);
  return `# bash completion for ${program}
${name}() {
  local at=${quoted(program)} current previous word words=''
  COMPREPLY=()
  current="\${COMP_WORDS[COMP_CWORD]}"
  previous="\${COMP_WORDS[COMP_CWORD - 1]}"
  # bash takes --flag=value apart at the equals sign.
  [[ $previous == = ]] && previous="\${COMP_WORDS[COMP_CWORD - 2]}"
  [[ $current == = ]] && current=''

  for word in "\${COMP_WORDS[@]:1:COMP_CWORD - 1}"; do
    case "$at $word" in
${places.filter(({ ways }) => ways.length > 0).map(step).join("\n")}
    esac
  done

  case "$at $previous" in
${places.flatMap(values).join("\n")}
  *)
    if [[ $current == -* ]]; then
      case "$at" in
${places.map(flags).join("\n")}
      esac
    else
      case "$at" in
${places.map(names).join("\n")}
      esac
    fi
    ;;
  esac

  while IFS= read -r word; do
    [[ -n $word && $word == "$current"* ]] && COMPREPLY+=("$word")
  done <<<"$words"
}
complete -F ${name} -o bashdefault -o default ${program}`;
}

function step({ path, ways }: Place): string {
  return `    ${ways.map(quoted).join(" | ")}) at=${quoted(path)} ;;`;
}

function values({ path, options }: Place): string[] {
  return options.flatMap(({ flags, value }) =>
    value === undefined
      ? []
      : [`  ${flags.map((flag) => quoted(`${path} ${flag}`)).join(" | ")}) ${assignment(value, [])} ;;`]
  );
}

function flags({ path, options }: Place): string {
  return `      ${quoted(path)}) words=${quoted(options.flatMap(({ flags }) => flags).join("\n"))} ;;`;
}

function names({ path, commands, argument }: Place): string {
  return `      ${quoted(path)}) ${assignment(argument, commands.map(({ word }) => word))} ;;`;
}

function assignment(source: Source | undefined, words: readonly string[]): string {
  switch (source?.kind) {
    case "words":
      return `words=${quoted([...words, ...source.words].join("\n"))}`;
    case "text":
    case undefined:
      return `words=${quoted(words.join("\n"))}`;
    default:
      return source satisfies never;
  }
}
