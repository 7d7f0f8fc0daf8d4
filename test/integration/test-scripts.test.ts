import { execFile, execFileSync } from 'node:child_process'
import { glob, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
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

t.test('provide-go: prefers a newer Go in a usual folder to one on PATH that is too old', async (test) => {
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

/**
 * Runs the script with a stand-in for tap that prints its arguments except the output file, reports these totals, and
 * exits with each of these codes in turn.
 */
const runWithTap = async (
  test: Test,
  totals: string,
  { codes = [0], ...env }: { codes?: number[]; CI?: string } = {},
) => {
  const bin = await temporaryFolder(test)
  const report =
    'for word; do case $word in --output-file=*) echo "$TOTALS" >"${word#*=}" ;; *) echo "$word" ;; esac; done'
  const counted = `echo run >>${bin}/runs; exit $(echo ${codes.join(' ')} | cut -d ' ' -f $(grep -c run ${bin}/runs))`
  await writeFile(join(bin, 'tap'), `#!/bin/sh\n${report}\n${counted}\n`, { mode: 0o755 })
  const path = [bin, dirname(process.execPath), '/usr/bin:/bin'].join(':')
  const words = ['--timeout=9', 'x.test.ts']
  return run(join(root, 'scripts/run-tests.sh'), words, { env: { PATH: path, TOTALS: totals, ...env } })
}

t.test('run-tests: a run without assertions fails', async (test) => {
  await test.rejects(runWithTap(test, '1..0'), { code: 1, stderr: /no test ran/ })
})

t.test('run-tests: the output of tests is shown only if one fails', async (test) => {
  test.equal((await runWithTap(test, '# { total: 1, pass: 1 }')).stdout, '1 passed, 0 failed\n')
  const stdout = '--reporter=base\n--timeout=9\nx.test.ts\n0 passed, 1 failed\n'
  await test.rejects(runWithTap(test, '# { total: 1, fail: 1 }', { codes: [1] }), { code: 1, stdout })
})

t.test('run-tests: the differences of a failed assertion are shown, in CI all that is known of it', async (test) => {
  const report =
    '    not ok 1 - a title\n      ---\n      diff: |\n        -1\n        +2\n      at:\n        fileName: x.test.ts\n'
  const failed = runWithTap(test, `${report}# { total: 1, fail: 1 }`, { codes: [1] })
  await test.rejects(failed, { code: 1, stdout: /\n {4}not ok 1 - a title\n {8}-1\n {8}\+2\n0 passed, 1 failed\n$/ })
  const whole = runWithTap(test, `${report}# { total: 1, fail: 1 }`, { codes: [1], CI: 'true' })
  await test.rejects(whole, {
    code: 1,
    stdout: /\n {4}not ok 1 - a title\n {6}---\n {6}diff: [^]*fileName: x\.test\.ts\n/,
  })
})

const failing = (...names: string[]) =>
  `${names.map((name) => `not ok 1 - test/${name}.test.ts # time=5ms\n`).join('')}# { total: 5, pass: 2, fail: 3 }`

t.test('run-tests: in CI a failed file is retried once, and reported as flaky if it passes then', async (test) => {
  const { stdout } = await runWithTap(test, failing('a', 'b'), { CI: 'true', codes: [1, 0] })
  test.match(
    stdout,
    /\nx\.test\.ts\nnot ok [^]*\n2 passed, 3 failed\nflaky: test\/a\.test\.ts\nflaky: test\/b\.test\.ts\n2 passed, 0 failed\n$/,
  )
  const again = runWithTap(test, failing('a'), { CI: 'true', codes: [1, 1, 0] })
  await test.rejects(again, {
    code: 1,
    stdout:
      /\n--timeout=9\n--jobs=1\ntest\/a\.test\.ts\nfailed: .*\n2 passed, 3 failed\nfailed: .*\n2 passed, 3 failed\n$/,
  })
})

t.test('run-tests: a file that does not end in time is retried too', async (test) => {
  const expired = 'not ok 1 - timeout!\n  ---\n  expired: test/a.test.ts\n  ...\n# { total: 4, pass: 1, fail: 3 }'
  const { stdout } = await runWithTap(test, expired, { CI: 'true', codes: [1, 0] })
  test.match(stdout, /\nflaky: test\/a\.test\.ts\n1 passed, 0 failed\n$/)
})

t.test('run-tests: failed files are retried neither without CI nor if there are more than five', async (test) => {
  const local = runWithTap(test, failing('a'), { codes: [1, 0] })
  await test.rejects(local, { code: 1, stdout: /failed: test\/a\.test\.ts\n2 passed, 3 failed\n$/ })
  const many = runWithTap(test, failing('a', 'b', 'c', 'd', 'e', 'f'), { CI: 'true', codes: [1, 0] })
  await test.rejects(many, { code: 1, stdout: /failed: test\/f\.test\.ts\n2 passed, 3 failed\n$/ })
})

t.test(
  'run-tests: a folder of unit tests becomes batches that contain each of its files once, the last ones fewer',
  async (test) => {
    const folder = await temporaryFolder(test)
    const { stdout } = await run(
      process.execPath,
      ['test/batches/write.ts', folder, '--jobs=1', './test/unit/egress/'],
      {
        cwd: root,
      },
    )
    const [option, ...batches] = stdout.trim().split('\n')
    test.equal(option, '--jobs=1')
    test.equal(batches.length, 4)
    const texts = await Promise.all(batches.map((path) => readFile(path, 'utf8')))
    const filesOf = texts.map((text) => [...text.matchAll(/^ {2}'([^']+)'/gm)].map(([, path]) => path))
    test.ok((filesOf.at(0)?.length ?? 0) > (filesOf.at(-1)?.length ?? 0))
    const files = filesOf.flat()
    const written = await Array.fromAsync(glob('test/unit/egress/**/*.test.ts', { cwd: root }))
    test.strictSame(new Set(files), new Set(written))
    test.equal(files.length, written.length)
  },
)

t.test('run-tests: each integration test is one of the promised, of the pages or of the others', async (test) => {
  const folder = await temporaryFolder(test)
  await run(process.execPath, ['test/batches/write.ts', folder, 'promised', 'pages', 'others'], { cwd: root })
  const written = await Promise.all((await readdir(folder)).map((name) => readFile(join(folder, name), 'utf8')))
  const files = written.flatMap((text) => [...text.matchAll(/^ {2}'([^']+)'/gm)].map(([, path = '']) => path))
  const all = await Array.fromAsync(glob('test/integration/**/*.test.ts', { cwd: root }))
  test.equal(files.length, all.length)
  test.strictSame(new Set(files), new Set(all))
})

t.test('batch: a failing file is reported, and the next file starts after its teardown', async (test) => {
  const folder = await temporaryFolder(test)
  const write = (name: string, text: string) => writeFile(join(folder, name), text)
  await write(
    'one.test.ts',
    "import t from 'tap'\nt.teardown(() => { globalThis.one = 'gone' })\nt.test('a', async (t) => t.fail('planted'))",
  )
  await write('two.test.ts', "import t from 'tap'\nt.equal(globalThis.one, 'gone')\nt.equal(t.name, 'two.test.ts')")
  const files = "{ 'one.test.ts': () => import('./one.test.ts'), 'two.test.ts': () => import('./two.test.ts') }"
  const batch = `import { runBatch } from '${join(root, 'test/batches/run-batch.ts')}'\nawait runBatch(${files})`
  await write('batch.ts', batch)
  const { code, stdout } = await run(process.execPath, ['batch.ts'], { cwd: folder }).catch((thrown) => thrown)
  test.equal(code, 1)
  test.match(stdout, /^not ok 1 - one\.test\.ts/m)
  test.match(stdout, /^ok 2 - two\.test\.ts/m)
})

t.test('run-tests: processes that tests start load nothing of the runner', async (test) => {
  const print = async (env: NodeJS.ProcessEnv) =>
    (await run(process.execPath, ['-p', 'process.env.NODE_OPTIONS'], { env })).stdout
  test.notMatch(await print(process.env), 'tap')
  test.notMatch(await print({ PATH: process.env['PATH'] }), 'tap')
  test.notMatch(execFileSync(process.execPath, ['-p', 'process.env.NODE_OPTIONS'], { env: {} }).toString(), 'tap')
})

t.test('fetch: on a terminal a step counts its seconds; elsewhere it is one line', async (test) => {
  const folder = await temporaryFolder(test)
  const fetch = join(root, 'scripts/fetch.sh')
  const steps = `set -eu; cd ${folder}; . ${fetch}; start_work; say one step; sleep 2; say another; die 'it failed'`
  const ended = { code: 1, stderr: 'setup: one step\nsetup: another\nsetup: it failed\n' }
  await test.rejects(run('sh', ['-c', steps]), ended)
  const terminal = (TERM: string) =>
    run('script', ['-qc', `sh -c "${steps}"`, '/dev/null'], { env: { ...process.env, TERM } })
  const { stdout } = await terminal('xterm')
  test.match(stdout, /^setup: one step\rsetup: one step \(1 s\)[^]*\r\nsetup: another[^]*\r\nsetup: it failed\r\n$/)
  test.equal((await terminal('dumb')).stdout, ended.stderr.replaceAll('\n', '\r\n'))
})

t.test('make help: lists every target with one line', async (test) => {
  const { stdout } = await run('make', ['--no-print-directory', 'help'], { cwd: root })
  const listed = stdout.trimEnd().split('\n')
  const makefile = await readFile(join(root, 'Makefile'), 'utf8')
  const targets = [...makefile.matchAll(/^([a-z0-9-]+):/gm)].map(([, name]) => name)
  test.ok(targets.length > 20)
  test.strictSame(
    listed.map((line) => /^make ([a-z0-9-]+) {2,}\S/.exec(line)?.[1]),
    targets,
  )
})
