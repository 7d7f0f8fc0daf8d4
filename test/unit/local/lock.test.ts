import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import t from 'tap'
import { acquireLock, lockHolder } from '#local/lock.ts'
import { isRunning, markProcess } from '#local/process-start.ts'

const pathsIn = (folder: string) => ({ lockFile: join(folder, 'lock'), holder: join(folder, 'holder.json') })
const stale = { pid: process.pid, startTicks: 1, stopping: false, children: [] }

t.test('lock: a second process is rejected with the id of the holder', async (t) => {
  const paths = pathsIn(t.testdir())
  await using _lock = await acquireLock(paths)
  await t.rejects(acquireLock(paths), { code: 'CONFIGURATION', message: new RegExp(`process ${process.pid};.*--data`) })
})

t.test('lock: is free again after its release', async (t) => {
  const paths = pathsIn(t.testdir())
  {
    await using _lock = await acquireLock(paths)
    t.match(await lockHolder(paths), { pid: process.pid, stopping: false })
  }
  t.equal(await lockHolder(paths), undefined)
  await using _again = await acquireLock(paths)
})

t.test('lock: is free once its holder was killed', async (t) => {
  const paths = pathsIn(t.testdir())
  const source = resolve(import.meta.dirname, '../../../services/local/lock.ts')
  const program = `const { acquireLock } = await import(${JSON.stringify(source)})
    await acquireLock(${JSON.stringify(paths)})
    console.log('held')
    setInterval(() => {}, 1000)`
  const holder = spawn(process.execPath, ['--input-type=module', '-e', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  await once(holder.stdout, 'data')
  await t.rejects(acquireLock(paths), { message: new RegExp(`process ${holder.pid}`) })
  holder.kill('SIGKILL')
  await once(holder, 'exit')
  await using _lock = await acquireLock(paths)
})

t.test('lock: of many concurrent processes exactly one acquires it', async (t) => {
  const paths = pathsIn(t.testdir())
  await writeFile(paths.holder, JSON.stringify(stale))
  const takes = await Promise.allSettled(Array.from({ length: 8 }, () => acquireLock(paths)))
  const taken = takes.filter((take) => take.status === 'fulfilled')
  t.equal(taken.length, 1)
  await Promise.all(taken.map(({ value }) => value[Symbol.asyncDispose]()))
})

t.test('lock: a process with a reused id does not hold it', async (t) => {
  const paths = pathsIn(t.testdir())
  await writeFile(paths.holder, JSON.stringify(stale))
  t.equal(await lockHolder(paths), undefined)
  await using _lock = await acquireLock(paths)
  t.match(JSON.parse(await readFile(paths.holder, 'utf8')), await markProcess(process.pid))
})

t.test('lock: shows that its holder is stopping', async (t) => {
  const paths = pathsIn(t.testdir())
  await using lock = await acquireLock(paths)
  await lock.write({ stopping: true, children: [] })
  t.match(await lockHolder(paths), { stopping: true })
})

t.test('lock: kills leftover children of a killed holder, and nothing else', async (t) => {
  const paths = pathsIn(t.testdir())
  const left = spawn('sleep', ['60'], { stdio: 'ignore' })
  t.teardown(() => left.kill('SIGKILL'))
  const mark = await markProcess(left.pid ?? 0)
  const another = { pid: process.pid, startTicks: 1 }
  await writeFile(paths.holder, JSON.stringify({ ...stale, children: [another, mark] }))
  await using _lock = await acquireLock(paths, { leftoverMs: 50 })
  t.ok(mark)
  t.equal(mark && (await isRunning(mark)), false)
})
