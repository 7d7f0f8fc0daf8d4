import type { DescribedCommand } from './describe-commands.ts'
import { type Branch, createBranches, flagsWithValue, quote } from './posix.ts'

const offer = ([name, help]: Branch['offers'][number]) => quote(`${name}:${help}`)

/** The completion script for zsh: names with their descriptions. */
export const zshScript = (commands: readonly DescribedCommand[]): string => `#compdef shutterfleet
# Completion of shutterfleet for zsh.
_shutterfleet() {
  local -a offers
  case $words[CURRENT-1] in
    ${flagsWithValue(commands, 'path').join('|')})
      _files
      return
      ;;
    ${flagsWithValue(commands, 'text').join('|')}) return 1 ;;
  esac
  case "$((CURRENT - 1)):$words[2] \${words[3]-}" in
${createBranches(commands)
  .map(({ pattern, offers }) => `    ${pattern}) offers=(${offers.map(offer).join(' ')}) ;;`)
  .join('\n')}
  esac
  if [[ $offers[1] == --* && $words[CURRENT] != -* ]]; then
    _files
  else
    _describe 'shutterfleet' offers
  fi
}
compdef _shutterfleet shutterfleet
`
