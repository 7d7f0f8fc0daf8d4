import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import { eventually } from '#test/helpers/eventually.ts'
import { leaseMs, startFaultedCluster } from '#test/helpers/faulted-cluster.ts'
import { startFaultyProxy } from '#test/helpers/faulty-proxy.ts'
import type { OperatorProcess } from '#test/helpers/operator-process.ts'

const world = await startFaultedCluster(t)
const { cluster, queue, record, endure, lease, startAnother } = world

const hourMs = 3_600_000
const leads = (name: string) =>
  eventually(async () => (await lease()).holder === name, { withinMs: 20_000, what: `${name} has the Lease` })
let after: OperatorProcess | undefined
const fencedWrites = (operator: OperatorProcess) => operator.log().split('this process no longer leads').length - 1

t.test('a leader that was frozen past its Lease and thawed leaves everything to its follower', async (t) => {
  const frozen = world.operator
  const next = await startAnother('next')
  await endure(t, async () => {
    frozen.freeze()
    await leads('next')
    frozen.thaw()
    await eventually(async () => (await frozen.health()).detail['role'] === 'standby')
    await next.stop()
    await leads('one')
  })
  t.equal(frozen.child.exitCode, null)
})

t.test('what a thawed leader was about to write is not written', async (t) => {
  const proxy = await startFaultyProxy(t, cluster.controllerKubeconfig)
  const slow = await startAnother('slow', { kubeconfig: proxy.kubeconfig })
  await world.operator.stop()
  await endure(t, async () => {
    await leads('slow')
    after = await startAnother('after')
    // Eight Jobs are asked for at a time, so that most of these are still to be made when the first appear.
    proxy.setDelay(300)
    const before = record.made.size
    await queue.send(24, { pool: 'proxied' })
    await eventually(() => record.made.size > before, { what: 'the first Jobs' })
    slow.freeze()
    const frozenAtMs = performance.now()
    const fenced = fencedWrites(slow)
    // Its requests would be given up by the time another takes the Lease by itself, and nothing be left to be written.
    await cluster.kubectl([
      'patch',
      'lease',
      'shutterfleet-controller',
      '--type=merge',
      '-p',
      '{"spec":{"holderIdentity":""}}',
    ])
    await leads('after')
    t.ok(performance.now() - frozenAtMs < leaseMs, 'it was quick enough')
    await eventually(() => performance.now() - frozenAtMs > (leaseMs * 2) / 3, { what: 'its term is over' })
    proxy.setDelay(0)
    slow.thaw()
    await eventually(() => fencedWrites(slow) > fenced, { what: 'it has tried to write' })
    await slow.stop()
  })
})

t.test('of three controllers one leads at a time, whatever their calendars say', async (t) => {
  await endure(t, async () => {
    const ahead = await startAnother('ahead', { skewMs: hourMs })
    const { handovers } = await lease()
    await delay(1.5 * leaseMs)
    t.strictSame(await lease(), { holder: 'after', handovers }, 'who is ahead takes nothing early')
    await after?.kill()
    await leads('ahead')
    t.match(ahead.log(), /leads/)
    const behind = await startAnother('behind')
    await delay(1.5 * leaseMs)
    t.strictSame(await lease(), { holder: 'ahead', handovers: handovers + 1 }, 'nor does who is behind')
    await ahead.kill()
    // Its last renewal lies an hour ahead.
    await leads('behind')
    await startAnother('last')
    await behind.stop()
    await leads('last')
  })
})
