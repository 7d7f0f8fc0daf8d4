import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { closestName } from '#shared/schema/closest-name.ts'
import {
  type Command,
  type CommandContext,
  commonFlags,
  parserOptions,
  type ParsedArgs,
  UsageError,
} from './command.ts'
import { describeError } from './describe-error.ts'
import { commandHelp, operandsOf, overview } from './help.ts'

/** Loads each command lazily: a command's file is read only when it runs or its help is shown. */
export type CommandTable = Readonly<Record<string, () => Promise<Command>>>

/** The command context without the output of results, which depends on `--json`. */
export type Terminal = Omit<CommandContext, 'print' | 'printEach'>

/** Exit codes of `bin/shutterfleet`. */
const exitCodes = { success: 0, failure: 1, usage: 2 } as const

/** Prefix of the error line on standard error. */
export const failurePrefix = 'shutterfleet: '

/** The two-word commands that begin with `group`. */
const namesIn = (table: CommandTable, group: string): string[] =>
  Object.keys(table).filter((name) => name.startsWith(`${group} `))

/** The command that the first one or two of `words` resemble. */
const closestCommand = (names: readonly string[], words: readonly string[]): string | undefined => {
  const [ofTwo, ofOne] = [names.filter((name) => name.includes(' ')), names.filter((name) => !name.includes(' '))]
  return closestName(ofOne, words[0] ?? '') ?? closestName(ofTwo, words.slice(0, 2).join(' '))
}

const describeGroup = ([group = '', second = '']: readonly string[], names: readonly string[]): string => {
  const suggestion = closestName(names, `${group} ${second}`)
  if (second === '' || suggestion === undefined) return `${group} needs a second word: ${names.join(', ')}`
  return `${group} ${second} is not a command; did you mean '${suggestion}'?`
}

const find = (table: CommandTable, words: readonly string[]) => {
  for (const count of [2, 1]) {
    const name = words.slice(0, count).join(' ')
    const load = words.length >= count ? table[name] : undefined
    if (load) return { load, rest: words.slice(count) }
  }
  const names = Object.keys(table)
  const [first] = words
  if (first === undefined) throw new UsageError(`no command given; commands are: ${names.join(', ')}`)
  const inGroup = namesIn(table, first)
  if (inGroup.length > 0) throw new UsageError(describeGroup(words, inGroup))
  const suggestion = closestCommand(names, words)
  throw new UsageError(
    `${first} is not a command; ${suggestion === undefined ? `commands are: ${names.join(', ')}` : `did you mean '${suggestion}'?`}`,
  )
}

const describeUnknownFlag = ({ usage, flags }: Command, name: string): string => {
  const suggestion = closestName(Object.keys({ ...flags, ...commonFlags }), name)
  if (suggestion !== undefined) return `--${name} is not an option; did you mean --${suggestion}?`
  return flags['parameter'] === undefined
    ? `--${name} is not an option of: ${usage}`
    : `--${name} is not an option; a parameter of the capture has the form -p ${name}=VALUE`
}

const parse = (command: Command, args: readonly string[]): ParsedArgs => {
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      options: parserOptions(command.flags),
      allowPositionals: true,
      strict: true,
    })
    return { flags: values, operands: positionals }
  } catch (error) {
    // The first sentence names the flag; the rest explains how to pass operands that begin with a dash.
    const [reason = ''] = (error as Error).message.split('. ')
    const [, unknown] = /^Unknown option '--(.+)'$/.exec(reason) ?? []
    throw new UsageError(unknown === undefined ? reason : describeUnknownFlag(command, unknown), { cause: error })
  }
}

const checkOperands = ({ usage, operandsUnless, operandHelp }: Command, { operands: supplied, flags }: ParsedArgs) => {
  const isReplaced = operandsUnless !== undefined && flags[operandsUnless] !== undefined
  const operands = isReplaced ? [] : operandsOf(usage)
  const missing = operands[supplied.length]
  if (missing !== undefined) {
    const help = operandHelp?.[missing]
    throw new UsageError(`${missing} is missing${help === undefined ? '' : `: ${help}`}`)
  }
  if (supplied.length > operands.length) throw new UsageError(`${supplied[operands.length]} is an unexpected argument`)
}

const isHelp = (word: string | undefined) => word === '--help' || word === '-h' || word === 'help'

const renderOverview = async (table: CommandTable, names: readonly string[]): Promise<string> => {
  const shown = Object.entries(table).filter(([name]) => names.includes(name))
  return overview(await Promise.all(shown.map(async ([name, load]) => [name, await load()] as const)))
}

const writeVersion = async ({ root, write }: Terminal, asJson: boolean): Promise<void> => {
  const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { version: string }
  write(asJson ? `${JSON.stringify({ version })}\n` : `shutterfleet ${version}\n`)
}

const dispatch = async (table: CommandTable, args: readonly string[], terminal: Terminal): Promise<void> => {
  const [first = '', second] = args
  if (isHelp(first)) return terminal.write(await renderOverview(table, Object.keys(table)))
  if (first === '--version') return writeVersion(terminal, args.includes('--json'))
  if (isHelp(second) && !table[first] && namesIn(table, first).length > 0) {
    return terminal.write(await renderOverview(table, namesIn(table, first)))
  }
  const { load, rest } = find(table, args)
  const command = await load()
  const parsed = parse(command, rest)
  if (parsed.flags['help']) return terminal.write(commandHelp(command))
  checkOperands(command, parsed)
  const printEach: CommandContext['printEach'] = ({ json, text }) => {
    if (parsed.flags['json']) terminal.write(`${JSON.stringify(json)}\n`)
    else if (text !== undefined) terminal.write(`${text}\n`)
  }
  await command.run({ ...terminal, print: printEach, printEach }, parsed)
}

/** Runs the command that `args` name and returns the exit code. Errors go to standard error, one line each. */
export const runCommand = async (table: CommandTable, args: readonly string[], terminal: Terminal): Promise<number> => {
  try {
    await dispatch(table, args, terminal)
    return exitCodes.success
  } catch (thrown) {
    if (thrown instanceof UsageError) {
      terminal.note(failurePrefix + thrown.message)
      return exitCodes.usage
    }
    terminal.note(failurePrefix + describeError(thrown))
    return exitCodes.failure
  }
}
