import { mkdirSync, mkdtempSync, readdirSync, readlinkSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { makeOwnFolder } from '#worker/host/host-environment.ts'

t.test(
  'host environment: creates a folder, and removes only those of workers of its process namespace that have exited',
  async (t) => {
    const parent = mkdtempSync(join(tmpdir(), 'own-'))
    t.teardown(() => rmSync(parent, { recursive: true }))
    const gone = 2 ** 22 - 1
    const namespace = /\d+/.exec(readlinkSync('/proc/self/ns/pid'))?.[0]
    const alive = `shutterfleet-browsers-${namespace}-${process.pid}-abc`
    const elsewhere = `shutterfleet-browsers-1-${gone}-abc`
    for (const name of [`shutterfleet-browsers-${namespace}-${gone}-abc/host`, alive, elsewhere, 'something-else']) {
      mkdirSync(join(parent, name), { recursive: true })
    }
    const made = await makeOwnFolder(parent)
    t.strictSame(
      new Set(readdirSync(parent).map((name) => join(parent, name))),
      new Set([made, join(parent, alive), join(parent, elsewhere), join(parent, 'something-else')]),
    )
  },
)
