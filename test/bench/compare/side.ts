import { execFile } from 'node:child_process'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { processTree } from '#test/helpers/process-tree.ts'
import { startSystem, type System } from '#test/helpers/system.ts'
import { createKeys } from '#test/bench/create-keys.ts'
import { onEnd } from './on-end.ts'

const run = promisify(execFile)

/** One of the two versions. */
export type Side = {
  readonly tree: string
  /** Starts the whole system on a copy of a data folder that was made once. */
  readonly start: () => Promise<Running>
}

/** A whole system of one version. */
export type Running = AsyncDisposable & {
  readonly system: System
  /** Keys of accounts without limits but that of unfinished captures. */
  readonly keys: readonly string[]
}

/** Process ids of each `up` that runs. */
const running = new Set<number>()
// A frozen one would not end with this program.
onEnd(() => {
  for (const pid of running) process.kill(pid, 'SIGKILL')
})

/** Makes the data folder of a version, with `accounts` accounts, and starts copies of it below `folder`. */
export const createSide = async (
  tree: string,
  folder: string,
  { accounts, args }: { readonly accounts: number; readonly args: readonly string[] },
): Promise<Side> => {
  const program = join(tree, 'bin/shutterfleet')
  const template = join(folder, 'template')
  const first = await startSystem(args, { program, dataDir: template })
  const keys = await createKeys(program, template, accounts)
  await first.stop()
  let starts = 0
  return {
    tree,
    start: async () => {
      starts += 1
      const dataDir = join(folder, `run-${starts}`)
      // PostgreSQL's files may belong to another user, which Node's own copy does not keep.
      await run('cp', ['-a', template, dataDir])
      const system = await startSystem(args, { program, dataDir })
      running.add(system.pid)
      const stop = async () => {
        // Accepting is measured with `up` frozen.
        process.kill(system.pid, 'SIGCONT')
        await system.stop()
        running.delete(system.pid)
        await rm(dataDir, { recursive: true })
      }
      return { system, keys, [Symbol.asyncDispose]: stop }
    },
  }
}

/** Ends controller and workers for good, so that nothing takes what is accepted: `up` is frozen and cannot restart them. */
export const endWorkers = async ({ system }: Running): Promise<void> => {
  const { services } = await system.readLocal()
  const controller = services.find(({ name }) => name === 'controller')
  if (!controller) throw new Error('no controller')
  process.kill(system.pid, 'SIGSTOP')
  const mains = processTree(controller.pid).filter(({ command }) => /services\/\w+\/main\.[jt]s/.test(command))
  // Workers first: the rest of each ends with it.
  for (const { pid } of mains.toReversed()) process.kill(pid, 'SIGKILL')
}
