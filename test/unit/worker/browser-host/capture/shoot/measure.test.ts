import t from 'tap'
import { measure } from '#worker/browser-host/capture/shoot/measure.ts'
import { createSessionDouble } from '#test/helpers/session-double.ts'

const openWith = (content: { width: number; height: number }, pageY = 0) => {
  const metrics = {
    cssContentSize: { x: 0, y: 0, ...content },
    cssVisualViewport: { pageX: 0, pageY, scale: 1 },
  }
  return { session: createSessionDouble({ send: async () => metrics }), mainFrameId: 'main' }
}
const fullPage = { kind: 'full-page', inSections: false, isCutToWidth: false, heightMax: undefined } as const
const view = { width: 1280, height: 800, scale: 1 } as const
const bounds = { heightMax: 20_000, pixelsMax: 40_000_000 }

const measured = async (content: { width: number; height: number }, over: Partial<typeof view> | object = {}) => {
  const { frame, isTruncated } = await measure(openWith(content), fullPage, { ...view, ...over }, bounds)
  return [frame.width, frame.height, isTruncated]
}

t.test('measure: a viewport is taken at the scroll position of the page', async (t) => {
  const open = openWith({ width: 1280, height: 5000 }, 300)
  const { frame } = await measure(open, { kind: 'viewport' }, view, bounds)
  t.strictSame(frame, { x: 0, y: 300, width: 1280, height: 800 })
})

t.test('measure: a full page is as large as its content, never smaller than the viewport', async (t) => {
  t.strictSame(await measured({ width: 1400, height: 4000.4 }), [1400, 4001, false])
  t.strictSame(await measured({ width: 1000, height: 100 }), [1280, 800, false])
})

t.test('measure: cuts a full page at the maximum width and height, and reports it', async (t) => {
  t.same(await measured({ width: 30_000, height: 900 }), [20_000, 900, true])
  t.same(await measured({ width: 1280, height: 20_001 }), [1280, 20_000, true])
  t.same(await measured({ width: 1280, height: 20_000 }), [1280, 20_000, false])
})

t.test('measure: cuts a long and wide full page on the right to the maximum of pixels, and reports it', async (t) => {
  t.same(await measured({ width: 30_000, height: 90_000 }), [2000, 20_000, true])
  t.same(await measured({ width: 10_000, height: 4001 }), [9997, 4001, true])
  t.same(await measured({ width: 10_000, height: 4000 }), [10_000, 4000, false])
})

t.test('measure: cuts a full page at the bottom rather than below the width of the viewport', async (t) => {
  t.same(await measured({ width: 3840, height: 20_000 }, { width: 3840 }), [3840, 10_416, true])
  t.same(await measured({ width: 3840, height: 10_000 }, { width: 3840 }), [3840, 10_000, false])
})

t.test('measure: the maximum of pixels counts device pixels', async (t) => {
  t.same(await measured({ width: 1280, height: 20_000 }, { scale: 2 }), [1280, 7812, true])
  t.same(await measured({ width: 1280, height: 7812 }, { scale: 2 }), [1280, 7812, false])
})
