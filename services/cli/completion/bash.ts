import type { DescribedCommand } from './describe-commands.ts'
import { createBranches, flagsWithValue, quote } from './posix.ts'

/** The completion script for bash: flags after a dash, files where a path is expected or an operand follows. */
export const bashScript = (commands: readonly DescribedCommand[]): string => `# Completion of shutterfleet for bash.
_shutterfleet() {
  local current=\${COMP_WORDS[COMP_CWORD]} offers=
  COMPREPLY=()
  case \${COMP_WORDS[COMP_CWORD-1]} in
    ${flagsWithValue(commands, 'path').join('|')})
      mapfile -t COMPREPLY < <(compgen -f -- "$current")
      return
      ;;
    ${flagsWithValue(commands, 'text').join('|')}) return ;;
  esac
  case "$COMP_CWORD:\${COMP_WORDS[1]} \${COMP_WORDS[2]-}" in
${createBranches(commands)
  .map(({ pattern, offers }) => `    ${pattern}) offers=${quote(offers.map(([name]) => name).join(' '))} ;;`)
  .join('\n')}
  esac
  # Without a dash an operand follows, such as a file.
  case "$current:$offers" in
    -*) ;;
    *:--*) return ;;
  esac
  mapfile -t COMPREPLY < <(compgen -W "$offers" -- "$current")
}
complete -o bashdefault -o default -F _shutterfleet shutterfleet
`
