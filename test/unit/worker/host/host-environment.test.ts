import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { makeOwnFolder } from '#worker/host/host-environment.ts'

t.test('host environment: creates a folder, and removes only those of workers that have exited', async (t) => {
  const parent = mkdtempSync(join(tmpdir(), 'own-'))
  t.teardown(() => rmSync(parent, { recursive: true }))
  const gone = 2 ** 22 - 1
  const alive = `shutterfleet-worker-${process.pid}-abc`
  for (const name of [`shutterfleet-worker-${gone}-abc/host`, alive, 'something-else']) {
    mkdirSync(join(parent, name), { recursive: true })
  }
  const made = await makeOwnFolder(parent)
  t.strictSame(
    new Set(readdirSync(parent).map((name) => join(parent, name))),
    new Set([made, join(parent, alive), join(parent, 'something-else')]),
  )
})
