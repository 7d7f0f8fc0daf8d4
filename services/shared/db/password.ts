import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { SettingValues } from '#shared/config/read-env.ts'
import type { databasePasswordSettings } from '#shared/config/settings/outside.ts'
import { AppError } from '#shared/errors/app-error.ts'
import { readBounded } from '#shared/config/read-bounded.ts'

/** Reads or makes the password of a new connection. Throws `SERVICE_UNAVAILABLE`. */
export type PasswordSource = () => Promise<string>

const run = promisify(execFile)
const commandMs = 10_000
const outputBytes = 65_536
/** Tokens of a cloud are valid for at least five minutes when they are made. */
const reuseMs = 60_000

const unavailable = (problem: string, cause: unknown) =>
  new AppError('SERVICE_UNAVAILABLE', { message: `password of PostgreSQL: ${problem}`, cause })

const readPasswordFile = async (path: string): Promise<string> => {
  const text = await readBounded(path, outputBytes).catch((cause: unknown) => {
    throw unavailable(`${path} cannot be read`, cause)
  })
  return text.trimEnd()
}

/** What a program prints on its standard output; its error is cut, and may not contain a token. */
const runCommand = async ([program = '', ...args]: readonly string[]): Promise<string> => {
  const options = { timeout: commandMs, killSignal: 'SIGKILL', maxBuffer: outputBytes } as const
  const { stdout } = await run(program, args, options).catch(
    ({ code, signal }: { code?: unknown; signal?: unknown }) => {
      throw unavailable(`${program} failed (${String(signal ?? code)})`, undefined)
    },
  )
  const password = stdout.trim()
  if (password === '') throw unavailable(`${program} printed nothing`, undefined)
  return password
}

/** Runs `make` when it is needed, once at a time, and reuses what it returned for a minute. */
const reused = (make: PasswordSource, nowMs: () => number): PasswordSource => {
  let made: { readonly password: Promise<string>; readonly untilMs: number } | undefined
  return () => {
    if (made && nowMs() < made.untilMs) return made.password
    const next = { password: make(), untilMs: nowMs() + reuseMs }
    made = next
    next.password.catch(() => {
      if (made === next) made = undefined
    })
    return next.password
  }
}

/** The source that the settings name; undefined if they name none. Throws `CONFIGURATION` if they name two. */
export const passwordSource = (
  { databasePasswordFile: path, databasePasswordCommand: command }: SettingValues<typeof databasePasswordSettings>,
  nowMs = Date.now,
): PasswordSource | undefined => {
  if (path !== '' && command.length > 0) {
    throw new AppError('CONFIGURATION', {
      publicMessage:
        'SHUTTERFLEET_DATABASE_PASSWORD_FILE and SHUTTERFLEET_DATABASE_PASSWORD_COMMAND are both set; set one of them',
    })
  }
  if (path !== '') return () => readPasswordFile(path)
  return command.length > 0 ? reused(() => runCommand(command), nowMs) : undefined
}
