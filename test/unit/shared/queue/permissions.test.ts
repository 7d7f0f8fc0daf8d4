import t from 'tap'
import { pools } from '#shared/capture/lane.ts'
import { poolAccounts, queueUsers, serviceUsers } from '#shared/queue/permissions.ts'

t.test('permissions: every pool has an account with one user', async (t) => {
  t.strictSame(
    poolAccounts.map(({ name, user }) => [name, user.name]),
    pools.map((pool) => [`WORKERS_${pool}`, `worker_${pool}`]),
  )
  t.equal(new Set(queueUsers.map(({ name }) => name)).size, serviceUsers.length + pools.length)
})

t.test('permissions: no subject is shared between pools', async (t) => {
  const subjects = poolAccounts.flatMap(({ pulls, publishes, subscribes }) => [...pulls, ...publishes, ...subscribes])
  t.equal(new Set(subjects).size, subjects.length)
  for (const [place, { pulls, publishes, subscribes }] of poolAccounts.entries()) {
    const ofPool = new RegExp(`[.]${pools[place]}[.-]`)
    for (const subject of [...pulls, ...publishes, ...subscribes]) t.match(subject, ofPool)
  }
})

t.test(
  "permissions: a pool's user may use the subjects of its account and its own inbox, and nothing else",
  async (t) => {
    for (const { user, pulls, publishes, subscribes } of poolAccounts) {
      t.strictSame(user.publish, [...pulls, ...publishes])
      t.strictSame(user.subscribe, [...subscribes, `_INBOX_${user.name}.>`])
    }
  },
)
