import t from 'tap'
import { extractMetadata } from '#worker/browser-host/capture/inspect/extract-metadata.ts'
import { createSessionDouble } from '#test/helpers/session-double.ts'

const source = { title: ' T ', language: '', base: 'https://a.com/', icons: [], canonicals: [], metas: [] }

/** A page that navigates away during the first `moves` scripts, and its waits for load events. */
const pageThatMoves = (moves: number, { isClosed = false, url = 'https://a.com/' } = {}) => {
  const waited: string[] = []
  let left = moves
  const send = async (method: string) => {
    if (method !== 'Runtime.evaluate') return { executionContextId: 1 }
    left -= 1
    if (left >= 0) throw new Error('Execution context was destroyed.')
    return { result: { value: source } }
  }
  const document = {
    address: () => url,
    isNavigating: () => false,
    loaded: async () => void waited.push('load'),
  }
  const open = { document, session: createSessionDouble({ send, isOpen: () => !isClosed }), mainFrameId: 'main' }
  return { open, waited }
}

t.test('extract metadata: follows a page that navigates to another document, and reads it there', async (t) => {
  const { open, waited } = pageThatMoves(2)
  t.strictSame(await extractMetadata(open, 1000), { title: 'T' })
  t.same(waited, ['load', 'load'])
})

t.test('extract metadata: gives up after three tries on a page that keeps navigating', async (t) => {
  const { open, waited } = pageThatMoves(Infinity)
  t.equal(await extractMetadata(open, 1000), undefined)
  t.equal(waited.length, 3)
})

t.test('extract metadata: does not wait for a closed page', async (t) => {
  const { open, waited } = pageThatMoves(1, { isClosed: true })
  await t.rejects(extractMetadata(open, 1000), /context/)
  t.same(waited, [])
})

t.test("extract metadata: returns no metadata for Chromium's own error pages", async (t) => {
  t.strictSame(await extractMetadata(pageThatMoves(0, { url: 'chrome-error://chromewebdata/' }).open, 1000), {})
})
