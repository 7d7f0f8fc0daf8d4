import t from 'tap'
import type { CDPSession } from 'playwright'
import { assertFits, measure, shoot } from '#worker/browser-host/capture/shoot.ts'

const metrics = (width: number, height: number, pageY = 0) => ({
  cssContentSize: { x: 0, y: 0, width, height },
  cssVisualViewport: { pageX: 0, pageY },
})
const sessionThat = (send: (method: string, params: object) => unknown) =>
  ({ send: async (method: string, params: object) => send(method, params) }) as unknown as CDPSession

const view = { width: 1280, height: 800, full_page: false }

t.test('a viewport is shot where the page stands', async (t) => {
  const session = sessionThat(() => metrics(1280, 5000, 300))
  const { frame } = await measure({ session }, view, 20_000)
  t.strictSame(frame, { x: 0, y: 300, width: 1280, height: 800 })
})

t.test('a full page is as large as its content, never smaller than the viewport', async (t) => {
  const of = async (width: number, height: number) =>
    (await measure({ session: sessionThat(() => metrics(width, height)) }, { ...view, full_page: true }, 20_000)).frame
  t.strictSame(await of(1400, 4000.4), { x: 0, y: 0, width: 1400, height: 4001 })
  t.strictSame(await of(1000, 100), { x: 0, y: 0, width: 1280, height: 800 })
})

const measured = async (content: { width: number; height: number }, width = 1280) => {
  const session = sessionThat(() => metrics(content.width, content.height))
  const { frame, isTruncated } = await measure({ session }, { ...view, width, full_page: true }, 20_000)
  return [frame.width, frame.height, isTruncated]
}

t.test('a full page is cut on both sides, and says so', async (t) => {
  t.same(await measured({ width: 30_000, height: 900 }), [20_000, 900, true])
  t.same(await measured({ width: 1280, height: 20_001 }), [1280, 20_000, true])
  t.same(await measured({ width: 1280, height: 20_000 }), [1280, 20_000, false])
})

t.test('a full page that is long and wide is cut on the right to forty million pixels, and says so', async (t) => {
  t.same(await measured({ width: 30_000, height: 90_000 }), [2000, 20_000, true])
  t.same(await measured({ width: 10_000, height: 4001 }), [9997, 4001, true])
  t.same(await measured({ width: 10_000, height: 4000 }), [10_000, 4000, false])
})

t.test('a full page is never cut to less than the viewport is wide', async (t) => {
  t.same(await measured({ width: 3840, height: 20_000 }, 3840), [3840, 20_000, false])
  t.same(await measured({ width: 5000, height: 20_000 }, 3840), [3840, 20_000, true])
})

t.test('formats refuse what they cannot hold, at the first pixel beyond', async (t) => {
  assertFits('webp', { width: 100, height: 16_383 })
  assertFits('jpeg', { width: 100, height: 65_535 })
  assertFits('png', { width: 100, height: 100_000 })
  t.throws(() => assertFits('webp', { width: 100, height: 16_384 }), { code: 'RENDER_ERROR' })
  t.throws(() => assertFits('jpeg', { width: 65_536, height: 100 }), { code: 'RENDER_ERROR' })
})

t.test('tries again what passes, three times at most', async (t) => {
  const options = { format: 'jpeg', quality: 80, full_page: false } as const
  const failing = (times: number) => {
    let calls = 0
    return sessionThat(() => {
      calls += 1
      if (calls <= times) throw new Error('Unable to capture screenshot')
      return { data: Buffer.from('picture').toString('base64') }
    })
  }
  const frame = { x: 0, y: 0, width: 1, height: 1 }
  t.equal(String(await shoot({ session: failing(2) }, frame, options)), 'picture')
  await t.rejects(shoot({ session: failing(3) }, frame, options), { code: 'RENDER_ERROR' })
})
