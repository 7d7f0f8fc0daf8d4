import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import t from 'tap'
import { eventually } from '#test/helpers/eventually.ts'
import { killGroup } from '#shared/process/kill-group.ts'
import { readAnonymousBytes, listChildren, readProcessorTicks, watchMemory } from '#worker/isolation/processes.ts'

t.test('processes: lists children, and kills a process group as a whole', async (t) => {
  const child = spawn('sh', ['-c', 'sleep 60 & wait'], { detached: true, stdio: 'ignore' })
  await once(child, 'spawn')
  t.ok(listChildren(process.pid).includes(child.pid ?? 0))
  killGroup(child.pid ?? 0)
  t.strictSame(await once(child, 'exit'), [null, 'SIGKILL'])
})

t.test('processes: ignores a group that is gone, and rejects ids that would signal other processes', async (t) => {
  killGroup(2 ** 22 - 1)
  t.strictSame(listChildren(2 ** 22 - 1), [])
  for (const dangerous of [-1, 0, 1, Number.NaN]) t.throws(() => killGroup(dangerous))
})

t.test(
  'readProcessorTicks: grows while a process runs, not while it is frozen, and is 0 for one that is gone',
  async (t) => {
    const child = spawn('sh', ['-c', 'while :; do :; done'], { stdio: 'ignore' })
    t.teardown(() => child.kill('SIGKILL'))
    const pid = child.pid ?? 0
    await eventually(() => readProcessorTicks(pid) > 2)
    child.kill('SIGSTOP')
    await eventually(() => readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') T '))
    const frozen = readProcessorTicks(pid)
    const own = readProcessorTicks(process.pid)
    await eventually(() => readProcessorTicks(process.pid) > own + 2)
    t.equal(readProcessorTicks(pid), frozen)
    child.kill('SIGCONT')
    await eventually(() => readProcessorTicks(pid) > frozen)
    child.kill('SIGKILL')
    await once(child, 'exit')
    t.equal(readProcessorTicks(pid), 0)
  },
)

const held = 200 * 2 ** 20
/** A shell whose grandchild, started by a secondary thread of its parent, allocates memory. */
const holder = `
  const { Worker } = require('node:worker_threads')
  const hold = 'globalThis.held = Buffer.alloc(${held}, 1); setInterval(() => {}, 1e6)'
  new Worker('require("node:child_process").spawn(process.execPath, ["-e", ' + JSON.stringify(hold) + '])', { eval: true })
  setInterval(() => {}, 1e6)`

const startHolder = () => {
  const child = spawn('sh', ['-c', '"$@"; exit', 'sh', process.execPath, '-e', holder], {
    detached: true,
    stdio: 'ignore',
  })
  t.teardown(() => process.kill(-(child.pid ?? 0), 'SIGKILL'))
  return child.pid ?? 0
}

t.test('readAnonymousBytes: sums the memory of all descendants, and is 0 for a process that is gone', async (t) => {
  const root = startHolder()
  await eventually(() => readAnonymousBytes(root) > held, { what: 'the memory of a grandchild is counted' })
  t.equal(readAnonymousBytes(2 ** 30), 0)
})

t.test('watchMemory: calls once above the limit, never below it or after disposal', async (t) => {
  const root = startHolder()
  const calls: string[] = []
  using _high = watchMemory(root, held * 10, () => calls.push('high'))
  const disposed = watchMemory(root, held, () => calls.push('disposed'))
  disposed[Symbol.dispose]()
  using _low = watchMemory(root, held, () => calls.push('low'))
  await eventually(() => calls.length > 0, { what: 'the limit is detected' })
  t.strictSame(calls, ['low'])
})
