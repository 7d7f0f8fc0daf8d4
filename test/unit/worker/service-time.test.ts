import t from 'tap'
import { createServiceTime } from '#worker/service-time.ts'

t.test('knows no mean before the first capture, then follows the newer ones', async (t) => {
  const service = createServiceTime()
  t.equal(service.meanMs(), undefined)
  service.add(100)
  t.equal(service.meanMs(), 100)
  service.add(200)
  t.equal(service.meanMs(), 110)
})
