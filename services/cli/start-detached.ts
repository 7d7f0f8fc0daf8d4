import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { open, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { openDataFolder } from '#local/data-folder.ts'
import type { Started } from '#local/run-local.ts'
import { type Env, prefix } from '#shared/config/read-env.ts'
import { localSettings } from '#shared/config/settings/local.ts'
import { AppError } from '#shared/errors/app-error.ts'
import { programPath } from '#shared/process/program-path.ts'
import { failurePrefix } from './command/run-command.ts'

/** The last error message in the log, without its prefix; undefined if there is none. */
const lastFailure = (log: string): string | undefined => {
  const at = log.lastIndexOf(failurePrefix)
  return at < 0 ? undefined : log.slice(at + failurePrefix.length).trimEnd()
}

/**
 * Runs `up` in a new session, with its standard error in `logs/local.log`, and waits for the JSON document that it prints
 * once it is up. Throws `SERVICE_UNAVAILABLE` with its error if it ends before; `stop` ends it.
 */
export const startDetached = async (from: { env: Env; stop: AbortSignal }): Promise<Started> => {
  const { logs } = await openDataFolder(from.env[prefix + localSettings.data.name] ?? localSettings.data.fallback ?? '')
  const logPath = join(logs, 'local.log')
  await using log = await open(logPath, 'a', 0o600)
  const { size } = await log.stat()
  const child = spawn(process.execPath, [programPath('cli/main'), 'up', '--json'], {
    detached: true,
    env: { ...from.env },
    stdio: ['ignore', 'pipe', log.fd],
  })
  const exited = once(child, 'exit')
  const { stdout } = child
  if (!stdout) throw new Error('a child with a pipe has no standard output')
  from.stop.addEventListener('abort', () => child.kill('SIGTERM'), { once: true })
  for await (const line of createInterface({ input: stdout })) {
    child.unref()
    stdout.destroy()
    return JSON.parse(line) as Started
  }
  await exited
  const output = (await readFile(logPath)).subarray(size).toString('utf8')
  throw new AppError('SERVICE_UNAVAILABLE', {
    publicMessage: lastFailure(output) ?? `'up' ended without an error message; its log is ${logPath}`,
  })
}
