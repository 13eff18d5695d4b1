import { functionName, type OptionSuggestion, type Place, type Source } from "./place.ts";

/** The script for fish: `informer completions fish | source`. */
export function fishScript(program: string, places: readonly Place[]): string {
  const name = `_${functionName(program)}_at`;
  return `# fish completion for ${program}
function ${name}
  set -l at ${quoted(program)}
  set -l words (commandline -opc)
  for word in $words[2..-1]
    switch "$at $word"
${places.filter(({ ways }) => ways.length > 0).map(step).join("\n")}
    end
  end
  test "$at" = "$argv[1]"
end
complete -c ${program} -f
${places.flatMap((place) => completions(program, name, place)).join("\n")}`;
}

function step({ path, ways }: Place): string {
  return `      case ${ways.map(quoted).join(" ")}\n        set at ${quoted(path)}`;
}

function completions(program: string, name: string, { path, commands, options, argument }: Place): string[] {
  const here = `complete -c ${program} -n ${quoted(`${name} ${quoted(path)}`)}`;
  const names = commands.map(({ word, description }) => `${here} -a ${quoted(word)} -d ${quoted(description)}`);
  const values = argument === undefined || argument.kind === "text" ? [] : [`${here} ${action(argument)}`];
  return [...names, ...values, ...options.map((option) => `${here} ${optionText(option)}`)];
}

function optionText({ flags, description, value }: OptionSuggestion): string {
  const names = flags.map((flag) =>
    flag.startsWith("--") ? `-l ${flag.slice(2)}` : `${flag.length === 2 ? "-s" : "-o"} ${flag.slice(1)}`
  );
  const rest = value === undefined ? "" : ` -r ${action(value)}`;
  return `${names.join(" ")} -d ${quoted(description)}${rest}`;
}

function action(source: Source): string {
  switch (source.kind) {
    case "words":
      return `-f -a ${quoted(source.words.join(" "))}`;
    case "text":
      return "-f";
    default:
      return source satisfies never;
  }
}

/** A text in single quotes, as fish reads them. */
function quoted(text: string): string {
  return `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
}
