import t from 'tap'
import { olderOwner, queueOwners } from '#controller/operator/pools/queue-owners.ts'
import type { WantedSpec } from '#test/helpers/operator-cluster.ts'
import { poolObject } from '#test/helpers/kube-objects.ts'

const pool = (name: string, second: number, spec: WantedSpec = {}, deletionTimestamp?: string) =>
  poolObject(name, spec, {
    metadata: { creationTimestamp: `2026-01-01T00:00:0${second}Z`, ...(deletionTimestamp && { deletionTimestamp }) },
  })
const fixed = { autoscaling: { enabled: false } }

t.test('queue owners: the oldest pool that serves a queue owns it; of equal age, the first by name', async (t) => {
  const all = [pool('b', 5), pool('d', 1), pool('c', 1), pool('other', 0, { pool: 'stealth' })]
  const owners = queueOwners(all)
  t.equal(owners.get('standard')?.metadata.name, 'c')
  t.equal(owners.get('stealth')?.metadata.name, 'other')
  t.notOk(owners.has('proxied'))
  t.strictSame(
    all.map((each) => olderOwner(owners, each)?.metadata.name),
    ['c', 'c', undefined, undefined],
  )
})

t.test('queue owners: a pool of a fixed size owns no queue, and needs none', async (t) => {
  const all = [pool('old', 1, fixed), pool('young', 2)]
  const owners = queueOwners(all)
  t.equal(owners.get('standard')?.metadata.name, 'young')
  t.strictSame(
    all.map((each) => olderOwner(owners, each)),
    [undefined, undefined],
  )
})

t.test('queue owners: only one pool of Jobs owns the queue, whatever its autoscaling', async (t) => {
  const all = [pool('one', 1, { ...fixed, pool: 'proxied' }), pool('two', 2, { ...fixed, pool: 'proxied' })]
  t.equal(olderOwner(queueOwners(all), all[1]!)?.metadata.name, 'one')
})

t.test('queue owners: the queue of a terminating pool goes to the next one', async (t) => {
  const all = [pool('going', 1, {}, '2026-01-01T00:00:09Z'), pool('next', 2)]
  t.equal(queueOwners(all).get('standard')?.metadata.name, 'next')
})
