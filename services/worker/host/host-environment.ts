import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, readdir, readlink, rm, chmod } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { provideLists } from '#worker/block-lists/provide-lists.ts'
import type { Events } from '#worker/telemetry/events.ts'
import { writeFontAliases } from './font-aliases.ts'
import { makePageTrust } from './page-trust.ts'
import { createCanary } from './warm-up.ts'

const form = /^shutterfleet-browsers-(\d+)-(\d+)-/

/** Creates a folder for this process below `parent`, and removes the folders of workers that were killed. */
export const makeOwnFolder = async (parent: string): Promise<string> => {
  // A process of another namespace may share the folder and has ids that mean nothing here.
  const ownNamespace = /\d+/.exec(await readlink('/proc/self/ns/pid'))?.[0] ?? '0'
  for (const name of await readdir(parent)) {
    const [, namespace, pid] = form.exec(name) ?? []
    if (namespace !== ownNamespace || existsSync(`/proc/${pid}`)) continue
    // Another worker may be removing it at the same time.
    await rm(join(parent, name), { recursive: true, force: true }).catch(() => {})
  }
  return mkdtemp(join(parent, `shutterfleet-browsers-${ownNamespace}-${process.pid}-`))
}

/**
 * Creates what all browser hosts share: a parent folder, certificates, fonts, block lists, a canary. `hasUsers`: browsers do not run
 * as the worker's user.
 */
export const openHostEnvironment = async (
  { extraCa, blockLists: listsFolder }: { readonly extraCa: string; readonly blockLists: string },
  { hasUsers, events }: { readonly hasUsers: boolean; readonly events: Pick<Events, 'canaryReached'> },
) => {
  await using stack = new AsyncDisposableStack()
  const folder = await makeOwnFolder(tmpdir())
  stack.defer(() => rm(folder, { recursive: true, force: true }))
  const trust = await makePageTrust(folder, extraCa)
  const fonts = await writeFontAliases(folder)
  const blockLists = await provideLists(listsFolder, { outputFolder: join(folder, 'block-lists') })
  // Without namespaces, the other users traverse this folder to reach theirs.
  if (hasUsers) await chmod(folder, 0o711)
  const { server, connections } = createCanary(events.canaryReached)
  stack.defer(() => void server.close())
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const owned = stack.move()
  return {
    folder,
    /** Certificate store for browsers; undefined if pages trust only the system's authorities. */
    trust,
    /** Configuration of fontconfig for browsers. */
    fonts,
    blockLists,
    /** Listens on the worker's loopback, which no page may reach. */
    canary: { connections, port },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

/** See `openHostEnvironment`. */
export type HostEnvironment = Readonly<Awaited<ReturnType<typeof openHostEnvironment>>>
