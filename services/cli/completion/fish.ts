import { type DescribedCommand, type DescribedFlag, groupCommands } from './describe-commands.ts'

const quote = (text: string): string => `'${text.replaceAll(/['\\]/g, String.raw`\$&`)}'`

/** Options of `complete` for what follows a flag: nothing, a path, or anything else. */
const valueOptions = { none: '-f', path: '-r -F', text: '-x' } as const

const seen = (words: readonly string[]) => words.map((word) => `__fish_seen_subcommand_from ${word}`).join('; and ')

const flagLine = (condition: string, { name, short, help, value }: DescribedFlag) =>
  `complete -c shutterfleet -n ${quote(condition)} -l ${name}${short === undefined ? '' : ` -s ${short}`} ${valueOptions[value]} -d ${quote(help)}`

const commandLines = ({ words, flags }: DescribedCommand): string[] => flags.map((flag) => flagLine(seen(words), flag))

const groupLines = ([first, members]: readonly [string, readonly DescribedCommand[]]): string[] => {
  const [{ words: [, only], summary } = { words: [first], summary: '' }] = members
  const title = only === undefined ? summary : `${first} commands`
  const seconds = members.flatMap(({ words: [, second] }) => (second === undefined ? [] : [second]))
  const condition = `${seen([first])}; and not __fish_seen_subcommand_from ${seconds.join(' ')}`
  return [
    `complete -c shutterfleet -n __fish_use_subcommand -f -a ${first} -d ${quote(title)}`,
    ...members.flatMap(({ words: [, second], summary: text }) =>
      second === undefined ? [] : [`complete -c shutterfleet -n ${quote(condition)} -f -a ${second} -d ${quote(text)}`],
    ),
  ]
}

/** The completion script for fish: names with their descriptions. */
export const fishScript = (commands: readonly DescribedCommand[]): string =>
  [
    '# Completion of shutterfleet for fish.',
    ...[...groupCommands(commands)].flatMap(groupLines),
    ...commands.flatMap(commandLines),
    '',
  ].join('\n')
