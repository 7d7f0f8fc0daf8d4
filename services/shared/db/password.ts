import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { readBounded } from '#shared/config/read-bounded.ts'
import { type Env, prefix, type SettingValues } from '#shared/config/read-env.ts'
import type { databasePasswordSettings } from '#shared/config/settings/outside.ts'
import { AppError } from '#shared/errors/app-error.ts'
import type { IdentityReports } from '#shared/telemetry/identity-events.ts'

/** Reads or makes the password of a new connection. Throws `SERVICE_UNAVAILABLE`. */
export type PasswordSource = () => Promise<string>

const run = promisify(execFile)
/** Less than the time for a connection, within which the driver asks for the password: so the error names the program. */
const commandMs = 4000
const bytesMax = 65_536
/** Tokens of a cloud are valid for at least five minutes when they are made. */
const reuseMs = 60_000
/** Connections that fail together do not start a failing program one after the other. */
const failureMs = 1000

const unavailable = (problem: string, cause: unknown) =>
  new AppError('SERVICE_UNAVAILABLE', { message: `password of PostgreSQL: ${problem}`, cause })

const readPasswordFile = async (path: string): Promise<string> => {
  const text = await readBounded(path, bytesMax).catch((cause: unknown) => {
    throw unavailable(`${path} cannot be read`, cause)
  })
  const password = text.trimEnd()
  // It may be read while it is being written.
  if (password === '') throw unavailable(`${path} is empty`, undefined)
  return password
}

/** Whether the program gets a variable: no setting of ours, of which some are secrets of the service. */
const isForeign = ([name]: readonly [string, unknown]) => !name.startsWith(prefix)

const reasonChars = 200

/**
 * The last line of a program's standard error, such as `AccessDenied`; '' if there is none. Words of 24 characters or more are replaced, as
 * they may be tokens or parts of one; so are all but printable ASCII characters.
 */
const reasonIn = (stderr: string): string =>
  (stderr.trimEnd().split('\n').at(-1) ?? '')
    .replaceAll(/[^ -~]/g, '?')
    .replaceAll(/[\w+/=-]{24,}/g, '…')
    .slice(0, reasonChars)

/** What a program prints on its standard output, which no error contains. */
const runCommand = async ([program = '', ...args]: readonly string[], operator: Env): Promise<string> => {
  const env = Object.fromEntries(Object.entries(operator).filter(isForeign))
  const options = { timeout: commandMs, killSignal: 'SIGKILL', maxBuffer: bytesMax, env } as const
  type Fault = {
    readonly code?: unknown
    readonly signal?: unknown
    readonly killed?: boolean
    readonly stderr?: string
  }
  const { stdout } = await run(program, args, options).catch(({ code, signal, killed, stderr = '' }: Fault) => {
    const fault = killed ? `did not end within ${commandMs / 1000} s` : `failed (${String(signal ?? code)})`
    const reason = reasonIn(stderr)
    throw unavailable(`${program} ${fault}${reason && `: ${reason}`}`, undefined)
  })
  const password = stdout.trim()
  if (password === '') throw unavailable(`${program} printed nothing`, undefined)
  return password
}

/** Runs `make` when it is needed, once at a time, and reuses what it returned for a minute, or its error for a second. */
const reused = (make: PasswordSource, nowMs: () => number): PasswordSource => {
  let made: { readonly password: Promise<string>; untilMs: number } | undefined
  return () => {
    if (made && nowMs() < made.untilMs) return made.password
    const next = { password: make(), untilMs: nowMs() + reuseMs }
    made = next
    next.password.catch(() => {
      next.untilMs = nowMs() + failureMs
    })
    return next.password
  }
}

type Options = {
  /** A program gets its variables that are no settings. */
  readonly env?: Env
  readonly nowMs?: () => number
  readonly reports?: IdentityReports | undefined
}

/** The source that the settings name; undefined if they name none. Throws `CONFIGURATION` if they name two. */
export const passwordSource = (
  { databasePasswordFile: path, databasePasswordCommand: command }: SettingValues<typeof databasePasswordSettings>,
  { env = process.env, nowMs = Date.now, reports }: Options = {},
): PasswordSource | undefined => {
  if (path !== '' && command.length > 0) {
    throw new AppError('CONFIGURATION', {
      publicMessage:
        'SHUTTERFLEET_DATABASE_PASSWORD_FILE and SHUTTERFLEET_DATABASE_PASSWORD_COMMAND are both set; set one of them',
    })
  }
  const reported = (setting: string, read: PasswordSource) => async () => {
    try {
      const password = await read()
      reports?.renewed()
      return password
    } catch (error) {
      reports?.failed(setting, error)
      throw error
    }
  }
  if (path !== '') return reported('SHUTTERFLEET_DATABASE_PASSWORD_FILE', () => readPasswordFile(path))
  if (command.length === 0) return undefined
  return reused(
    reported('SHUTTERFLEET_DATABASE_PASSWORD_COMMAND', () => runCommand(command, env)),
    nowMs,
  )
}
