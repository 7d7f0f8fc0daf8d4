import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, readdir, rm, chmod } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { provideLists } from '#worker/block-lists/provide-lists.ts'
import type { Events } from '#worker/events.ts'
import { makePageTrust } from './page-trust.ts'
import { createCanary } from './warm-up.ts'

const form = /^shutterfleet-worker-(\d+)-/

/**
 * Makes a folder of this process's own below `parent`, and removes those of workers that were killed: they hold what
 * their browsers left.
 */
export const makeOwnFolder = async (parent: string): Promise<string> => {
  for (const name of await readdir(parent)) {
    const [, pid] = form.exec(name) ?? []
    if (pid === undefined || existsSync(`/proc/${pid}`)) continue
    // Another worker may be at it too.
    await rm(join(parent, name), { recursive: true, force: true }).catch(() => {})
  }
  return mkdtemp(join(parent, `shutterfleet-worker-${process.pid}-`))
}

/** Prepares what browsers need before any starts: a folder, below which hosts get theirs, certificates, block lists, a canary. They have users of their own or are the worker's. */
export const openHostEnvironment = async (
  { extraCa, blockLists: operators }: { readonly extraCa: string; readonly blockLists: string },
  { hasUsers, events }: { readonly hasUsers: boolean; readonly events: Pick<Events, 'canaryReached'> },
) => {
  await using stack = new AsyncDisposableStack()
  const folder = await makeOwnFolder(tmpdir())
  stack.defer(() => rm(folder, { recursive: true, force: true }))
  const trust = await makePageTrust(folder, extraCa)
  const blockLists = await provideLists(operators, { into: join(folder, 'block-lists') })
  // By flags alone hosts pass through the folder to what is theirs.
  if (hasUsers) await chmod(folder, 0o711)
  const { server, connections } = createCanary(events.canaryReached)
  stack.defer(() => void server.close())
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const owned = stack.move()
  return {
    folder,
    /** Certificate store for browsers' homes; undefined where pages trust what the system does. */
    trust,
    blockLists,
    /** Listens on the worker's loopback, which no page may ever reach. */
    canary: { connections, port },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

/** What a worker prepares for its browsers before it starts any. */
export type HostEnvironment = Readonly<Awaited<ReturnType<typeof openHostEnvironment>>>
