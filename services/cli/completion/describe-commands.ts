import { type Command, commonFlags, type Flag } from '#cli/command/command.ts'
import type { CommandTable } from '#cli/command/run-command.ts'

/** A flag with its leading dashes, as a completion offers it. */
export type DescribedFlag = {
  readonly name: string
  readonly short: string | undefined
  readonly help: string
  /** What follows it: nothing, a path, or anything else. */
  readonly value: 'none' | 'path' | 'text'
}

/** A command of one or two words. */
export type DescribedCommand = {
  readonly words: readonly [string] | readonly [string, string]
  readonly summary: string
  readonly flags: readonly DescribedFlag[]
}

const pathValues = ['FILE', 'DIR', 'FOLDER']

const describeFlag = ([name, { type, value = '', short, help }]: readonly [string, Flag]): DescribedFlag => ({
  name,
  short,
  help,
  value: type === 'boolean' ? 'none' : pathValues.includes(value) ? 'path' : 'text',
})

const describe = (name: string, { summary, flags }: Command): DescribedCommand => {
  const [first = '', second] = name.split(' ')
  return {
    words: second === undefined ? [first] : [first, second],
    summary,
    flags: Object.entries<Flag>({ ...flags, ...commonFlags }).map(describeFlag),
  }
}

/** All commands with their flags, in the order of the table. */
export const describeCommands = (table: CommandTable): Promise<DescribedCommand[]> =>
  Promise.all(Object.entries(table).map(async ([name, load]) => describe(name, await load())))

/** The first words of the commands, each once, with the commands that begin with it. */
export const groupCommands = (
  commands: readonly DescribedCommand[],
): ReadonlyMap<string, readonly DescribedCommand[]> => Map.groupBy(commands, ({ words: [first] }) => first)
