import { type Command, commonFlags } from './command.ts'

const flagLine = (name: string, flag: Command['flags'][string]): readonly [string, string] => {
  const short = flag.short ? `-${flag.short}, ` : ''
  const value = flag.value ? ` ${flag.value}` : ''
  return [`${short}--${name}${value}${flag.multiple ? ' …' : ''}`, flag.help]
}

const table = (rows: readonly (readonly [string, string])[]): string => {
  const width = Math.max(...rows.map(([left]) => left.length))
  return rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`).join('\n')
}

/** What `--help` prints for one command. */
export const commandHelp = (command: Command): string => {
  const flags = Object.entries({ ...command.flags, ...commonFlags }).map(([name, flag]) => flagLine(name, flag))
  return `usage: bin/shutterfleet ${command.usage}\n\n${command.summary}\n\n${table(flags)}\n`
}

/** What `bin/shutterfleet --help` prints; `commands` by their names. */
export const overview = (commands: readonly (readonly [string, Command])[]): string =>
  `usage: bin/shutterfleet COMMAND [--help]\n       bin/shutterfleet --version\n\n${table(commands.map(([name, { summary }]) => [name, summary]))}\n`
