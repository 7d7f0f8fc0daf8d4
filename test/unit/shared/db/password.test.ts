import { chmod, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { passwordSource } from '#shared/db/password.ts'
import { recordIdentityReports } from '#test/helpers/identity-reports.ts'

const none = { databasePasswordFile: '', databasePasswordCommand: [] }

t.test('database password: comes from one source or none', async (t) => {
  t.equal(passwordSource(none), undefined)
  t.throws(() => passwordSource({ databasePasswordFile: '/file', databasePasswordCommand: ['program'] }), {
    code: 'CONFIGURATION',
    publicMessage: /DATABASE_PASSWORD_FILE and SHUTTERFLEET_DATABASE_PASSWORD_COMMAND are both set/,
  })
})

t.test('database password: each connection reads the file', async (t) => {
  const path = join(t.testdir({ password: 'one\n' }), 'password')
  const read = passwordSource({ ...none, databasePasswordFile: path })
  t.equal(await read?.(), 'one')
  await writeFile(path, 'two')
  t.equal(await read?.(), 'two')
  await writeFile(path, 'x'.repeat(65_537))
  await t.rejects(read!(), { code: 'SERVICE_UNAVAILABLE', cause: { message: /password is longer than 65536 bytes/ } })
  const missing = passwordSource({ ...none, databasePasswordFile: `${path}.missing` })
  await t.rejects(missing!(), { code: 'SERVICE_UNAVAILABLE', message: /password\.missing cannot be read/ })
  await writeFile(path, '\n')
  await t.rejects(read!(), { code: 'SERVICE_UNAVAILABLE', message: /password is empty/ }, 'while it is being written')
})

const script = async (folder: string, body: string) => {
  const path = join(folder, 'print-token')
  await writeFile(path, `#!/bin/sh\n${body}\n`)
  await chmod(path, 0o755)
  return path
}

t.test(
  'database password: a command gets its arguments as they are, and runs once a minute and at a time',
  async (t) => {
    const folder = t.testdir()
    const program = await script(folder, `echo run >> ${folder}/runs; echo "token of $1"`)
    let nowMs = 0
    const read = passwordSource(
      { ...none, databasePasswordCommand: [program, '$(id); a b'] },
      { env: {}, nowMs: () => nowMs },
    )
    t.strictSame(await Promise.all([read?.(), read?.()]), ['token of $(id); a b', 'token of $(id); a b'])
    nowMs = 59_999
    await read?.()
    t.equal(await readFile(join(folder, 'runs'), 'utf8'), 'run\n')
    nowMs = 60_000
    await read?.()
    t.equal(await readFile(join(folder, 'runs'), 'utf8'), 'run\nrun\n')
  },
)

t.test(
  'database password: a command that fails or prints nothing or too much is an error without its standard output',
  async (t) => {
    const folder = t.testdir()
    for (const [body, fault] of [
      ['echo secret; exit 3', /print-token failed \(3\)$/],
      ['exit 0', /printed nothing$/],
      ['head -c 70000 /dev/zero', /failed \(ERR_CHILD_PROCESS_STDIO_MAXBUFFER\)$/],
    ] as const) {
      let nowMs = 0
      const read = passwordSource(
        { ...none, databasePasswordCommand: [await script(folder, body)] },
        { env: {}, nowMs: () => nowMs },
      )
      await t.rejects(read!(), { code: 'SERVICE_UNAVAILABLE', message: fault })
      await script(folder, 'echo token')
      nowMs = 999
      await t.rejects(read!(), { message: fault }, 'connections that fail together run it once')
      nowMs = 1000
      t.equal(await read?.(), 'token', 'a later connection runs it again')
    }
  },
)

t.test('database password: an error has the last line of standard error, bounded and without tokens', async (t) => {
  const folder = t.testdir()
  const signed = `token ${'eyJhbGciOiJIUzI1NiJ9'.repeat(2)}.${'c2lnbmF0dXJl/+=='.repeat(3)}`
  for (const [line, shown] of [
    ['AccessDenied: not authorized to perform sts:AssumeRole on arn:aws:iam::123456789012:role/shots', undefined],
    [signed, 'token ….…'],
    ['a\tb\u001b[31m', 'a?b?[31m'],
    ['word '.repeat(5000), 'word '.repeat(40)],
  ] as const) {
    await writeFile(join(folder, 'stderr'), `secret\n${line}\n\n`)
    const program = await script(folder, `cat ${folder}/stderr >&2; exit 1`)
    const read = passwordSource({ ...none, databasePasswordCommand: [program] })
    const message = await read!().then(String, (error: Error) => error.message)
    t.equal(message.split('failed (1): ')[1]?.trimEnd(), (shown ?? line).trimEnd())
  }
})

t.test(
  'database password: reports each reading of the file and each run of the command, without the password',
  async (t) => {
    const folder = t.testdir({ password: 'one' })
    const file = recordIdentityReports()
    const read = passwordSource({ ...none, databasePasswordFile: join(folder, 'password') }, { reports: file.reports })
    await read?.()
    await writeFile(join(folder, 'password'), '')
    await t.rejects(read!())
    t.strictSame(file.ends, [undefined])
    t.match(file.failures, [{ setting: 'SHUTTERFLEET_DATABASE_PASSWORD_FILE', reason: /password is empty/ }])

    const command = recordIdentityReports()
    const program = await script(folder, 'echo secret; echo AccessDenied >&2; exit 1')
    let nowMs = 0
    const options = { env: {}, nowMs: () => nowMs, reports: command.reports }
    const run = passwordSource({ ...none, databasePasswordCommand: [program] }, options)
    await Promise.allSettled([run?.(), run?.()])
    t.match(command.failures, [
      { setting: 'SHUTTERFLEET_DATABASE_PASSWORD_COMMAND', reason: /failed \(1\): AccessDenied$/ },
    ])
    t.notMatch(JSON.stringify(command.failures), /secret/)
    await script(folder, 'echo secret')
    nowMs = 1000
    t.equal(await run?.(), 'secret')
    t.strictSame([command.failures.length, command.ends], [1, [undefined]], 'one for the connections that shared a run')
  },
)

t.test('database password: a command gets the variables that are no settings', async (t) => {
  const env = { PATH: process.env['PATH'], AWS_REGION: 'eu', SHUTTERFLEET_KEY_PEPPER: 'secret' }
  const command = ['sh', '-c', 'echo "$AWS_REGION,$SHUTTERFLEET_KEY_PEPPER,$HOME"']
  t.equal(await passwordSource({ ...none, databasePasswordCommand: command }, { env })?.(), 'eu,,')
})
