import t from 'tap'
import { createServiceTime } from '#shared/policy/service-time.ts'

t.test('service time: has no mean before the first capture, then weights newer captures', async (t) => {
  const service = createServiceTime()
  t.equal(service.meanMs(), undefined)
  service.add('normal', 100)
  t.equal(service.meanMs(), 100)
  service.add('bulk', 200)
  t.equal(service.meanMs(), 110)
})

t.test(
  'service time: that of a lane is the mean of its last twenty captures, the longest clipped to the others',
  async (t) => {
    const service = createServiceTime()
    t.strictSame(service.laneMs(), {})
    service.add('interactive', 700_000)
    t.strictSame(service.laneMs(), { interactive: 600_000 }, 'at most what a heartbeat may report')
    for (const tookMs of [100, 60_000]) service.add('normal', tookMs)
    t.match(service.laneMs(), { normal: 100 })
    for (let capture = 0; capture < 19; capture += 1) service.add('bulk', capture < 9 ? 1000 : 3000)
    service.add('bulk', 60_000)
    t.match(service.laneMs(), { bulk: 2100 }, 'one page in twenty may hang')
    for (let capture = 0; capture < 20; capture += 1) service.add('bulk', 400)
    t.match(service.laneMs(), { bulk: 400 }, 'older captures do not count')
  },
)
