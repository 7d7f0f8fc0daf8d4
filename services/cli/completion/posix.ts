import { type DescribedCommand, type DescribedFlag, groupCommands } from './describe-commands.ts'

/** Quotes a word for bash and zsh. */
export const quote = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`

/** A branch of the `case` over `position:first word second word`; positions count from 1. */
export type Branch = { readonly pattern: string; readonly offers: readonly (readonly [name: string, help: string])[] }

const flagOffers = (flags: readonly DescribedFlag[]) =>
  flags.flatMap(({ name, short, help }) => [
    [`--${name}`, help] as const,
    ...(short === undefined ? [] : [[`-${short}`, help] as const]),
  ])

/** What may be completed where, the first matching branch first: the commands, their second words, their flags. */
export const createBranches = (commands: readonly DescribedCommand[]): Branch[] => {
  const groups = [...groupCommands(commands)]
  const summaryOf = ([first]: DescribedCommand['words'], members: readonly DescribedCommand[]) =>
    members.length > 1 ? `${first} commands` : (members[0]?.summary ?? '')
  const seconds = groups.flatMap(([first, members]) => {
    const offers = members.flatMap(({ words: [, second], summary }) =>
      second === undefined ? [] : [[second, summary] as const],
    )
    return offers.length === 0 ? [] : [{ pattern: `2:${quote(`${first} `)}*`, offers }]
  })
  const flags = commands.map(({ words: [first, second], flags: own }) => ({
    pattern: second === undefined ? `*:${quote(`${first} `)}*` : `*:${quote(`${first} ${second}`)}`,
    offers: flagOffers(own),
  }))
  const firsts = groups.map(([first, members]) => [first, summaryOf([first], members)] as const)
  return [{ pattern: '1:*', offers: firsts }, ...seconds, ...flags]
}

/** The flags, with dashes, that are followed by a value of this kind in every command that has them. */
export const flagsWithValue = (commands: readonly DescribedCommand[], kind: 'path' | 'text'): string[] => {
  const flags = Map.groupBy(
    commands.flatMap((command) => command.flags),
    ({ name }) => name,
  )
  return [...flags.values()].flatMap((same) => {
    const [{ name, short } = { name: '', short: undefined }] = same
    if (!same.every(({ value }) => value === kind)) return []
    return [`--${name}`, ...(short === undefined ? [] : [`-${short}`])]
  })
}
