import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import { eventually } from '#test/helpers/eventually.ts'
import { leaseMs, startFaultedCluster } from '#test/helpers/faulted-cluster.ts'
import { type FaultyProxy, startFaultyProxy } from '#test/helpers/faulty-proxy.ts'
import type { OperatorProcess } from '#test/helpers/operator-process.ts'

const world = await startFaultedCluster(t)
const { cluster, queue, record, endure, lease, startAnother } = world

const hourMs = 3_600_000
const triesMax = 5
/** Time after which all requests of controllers have ended. */
const requestMs = 3000
const leads = (name: string) =>
  eventually(async () => (await lease()).holder === name, { withinMs: 20_000, what: `${name} has the Lease` })
let after: OperatorProcess | undefined
const fencedWrites = (operator: OperatorProcess) => operator.log().split('this process no longer leads').length - 1

t.test('faults leaders: a leader that was frozen past its Lease becomes standby when it is thawed', async (t) => {
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

t.test('faults leaders: the fence stops the pending writes of a thawed leader', async (t) => {
  const proxy = await startFaultyProxy(t, cluster.controllerKubeconfig)
  const slow = await startAnother('slow', { kubeconfig: proxy.kubeconfig })
  await world.operator.stop()
  await endure(t, async () => {
    // Whether it has pending writes when it is thawed is a matter of milliseconds: repeat if it had none.
    for (let tries = 0; tries < triesMax && fencedWrites(slow) === 0; tries += 1) {
      await after?.stop()
      await leads('slow')
      after = await startAnother('after')
      await freezeInMidWork(slow, proxy)
      await leads('after')
      slow.thaw()
      await eventually(async () => (await slow.health()).detail['role'] === 'standby')
      await eventually(() => fencedWrites(slow) > 0, { withinMs: requestMs }).catch(() => {})
    }
    t.ok(fencedWrites(slow) > 0, 'it attempted to write')
    await slow.stop()
  })
})

/** Freezes a leader with requests in flight until its term is over, and releases its Lease. */
const freezeInMidWork = async (leader: OperatorProcess, proxy: FaultyProxy) => {
  // Half of the longest renewal of a Lease: the more, the more Jobs are pending when the freeze takes effect.
  proxy.setDelay(500)
  const before = record.createdNames.size
  await queue.send(24, { pool: 'proxied' })
  // Eight Jobs are created at a time, so most of the 24 are pending; up to two may belong to other captures.
  await eventually(() => record.createdNames.size >= before + 6, { what: 'the first Jobs' })
  leader.freeze()
  const frozenAtMs = performance.now()
  proxy.setDelay(0)
  await eventually(() => proxy.writes() === 0, { what: 'its requests in flight are handled' })
  // If another acquired the Lease by its expiry, the pending requests would have timed out.
  const released = '{"spec":{"holderIdentity":""}}'
  await cluster.kubectl(['patch', 'lease', 'shutterfleet-controller', '--type=merge', '-p', released])
  await eventually(() => performance.now() - frozenAtMs > (leaseMs * 2) / 3, { what: 'its term is over' })
}

t.test('faults leaders: one of three controllers leads at a time while their clocks differ by an hour', async (t) => {
  await endure(t, async () => {
    const fastReplica = await startAnother('ahead', { skewMs: hourMs })
    const { handovers } = await lease()
    await delay(1.5 * leaseMs)
    t.strictSame(
      await lease(),
      { holder: 'after', handovers },
      'a controller whose clock is ahead does not acquire the Lease early',
    )
    await after?.kill()
    await leads('ahead')
    t.match(fastReplica.log(), /became leader/)
    const behind = await startAnother('behind')
    await delay(1.5 * leaseMs)
    t.strictSame(
      await lease(),
      { holder: 'ahead', handovers: handovers + 1 },
      'nor does a controller whose clock is behind',
    )
    await fastReplica.kill()
    // The last renewal is an hour in the future by the clock of `behind`.
    await leads('behind')
    await startAnother('last')
    await behind.stop()
    await leads('last')
  })
})
