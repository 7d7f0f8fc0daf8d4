import t from 'tap'
import { sinceAcceptMs } from '#worker/id-time.ts'

// The example of RFC 9562, A.6: 22 February 2022, 19:22:22 GMT.
const id = '017f22e2-79b0-7cc3-98c4-dc0c0c07398f'
const acceptedMs = 0x017f22e279b0
const dayMs = 86_400_000

t.test('the wait of a capture runs from the time that its id carries, a day at most', async (t) => {
  t.equal(sinceAcceptMs(id, acceptedMs + 250), 250)
  t.equal(sinceAcceptMs(id, acceptedMs + 2 * dayMs), dayMs)
})

t.test('where the clock of the gateway is ahead there was no wait', async (t) => {
  t.equal(sinceAcceptMs(id, acceptedMs - 1), 0)
})
