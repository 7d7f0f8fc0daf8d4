import type { ParseArgsOptionsConfig } from 'node:util'
import type { Env } from '#shared/config/read-env.ts'

/** One flag of a command. */
export type Flag = {
  readonly type: 'string' | 'boolean'
  /** What stands for its value in the help, such as `N`. */
  readonly value?: string
  readonly help: string
  readonly multiple?: boolean
  readonly short?: string
}

/** What was typed after the command's name. */
export type Typed = {
  readonly flags: Readonly<Record<string, string | boolean | readonly (string | boolean)[] | undefined>>
  readonly operands: readonly string[]
}

/** What a command gets from the process that it runs in. */
export type CommandContext = {
  readonly env: Env
  readonly stop: AbortSignal
  /** Folder of the project. */
  readonly root: string
  /** Writes the result: `text` for people, or `json` with `--json`. Call it once. */
  readonly print: (result: { readonly json: unknown; readonly text: string }) => void
  /** Writes a line to standard error. */
  readonly note: (line: string) => void
  /** Standard output, where it is a terminal. */
  readonly terminal?: Screen | undefined
}

/** A terminal that is written to. */
export type Screen = {
  readonly write: (text: string) => void
  /** Its size now; it may change while it is written to. */
  readonly size: () => { readonly columns: number; readonly rows: number }
}

/** One command of `bin/shutterfleet`. */
export type Command = {
  /** Its name, as one or two words, then its operands in capitals, all required, such as `key revoke KEY_ID`, then flags. */
  readonly usage: string
  readonly summary: string
  readonly flags: Readonly<Record<string, Flag>>
  readonly run: (context: CommandContext, typed: Typed) => Promise<void>
}

/** The flags that every command has. */
export const commonFlags = {
  json: { type: 'boolean', help: 'print one JSON document on standard output and nothing else there' },
  help: { type: 'boolean', short: 'h', help: 'print this' },
} as const satisfies Readonly<Record<string, Flag>>

/** The data folder of the installation that a command is about. */
export const dataFlag: Flag = {
  type: 'string',
  value: 'DIR',
  help: 'data folder of the installation (default .shutterfleet)',
}

/** Wrong usage: its message names the flag or operand. The process ends with 2. */
export class UsageError extends Error {}

/** A command's flags in the words of `node:util`. */
export const parserOptions = (flags: Command['flags']): ParseArgsOptionsConfig =>
  Object.fromEntries(
    Object.entries<Flag>({ ...commonFlags, ...flags }).map(([name, { type, multiple = false, short }]) => [
      name,
      { type, multiple, ...(short && { short }) },
    ]),
  )

/** The value of a flag, or undefined where it was not given. Throws `UsageError` where it is empty. */
export const flagText = (typed: Typed, name: string): string | undefined => {
  const value = typed.flags[name]
  if (value === '') throw new UsageError(`--${name} must not be empty`)
  return typeof value === 'string' ? value : undefined
}

/** The value of a flag that must be given. Throws `UsageError` where it is missing or empty. */
export const requiredText = (typed: Typed, name: string): string => {
  const value = flagText(typed, name)
  if (value === undefined) throw new UsageError(`--${name} is missing`)
  return value
}

/** All values of a flag that may be given several times. */
export const flagTexts = (typed: Typed, name: string): readonly string[] => {
  const value = typed.flags[name]
  return Array.isArray(value) ? value.map(String) : []
}
