import { type Command, commonFlags } from './command.ts'
import { table } from './table.ts'

/** The operands in the usage of a command, without flags. */
export const operandsOf = (usage: string): string[] => {
  const [beforeFlags = ''] = usage.split(/ [[-]/, 1)
  return beforeFlags.split(' ').filter((word) => /^[A-Z_]+$/.test(word))
}

/** The form of a flag and its description. */
export const flagLine = (name: string, flag: Command['flags'][string]): readonly [string, string] => {
  const short = flag.short ? `-${flag.short}, ` : ''
  const value = flag.value ? ` ${flag.value}` : ''
  return [`${short}--${name}${value}${flag.multiple ? ' …' : ''}`, flag.help]
}

const indented = (rows: readonly (readonly string[])[]): string => table(rows).replaceAll(/^/gm, '  ')

/** The `--help` text of one command. */
export const commandHelp = (command: Command): string => {
  const flags = Object.entries({ ...command.flags, ...commonFlags }).map(([name, flag]) => flagLine(name, flag))
  return `usage: bin/shutterfleet ${command.usage}\n\n${command.summary}\n\n${indented(flags)}\n`
}

/** The text of `bin/shutterfleet --help`. */
export const overview = (commands: readonly (readonly [string, Command])[]): string =>
  `usage: bin/shutterfleet COMMAND [--help]\n       bin/shutterfleet --version\n\n${indented(commands.map(([name, { summary }]) => [name, summary]))}\n`
