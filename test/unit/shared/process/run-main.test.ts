import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import t from 'tap'
import { eventually } from '#test/helpers/eventually.ts'

const root = join(import.meta.dirname, '../../../..')

const start = (body: string, env: Readonly<Record<string, string>> = {}, inside: readonly string[] = []) => {
  const program = `
    import { runMain, untilStopped } from '#shared/process/run-main.ts'
    import { AppError } from '#shared/errors/app-error.ts'
    await runMain('test', async ({ stop, announce, rest, env }) => {
      const hold = setInterval(() => {}, 1000)
      try { ${body} } finally { clearInterval(hold) }
    })`
  const node = [process.execPath, '--input-type=module-typescript', '-e', program]
  const [file = process.execPath, ...args] = inside.concat(node)
  const child = spawn(file, args, {
    cwd: root,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  })
  const { stderr } = child
  if (!stderr) throw new Error('the child has no stderr')
  return { child, errors: text(stderr), ended: once(child, 'exit').then(([code]: number[]) => code) }
}

const runUntilStopped = `announce({ probeUrl: 'http://x' }); await untilStopped(stop)`

t.test('run main: announces its message, then reports activity, and exits cleanly on SIGTERM', async (t) => {
  const { child, ended } = start(`rest.markBusy(); ${runUntilStopped.replace(';', '; rest.markBusy();')}`)
  const messages: unknown[] = []
  child.on('message', (message) => messages.push(message))
  await eventually(() => messages.length === 2)
  t.strictSame(messages, [{ probeUrl: 'http://x' }, 'active'])
  child.kill('SIGTERM')
  t.equal(await ended, 0)
})

t.test('run main: exits cleanly when its parent disconnects', async (t) => {
  const { child, ended } = start(runUntilStopped)
  await once(child, 'message')
  child.disconnect()
  t.equal(await ended, 0)
})

t.test('run main: a second signal kills it', async (t) => {
  const { child } = start(`announce({}); await untilStopped(stop); announce({}); await new Promise(() => {})`)
  await once(child, 'message')
  child.kill('SIGTERM')
  await once(child, 'message')
  child.kill('SIGTERM')
  const [, signal] = await once(child, 'exit')
  t.equal(signal, 'SIGKILL')
})

t.test('run main: an operational error is one line and the exit code of the catalogue', async (t) => {
  const { errors, ended } = start(`throw new AppError('CONFIGURATION', { message: 'SHUTTERFLEET_X is not set' })`)
  t.equal(await ended, 78)
  t.equal(await errors, 'SHUTTERFLEET_X is not set\n')
})

t.test('run main: Kubernetes gets the message about a wrong setting, and no other error', async (t) => {
  const log = join(t.testdir({ log: '' }), 'log')
  const pod = ['bwrap', '--bind', '/', '/', '--dev', '/dev', '--bind', log, '/dev/termination-log']
  await start(`throw new AppError('SERVICE_UNAVAILABLE', { message: 'secret' })`, {}, pod).ended
  t.equal(readFileSync(log, 'utf8'), '')
  await start(`throw new AppError('CONFIGURATION', { message: 'SHUTTERFLEET_X is not set' })`, {}, pod).ended
  t.equal(readFileSync(log, 'utf8'), 'SHUTTERFLEET_X is not set')
})

t.test('run main: a programming error prints its stack and exits with 1', async (t) => {
  const { errors, ended } = start(`throw new TypeError('x is not a function')`)
  t.equal(await ended, 1)
  t.match(await errors, /TypeError: x is not a function\n\s+at /)
})

t.test('run main: leftover timers do not keep the process alive', async (t) => {
  const { child, errors } = start(`setInterval(() => {}, 1000)`)
  const [, signal] = await once(child, 'exit')
  t.equal(signal, 'SIGKILL')
  t.match(await errors, /ended by force: .*Timeout/)
})

t.test('run main: unreadable authorities end it, naming the variable of the file', async (t) => {
  const { errors, ended } = start(runUntilStopped, { NODE_EXTRA_CA_CERTS: '/nonexistent/ca.crt' })
  t.equal(await ended, 78)
  t.match(await errors, /^NODE_EXTRA_CA_CERTS = \/nonexistent\/ca.crt, holds no certificates$/m)
})
