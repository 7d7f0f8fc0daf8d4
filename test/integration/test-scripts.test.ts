import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'

const root = join(import.meta.dirname, '../..')
const run = promisify(execFile)

const temporaryFolder = async (test: Test) => {
  const folder = await mkdtemp(join(root, '.tools/scripts-'))
  test.teardown(() => rm(folder, { recursive: true }))
  return folder
}

const printVersion = async (folder: string, version: string) => {
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, 'go'), `#!/bin/sh\necho ${version}\n`, { mode: 0o755 })
  return folder
}

t.test('provide-go: a Go that is too old on PATH is passed over for a newer one in a usual place', async (test) => {
  const home = await temporaryFolder(test)
  const old = await printVersion(join(home, 'old'), 'go1.19.8')
  const sdk = await printVersion(join(home, 'sdk/go1.99/bin'), 'go1.99.1')
  const provide = async (first: string) => {
    const env = { HOME: home, PATH: `${first}:/usr/bin:/bin` }
    const { stdout } = await run(join(root, 'scripts/provide-go.sh'), { env })
    return stdout.trim()
  }
  test.equal(await provide(old), sdk)
  test.equal(await provide(await printVersion(join(home, 'new'), 'go1.26.0')), join(home, 'new'))
})

t.test('run-tests: a run in which no assertion is made fails', async (test) => {
  const bin = await temporaryFolder(test)
  // In the place of tap: succeeds, and reports the totals that it is told.
  const tap = '#!/bin/sh\nfor word; do case $word in --output-file=*) echo "$TOTALS" >"${word#*=}" ;; esac; done\n'
  await writeFile(join(bin, 'tap'), tap, { mode: 0o755 })
  const runTests = (totals: string) =>
    run(join(root, 'scripts/run-tests.sh'), ['x.test.ts'], { env: { PATH: `${bin}:/usr/bin:/bin`, TOTALS: totals } })
  await test.rejects(runTests('1..0'), { code: 1, stderr: /no test ran/ })
  test.match((await runTests('# { total: 1, pass: 1 }')).stdout, /^1 passed, 0 failed$/m)
})
