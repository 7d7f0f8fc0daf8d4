import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { endWithParent } from '#test/helpers/cluster-processes.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { freePort } from '#test/helpers/free-port.ts'

const program = resolve(import.meta.dirname, '../../../.tools/release-tools/registry')

/** An OCI registry (distribution) at `host`, whose content is in `folder`; stops when disposed, or with this process. */
export type Registry = AsyncDisposable & { readonly host: string; readonly folder: string }

/** Starts a registry on this machine that keeps its content in `folder`. */
export const startRegistry = async (folder: string): Promise<Registry> => {
  const host = `localhost:${await freePort()}`
  const file = join(folder, 'registry.json')
  await writeFile(
    file,
    JSON.stringify({
      version: '0.1',
      log: { level: 'error' },
      storage: { filesystem: { rootdirectory: join(folder, 'content') } },
      http: { addr: host },
    }),
  )
  const registry = spawn('setpriv', [...endWithParent, program, 'serve', file], { stdio: 'ignore' })
  const ended = once(registry, 'exit')
  await eventually(async () => (await fetch(`http://${host}/v2/`)).ok, { what: 'the registry responds' })
  return {
    host,
    folder: join(folder, 'content'),
    [Symbol.asyncDispose]: async () => {
      registry.kill('SIGTERM')
      await ended
    },
  }
}
