import { type Command, commonFlags, type Flag } from './command.ts'
import { table } from './table.ts'

/** The operands in the usage of a command, without flags. */
export const operandsOf = (usage: string): string[] => {
  const [beforeFlags = ''] = usage.split(/ [[-]/, 1)
  return beforeFlags.split(' ').filter((word) => /^[A-Z_]+$/.test(word))
}

/** How a flag is written, such as `-o, --output FILE`. */
export const flagForm = (name: string, { short, value, multiple }: Flag): string =>
  `${short ? `-${short}, ` : ''}--${name}${value ? ` ${value}` : ''}${multiple ? ' …' : ''}`

const indented = (rows: readonly (readonly string[])[]): string => table(rows).replaceAll(/^/gm, '  ')

/** The `--help` text of one command. */
export const commandHelp = (command: Command): string => {
  const flags = Object.entries<Flag>({ ...command.flags, ...commonFlags }).map(([name, flag]) => [
    flagForm(name, flag),
    flag.help,
  ])
  return `usage: bin/shutterfleet ${command.usage}\n\n${command.summary}\n\n${indented(flags)}\n\n--json prints ${command.json}\n`
}

/** The text of `bin/shutterfleet --help`. */
export const overview = (commands: readonly (readonly [string, Command])[]): string =>
  `usage: bin/shutterfleet COMMAND [--help]\n       bin/shutterfleet --version\n\n${indented(commands.map(([name, { summary }]) => [name, summary]))}\n`
