import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:net'
import { AppError } from '#shared/errors/app-error.ts'
import type { BrowserUser } from '#worker/protocol/protocol.ts'

/** The users of the browsers of a worker that runs as root, all in one group. */
export type BrowserUsers = AsyncDisposable & { readonly all: readonly BrowserUser[] }

const configurationError = (message: string, cause?: unknown) =>
  new AppError('CONFIGURATION', { message, publicMessage: message, cause })

const findGroupId = (name: string): number => {
  try {
    return Number(execFileSync('id', ['-g', name], { encoding: 'utf8', stdio: 'pipe' }))
  } catch (cause) {
    throw configurationError(
      `SHUTTERFLEET_WORKER_BROWSER_USER = ${name}, there is no such user: create it with 'useradd --system ${name}', or do not run the worker as root`,
      cause,
    )
  }
}

/** The subordinate user ids of a user, from the content of `/etc/subuid`; see subuid(5). */
export const subordinateIds = function* (name: string, subuid: string): Generator<number> {
  for (const line of subuid.split('\n')) {
    const [owner, first, count] = line.split(':')
    if (owner !== name) continue
    for (let offset = 0; offset < Number(count); offset += 1) yield Number(first) + offset
  }
}

const readSubuid = (): string => {
  try {
    return readFileSync('/etc/subuid', 'utf8')
  } catch {
    return ''
  }
}

/** Locks a user id by an abstract socket, which the kernel closes with the process. Undefined if it is locked already. */
const lock = async (userId: number): Promise<Server | undefined> => {
  const server = createServer((client) => client.destroy())
  server.listen(`\0shutterfleet-browser-${userId}`)
  try {
    await once(server, 'listening')
    return server.unref()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error
    return undefined
  }
}

/**
 * Reserves `count` subordinate user ids of the user `name` until disposed; no other worker on the machine gets them. Undefined
 * if the worker is not root, so that browsers run as its own user. Throws `CONFIGURATION` if there is no such user, or too few
 * ids are free.
 */
export const reserveBrowserUsers = async (name: string, count: number): Promise<BrowserUsers | undefined> => {
  if (process.getuid?.() !== 0) return undefined
  const groupId = findGroupId(name)
  await using stack = new AsyncDisposableStack()
  const all: BrowserUser[] = []
  for (const userId of subordinateIds(name, readSubuid())) {
    if (all.length === count) break
    const server = await lock(userId)
    if (!server) continue
    stack.defer(() => void server.close())
    all.push({ userId, groupId })
  }
  if (all.length < count) {
    throw configurationError(
      `SHUTTERFLEET_WORKER_BROWSER_USER = ${name}, of whose subordinate user ids in /etc/subuid ${all.length} are free and ${count} are needed, two for each slot: add some that nobody else has with 'usermod --add-subuids FIRST-LAST ${name}', or do not run the worker as root`,
    )
  }
  const owned = stack.move()
  return { all, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}
