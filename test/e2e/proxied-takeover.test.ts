import t, { type Test } from 'tap'
import { endOf } from '#controller/operator/watch/observed-job.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { startFaultyProxy } from '#test/helpers/faulty-proxy.ts'
import { recordJobs } from '#test/helpers/job-record.ts'
import { startOperatorCluster } from '#test/helpers/operator-cluster.ts'
import { type OperatorProcess, startOperator } from '#test/helpers/operator-process.ts'

const max = 10
const world = await startOperatorCluster(t, { serviceMs: () => 300 + 400 * Math.random(), nodes: 2 })
const { cluster, queue } = world
const record = recordJobs(world, () => 0)
t.teardown(() => record[Symbol.asyncDispose]())
await world.applyPool('proxied', { pool: 'proxied', jobs: { max } })
let leader: OperatorProcess = world.operator
const leads = async (operator: OperatorProcess) => (await operator.health()).detail['role'] === 'leader'

/** Asserts that each capture had one Job and one end, and that there were never too many Jobs. */
const assertExact = async (t: Test, captures: number) => {
  await queue.allEnded(90_000)
  await eventually(() => record.unfinished().length === 0, { withinMs: 60_000, what: 'all Jobs have ended' })
  await eventually(() => record.claims.size >= captures, { what: 'every Job shows its capture' })
  // Only Jobs that fail before they claim a capture are created in addition, and replaced.
  const idle = [...record.createdNames].filter((name) => !record.claims.has(name))
  t.equal(record.createdNames.size - idle.length, captures)
  t.strictSame(
    idle.filter((name) => hasEnded(name) !== 'failed'),
    [],
    'no Job is created twice',
  )
  t.strictSame(record.excesses, [], 'never more Jobs than captures and claims')
  t.ok(record.most() <= max)
  t.strictSame(queue.endedTwice(), [])
  t.ok([...queue.rows.values()].every(({ starts }) => starts.length === 1))
  record.restart()
}
const hasEnded = (name: string) => {
  const job = record.find(name)
  return job && endOf(job)
}
const send = (count: number) => queue.send(count, { pool: 'proxied' })
const isUnderWay = (jobs: number) => eventually(() => record.createdNames.size >= jobs, { what: `${jobs} Jobs` })
const next = async (name: string) => {
  const standby = await world.startAnother(name)
  await eventually(async () => (await standby.health()).ready)
  return standby
}

t.test('proxied takeover: a leader that is killed during a burst is replaced by the standby', async (t) => {
  const standby = await next('two')
  await eventually(() => leads(leader))
  await send(60)
  await isUnderWay(25)
  await leader.kill()
  await eventually(() => leads(standby), { withinMs: 20_000 })
  await assertExact(t, 60)
  leader = standby
})

t.test('proxied takeover: a leader that stops gracefully during a burst is replaced by the standby', async (t) => {
  const standby = await next('three')
  await send(60)
  await isUnderWay(25)
  t.equal(await leader.stop(), 0)
  await eventually(() => leads(standby))
  await assertExact(t, 60)
  leader = standby
})

t.test('proxied takeover: no Job is created twice after an API server outage during a burst', async (t) => {
  await send(40)
  await isUnderWay(15)
  await cluster.kill('kube-apiserver')
  await send(5)
  leader.freeze()
  const lists = record.lists()
  await cluster.start('kube-apiserver')
  await eventually(() => record.lists() > lists, { what: 'Jobs are recorded again' })
  leader.thaw()
  await assertExact(t, 45)
})

t.test(
  'proxied takeover: a Job is not created twice when its response is lost and its watch event is delayed',
  async (t) => {
    await leader.stop()
    const proxy = await startFaultyProxy(t, cluster.controllerKubeconfig)
    const operator = await startOperator({ cluster, queue, kubeconfig: proxy.kubeconfig, name: 'behind a proxy' })
    t.teardown(() => operator.kill())
    const count = async (metric: string) => {
      const lines = [
        ...(await operator.metrics()).matchAll(new RegExp(`${metric}\\{queue="proxied"[^}]*\\} (\\d+)`, 'g')),
      ]
      return lines.reduce((sum, [, each]) => sum + Number(each), 0)
    }
    await eventually(async () => (await count('pool_decisions_total')) > 1)
    proxy.setMode('held')
    // Some of the faults may hit writes of the Lease.
    proxy.faults.write.push(...Array.from({ length: 4 }, () => ({ kind: 'unanswered' }) as const))
    await send(6)
    await eventually(async () => (await count('pool_reconcile_failures_total')) > 0, { what: 'a response was lost' })
    await eventually(() => proxy.faults.write.length === 0)
    const before = await count('pool_decisions_total')
    await eventually(async () => (await count('pool_decisions_total')) > before + 2, { what: 'further decisions' })
    t.equal(record.createdNames.size, 6)
    proxy.setMode('as they come')
    await assertExact(t, 6)
  },
)
