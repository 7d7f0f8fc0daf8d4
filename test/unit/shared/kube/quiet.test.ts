import t from 'tap'
import { KubeError } from '#shared/kube/kube-error.ts'
import { createQuiet } from '#shared/kube/quiet.ts'

const setUp = () => {
  const state = { nowMs: 0 }
  const quiet = createQuiet(() => state.nowMs)
  const refuse = (retryAfterSeconds?: number) =>
    quiet.heed(
      new KubeError('too-many-requests', {
        message: '',
        ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
      }),
    )
  /** Milliseconds of quiet from now on. */
  const left = () => {
    const beganMs = state.nowMs
    while (quiet.isAsked()) state.nowMs += 100
    return state.nowMs - beganMs
  }
  return { state, quiet, refuse, left }
}

t.test('quiet lasts as long as the server asks for, from 1 to 30 s', async (t) => {
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

t.test('a later answer that asks for less does not shorten it', async (t) => {
  const { refuse, left } = setUp()
  refuse(7)
  refuse(2)
  t.equal(left(), 7000)
})

t.test('nothing else asks for quiet', async (t) => {
  const { quiet } = setUp()
  t.notOk(quiet.isAsked())
  quiet.heed(new KubeError('unavailable', { message: '' }))
  quiet.heed(new Error('broken'))
  t.notOk(quiet.isAsked())
})
