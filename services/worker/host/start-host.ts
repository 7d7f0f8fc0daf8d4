import { type ChildProcess, spawn } from 'node:child_process'
import { chown, mkdir, rm } from 'node:fs/promises'
import { programPath, type Programs } from '#shared/process/program-path.ts'
import type { HostSettings } from '#worker/protocol/protocol.ts'
import { browserHome } from '#worker/isolation/file-tree.ts'
import { type Isolation, isolated, systemPath } from '#worker/isolation/isolated.ts'
import { type Host, type HostBounds, steerHost } from './steer-host.ts'

/** The settings, isolation and bounds of a host to start. */
export type HostStart = HostBounds & {
  readonly settings: Omit<HostSettings, 'hasOwnFiles'>
  readonly isolation: Isolation
  /** Home of a host without namespaces; must not exist yet. */
  readonly folder: string
  /** The programs that the host is of; those of this process by default. */
  readonly programs?: Programs
}

/**
 * `MALLOC_ARENA_MAX` of glibc. By default each thread that encodes images has an arena, whose freed memory is not returned to
 * the system: 50 MB more after 75 captures as png of 5 MB, and growing.
 */
const arenasMax = '2'

const launch = ({ settings, isolation, folder, programs }: HostStart): ChildProcess => {
  const isNamespaced = isolation.network === 'namespace'
  const home = isNamespaced ? browserHome : folder
  const { blockLists, fonts, trust } = settings
  const inside = {
    ...settings,
    blockLists: '/run/block-lists',
    fonts: '/run/fonts.conf',
    ...(trust && { trust: '/run/trust' }),
  }
  const mounts = [
    { from: blockLists, to: inside.blockLists },
    { from: fonts, to: inside.fonts },
    ...(programs ? [{ from: programs.root, to: programs.root }] : []),
    ...(trust && inside.trust ? [{ from: trust, to: inside.trust }] : []),
  ]
  const [file, ...args] = isolated(
    [
      process.execPath,
      programPath('worker/browser-host/main', programs),
      JSON.stringify({ ...(isNamespaced ? inside : settings), hasOwnFiles: isNamespaced } satisfies HostSettings),
    ],
    isolation,
    mounts,
  )
  return spawn(file, args, {
    cwd: isNamespaced ? '/' : folder,
    detached: true,
    env: { PATH: systemPath, HOME: home, TMPDIR: home, LANG: 'C.UTF-8', MALLOC_ARENA_MAX: arenasMax },
    stdio: ['ignore', 'ignore', 'pipe', 'ipc', 'pipe'],
  })
}

const makeHome = async ({ folder, settings: { user } }: HostStart): Promise<void> => {
  await mkdir(folder, { mode: 0o700 })
  if (user) await chown(folder, user.userId, user.groupId)
}

/** Starts a browser host in its isolation; see `steerHost`. Removes its folder when it ends. */
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
