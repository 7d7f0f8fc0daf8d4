import { chmod, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { readInstalledBrowsers } from '#worker/host/browser-versions.ts'

const now = Date.UTC(2026, 2, 31)

const program = async (t: Test, name: string, text: string, builtAtMs = now) => {
  const path = join(t.testdirName, name)
  await writeFile(path, `#!/bin/sh\n${text}\n`)
  await chmod(path, 0o755)
  await utimes(path, builtAtMs / 1000, builtAtMs / 1000)
  return path
}

t.test('browser versions: reads version and build time of each installed browser', async (t) => {
  t.testdir()
  const binaries = {
    shell: await program(t, 'shell', 'echo "HeadlessChrome 156.0.8078.108 built on Debian 13"'),
    full: await program(t, 'full', 'echo Google Chrome for Testing 131.0.6778.204', 0),
  }
  const failures: unknown[] = []
  const read = await readInstalledBrowsers({ prewarmed: 'shell', binaries }, now, (...failure) =>
    failures.push(failure),
  )
  t.strictSame(read, [
    { browser: 'shell', version: '156.0.8078.108', builtAtMs: now },
    { browser: 'full', version: '131.0.6778.204' },
  ])
  t.same(failures, [])
})

t.test('browser versions: one that fails or prints none is left out and reported', async (t) => {
  t.testdir()
  const binaries = {
    shell: await program(t, 'shell', 'exit 1'),
    full: await program(t, 'full', 'echo no version here'),
  }
  const failures: [string, string][] = []
  const read = await readInstalledBrowsers({ prewarmed: 'shell', binaries }, now, (browser, cause) =>
    failures.push([browser, String(cause)]),
  )
  t.same(read, [])
  t.match(
    failures.toSorted(([one], [other]) => one.localeCompare(other)),
    [
      ['full', /printed no version/],
      ['shell', /Command failed/],
    ],
  )
})
