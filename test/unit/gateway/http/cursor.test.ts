import * as fc from 'fast-check'
import t from 'tap'
import { type Cursor, readCursor, writeCursor } from '#gateway/http/cursor.ts'
import { seeded } from '#test/helpers/seeded.ts'

const moments = fc
  .tuple(fc.date({ min: new Date('1970-01-01'), max: new Date('9999-12-31'), noInvalidDate: true }), fc.nat(999_999))
  .map(([date, micros]) => `${date.toISOString().slice(0, 19)}.${String(micros).padStart(6, '0')}Z`)
const cursors: fc.Arbitrary<Cursor> = fc.record({
  direction: fc.constantFrom('older', 'newer'),
  position: fc.record({ createdAt: moments, id: fc.uuid() }),
})
const bounds = { seed: 5, numRuns: 500 }

t.test('cursor: any cursor survives a round trip, and needs no escaping in a URL', async (t) => {
  fc.assert(
    fc.property(cursors, (cursor) => {
      const text = writeCursor(cursor)
      return t.same(readCursor(text), cursor) && /^[\w-]+$/.test(text)
    }),
    bounds,
  )
})

t.test('cursor: any text that is read as a cursor is its canonical form', async (t) => {
  const bytes = fc.uint8Array({ maxLength: 90 }).map((each) => Buffer.from(each).toString('base64url'))
  fc.assert(
    fc.property(fc.oneof(fc.string(), bytes, cursors.map(writeCursor)), (text) => {
      const cursor = readCursor(text)
      return cursor === undefined || writeCursor(cursor) === text
    }),
    bounds,
  )
  t.pass('for 500 of them')
})

t.test('cursor: rejects a cursor with one character changed, dropped or added', async (t) => {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
  const below = seeded(2)
  const text = writeCursor(fc.sample(cursors, { seed: 5, numRuns: 1 })[0]!)
  for (let at = 0; at < text.length; at += 1) {
    const other = alphabet.replace(text[at] ?? '', '')[below(63)] ?? ''
    t.equal(readCursor(text.slice(0, at) + other + text.slice(at + 1)), undefined, `changed at ${at}`)
    t.equal(readCursor(text.slice(0, at) + text.slice(at + 1)), undefined, `dropped at ${at}`)
    t.equal(readCursor(text.slice(0, at) + other + text.slice(at)), undefined, `added at ${at}`)
  }
  for (const more of ['=', '==', ' ', '\n', 'A', '%']) t.equal(readCursor(text + more), undefined, JSON.stringify(more))
})

t.test('cursor: rejects invalid text, and forged cursors with impossible dates', async (t) => {
  for (const text of ['', 'x', '1', 'undefined', 'A'.repeat(100_000)]) t.equal(readCursor(text), undefined)
  const id = '22222222-2222-4222-8222-222222222222'
  for (const createdAt of [
    '2026-02-30T00:00:00.000000Z',
    '2026-01-01T00:00:00.000+00:00',
    "'; drop table capture; --  ",
  ]) {
    t.equal(readCursor(writeCursor({ direction: 'older', position: { createdAt, id } })), undefined, createdAt)
  }
  const position = { createdAt: '2026-01-01T00:00:00.000000Z', id: 'nonsense' }
  t.equal(readCursor(writeCursor({ direction: 'older', position })), undefined)
})
