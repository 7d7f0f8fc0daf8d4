import { existsSync } from 'node:fs'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'

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
