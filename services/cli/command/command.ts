import type { ParseArgsOptionsConfig } from 'node:util'
import type { Env } from '#shared/config/read-env.ts'

/** A command-line flag. */
export type Flag = {
  readonly type: 'string' | 'boolean'
  /** Placeholder of the value in the help, such as `N`. */
  readonly value?: string
  readonly help: string
  readonly multiple?: boolean
  readonly short?: string
}

/** The parsed arguments after the command's name. */
export type ParsedArgs = {
  readonly flags: Readonly<Record<string, string | boolean | readonly (string | boolean)[] | undefined>>
  readonly operands: readonly string[]
}

/** Inputs and outputs of a running command. */
export type CommandContext = {
  readonly env: Env
  readonly stop: AbortSignal
  /** Folder of the project. */
  readonly root: string
  /** Writes the result to standard output: `text`, or `json` with `--json`. Call it once. */
  readonly print: (result: { readonly json: unknown; readonly text: string }) => void
  /** Writes one of many results as it happens: a line of `text`, if it has one, or with `--json` a JSON document on a line. */
  readonly printEach: (result: { readonly json: unknown; readonly text?: string }) => void
  /** Writes what has no form in JSON, such as an image, to standard output. */
  readonly write: (bytes: Uint8Array | string) => void
  /** Writes a line to standard error. */
  readonly note: (line: string) => void
  /** Standard output; undefined if it is not a terminal. */
  readonly terminal?: Screen | undefined
  /** Standard error, for the progress of long work; undefined if it is not a terminal. */
  readonly progress?: Screen | undefined
  /** Standard input. */
  readonly input?: AsyncIterable<Buffer> | undefined
  /** Asks the person at the terminal and returns the line that they type; undefined if there is none. */
  readonly ask?: ((question: string) => Promise<string>) | undefined
}

/** A terminal for output. */
export type Screen = {
  readonly write: (text: string) => void
  /** The current size; it changes when the window is resized. */
  readonly size: () => { readonly columns: number; readonly rows: number }
}

/** A subcommand of `bin/shutterfleet`. */
export type Command = {
  /** The name (one or two words), then the operands in capitals, all required, then flags: `key revoke KEY_ID [--data DIR]`. */
  readonly usage: string
  readonly summary: string
  /**
   * What `--json` prints, with the names of its fields: `{ id, name? }`, `[{ id }]` for a list. `…` stands for fields that are
   * documented elsewhere.
   */
  readonly json: string
  readonly flags: Readonly<Record<string, Flag>>
  /** Name of the flag that stands in for the operands. */
  readonly operandsUnless?: string
  /** What operands are, by their name in the usage, for the error of a missing one. */
  readonly operandHelp?: Readonly<Record<string, string>>
  readonly run: (context: CommandContext, args: ParsedArgs) => Promise<void>
}

/** The flags that every command has. */
export const commonFlags = {
  json: { type: 'boolean', help: 'print only JSON on standard output' },
  help: { type: 'boolean', short: 'h', help: 'print this' },
} as const satisfies Readonly<Record<string, Flag>>

/** The data folder of the installation that a command acts on. */
export const dataFlag: Flag = {
  type: 'string',
  value: 'DIR',
  help: 'data folder of the installation (default .shutterfleet)',
}

/** Confirms what cannot be undone, without a question; see `confirm`. */
export const yesFlag: Flag = { type: 'boolean', help: 'do it without asking' }

/** A usage error, whose message names the flag or operand. The process exits with code 2. */
export class UsageError extends Error {}

/** A command's flags as options of `parseArgs` (node:util). */
export const parserOptions = (flags: Command['flags']): ParseArgsOptionsConfig =>
  Object.fromEntries(
    Object.entries<Flag>({ ...commonFlags, ...flags }).map(([name, { type, multiple = false, short }]) => [
      name,
      { type, multiple, ...(short && { short }) },
    ]),
  )

/** The value of a flag; undefined if it was not given. Throws `UsageError` if it is empty. */
export const flagText = (args: ParsedArgs, name: string): string | undefined => {
  const value = args.flags[name]
  if (value === '') throw new UsageError(`--${name} must not be empty`)
  return typeof value === 'string' ? value : undefined
}

/** The value of a required flag. Throws `UsageError` if it is missing or empty. */
export const requiredText = (args: ParsedArgs, name: string): string => {
  const value = flagText(args, name)
  if (value === undefined) throw new UsageError(`--${name} is missing`)
  return value
}

/** The whole number of a flag, `fallback` if it was not given. Throws `UsageError` that names the flag and its bounds. */
export const flagCount = (
  args: ParsedArgs,
  name: string,
  { min, max, fallback }: { readonly min: number; readonly max: number; readonly fallback: number },
): number => {
  const text = flagText(args, name) ?? String(fallback)
  if (/^\d{1,9}$/.test(text) && Number(text) >= min && Number(text) <= max) return Number(text)
  throw new UsageError(`--${name} ${text}: must be a whole number from ${min} to ${max}`)
}

/** All values of a repeatable flag. */
export const flagTexts = (args: ParsedArgs, name: string): readonly string[] => {
  const value = args.flags[name]
  return Array.isArray(value) ? value.map(String) : []
}
