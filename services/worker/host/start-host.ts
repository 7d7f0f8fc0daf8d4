import { type ChildProcess, spawn } from 'node:child_process'
import { chown, mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { HostSettings } from '#worker/browser-host/protocol.ts'
import { browserHome } from '#worker/isolation/file-tree.ts'
import { type Isolation, isolated, systemPath } from '#worker/isolation/isolated.ts'
import { type Host, type HostBounds, steerHost } from './steer-host.ts'

/** What starting a host takes beside the settings that it gets itself. */
export type HostStart = HostBounds & {
  readonly settings: Omit<HostSettings, 'hasOwnFiles'>
  readonly isolation: Isolation
  /** Folder that the host gets for its own by flags alone; it must not exist yet. */
  readonly folder: string
}

/**
 * Of glibc's malloc. By default each of the threads that encode images gets one, and what they free in theirs is not given back:
 * 50 MB more after 75 captures as png of 5 MB, and growing.
 */
const arenasMax = '2'

const program = join(import.meta.dirname, '../browser-host/main.ts')

const launch = ({ settings, isolation, folder }: HostStart): ChildProcess => {
  const isApart = isolation.network === 'namespace'
  const home = isApart ? browserHome : folder
  const { blockLists, trust } = settings
  const inside = { ...settings, blockLists: '/run/block-lists', ...(trust && { trust: '/run/trust' }) }
  const mounts = [
    { from: blockLists, to: inside.blockLists },
    ...(trust && inside.trust ? [{ from: trust, to: inside.trust }] : []),
  ]
  const [file, ...args] = isolated(
    [
      process.execPath,
      program,
      JSON.stringify({ ...(isApart ? inside : settings), hasOwnFiles: isApart } satisfies HostSettings),
    ],
    isolation,
    mounts,
  )
  return spawn(file, args, {
    cwd: isApart ? '/' : folder,
    detached: true,
    env: { PATH: systemPath, HOME: home, TMPDIR: home, LANG: 'C.UTF-8', MALLOC_ARENA_MAX: arenasMax },
    stdio: ['ignore', 'ignore', 'pipe', 'ipc', 'pipe'],
  })
}

const makeHome = async ({ folder, settings: { user } }: HostStart): Promise<void> => {
  await mkdir(folder, { mode: 0o700 })
  if (user) await chown(folder, user.userId, user.groupId)
}

/** Starts a browser host in its isolation, as `steerHost` does; its folder is removed with it. */
export const startHost = async (start: HostStart, stop: AbortSignal): Promise<Host> => {
  const remove = () => rm(start.folder, { recursive: true, force: true, maxRetries: 5 })
  if (start.isolation.network === 'flags-only') await makeHome(start)
  try {
    const host = await steerHost(launch(start), start, stop)
    return {
      ...host,
      [Symbol.asyncDispose]: async () => {
        await host[Symbol.asyncDispose]()
        await remove()
      },
    }
  } catch (error) {
    await remove()
    throw error
  }
}
