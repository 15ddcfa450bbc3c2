/** Bash breaks words at `=` and `:`, and replaces what is behind the last of them. A quote stays where it is. */
const BASH = `# Completes svc-api: source <(svc-api completion bash)
_svc_api() {
  local line="\${COMP_LINE:0:COMP_POINT}" offers cut word
  mapfile -t offers < <("\${COMP_WORDS[0]}" __complete -- "$line" 2>/dev/null)
  word="\${line##*[[:space:]]}"
  word="\${word#[\\"\\']}"
  cut="\${word%"\${word##*[=:]}"}"
  COMPREPLY=("\${offers[@]#"$cut"}")
}
complete -o nospace -F _svc_api svc-api
`;

const ZSH = `#compdef svc-api
# Completes svc-api: source <(svc-api completion zsh)
_svc_api() {
  local -a offers
  offers=("\${(@f)$("\${words[1]}" __complete -- "$LBUFFER" 2>/dev/null)}")
  [[ -n "\${offers[1]}" ]] && compadd -Q -S '' -- "\${offers[@]}"
}
compdef _svc_api svc-api
`;

const FISH = `# Completes svc-api: svc-api completion fish | source
complete -c svc-api -f -a '(svc-api __complete --descriptions -- (commandline -cp) 2>/dev/null)'
`;

/** Scripts that ask \`svc-api __complete\` at every TAB, so that they know what the program that is there knows. */
export const COMPLETION_SCRIPTS = { bash: BASH, zsh: ZSH, fish: FISH } as const;
export type CompletionShell = keyof typeof COMPLETION_SCRIPTS;
