/** Shells with a completion script. */
export type Shell = "bash" | "fish" | "zsh";

/**
 * The answer to a script: a line for each word, with its description behind a tab; or this line alone, for paths of files.
 */
export const FILES_LINE = ":files";

const SCRIPTS: Readonly<Record<Shell, string>> = {
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

/** Returns the script that a shell sources; the program is found in PATH as `informer`. */
export function completionScript(shell: Shell): string {
  return SCRIPTS[shell];
}
