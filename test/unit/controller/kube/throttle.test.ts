import t from 'tap'
import { KubeError } from '#shared/kube/kube-error.ts'
import { createThrottle } from '#controller/kube/throttle.ts'

const setUp = () => {
  const state = { nowMs: 0 }
  const throttle = createThrottle(() => state.nowMs)
  const refuse = (retryAfterSeconds?: number) =>
    throttle.observe(
      new KubeError('too-many-requests', {
        message: '',
        ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
      }),
    )
  /** Milliseconds until the throttle ends. */
  const left = () => {
    const beganMs = state.nowMs
    while (throttle.isActive()) state.nowMs += 100
    return state.nowMs - beganMs
  }
  return { state, throttle, refuse, left }
}

t.test('throttle: lasts as long as the server requests, from 1 to 30 s', async (t) => {
  for (const [asked, want] of [
    [7, 7000],
    [0, 1000],
    [undefined, 1000],
    [3600, 30_000],
  ] as const) {
    const { refuse, left } = setUp()
    refuse(asked)
    t.equal(left(), want, `${asked}`)
  }
})

t.test('throttle: a later response with a shorter wait does not shorten it', async (t) => {
  const { refuse, left } = setUp()
  refuse(7)
  refuse(2)
  t.equal(left(), 7000)
})

t.test('throttle: other errors do not start it', async (t) => {
  const { throttle } = setUp()
  t.notOk(throttle.isActive())
  throttle.observe(new KubeError('unavailable', { message: '' }))
  throttle.observe(new Error('broken'))
  t.notOk(throttle.isActive())
})
