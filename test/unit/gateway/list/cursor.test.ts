import t from 'tap'
import { type Cursor, readCursor, writeCursor } from '#gateway/list/cursor.ts'
import { seeded } from '#test/helpers/seeded.ts'

const below = seeded(2)
const hex = (digits: number) => Array.from({ length: digits }, () => below(16).toString(16)).join('')
const some = (): Cursor => ({
  direction: below(2) === 0 ? 'older' : 'newer',
  than: {
    createdAt: `${new Date(below(4_000_000_000) * 1000).toISOString().slice(0, 19)}.${String(below(1_000_000)).padStart(6, '0')}Z`,
    id: `${hex(8)}-${hex(4)}-${hex(4)}-${hex(4)}-${hex(12)}`,
  },
})

t.test('any cursor reads as what was written, and needs no escaping in an address', async (t) => {
  for (let turn = 0; turn < 500; turn += 1) {
    const cursor = some()
    const text = writeCursor(cursor)
    t.same(readCursor(text), cursor)
    t.match(text, /^[\w-]+$/)
  }
})

t.test('no cursor is read of which one character was changed, dropped or added', async (t) => {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
  const text = writeCursor(some())
  for (let at = 0; at < text.length; at += 1) {
    const other = alphabet.replace(text[at] ?? '', '')[below(63)] ?? ''
    t.equal(readCursor(text.slice(0, at) + other + text.slice(at + 1)), undefined, `changed at ${at}`)
    t.equal(readCursor(text.slice(0, at) + text.slice(at + 1)), undefined, `dropped at ${at}`)
    t.equal(readCursor(text.slice(0, at) + other + text.slice(at)), undefined, `added at ${at}`)
  }
  for (const more of ['=', '==', ' ', '\n', 'A', '%']) t.equal(readCursor(text + more), undefined, JSON.stringify(more))
})

t.test('what is no cursor is none, a forged one that no calendar has included', async (t) => {
  for (const text of ['', 'x', '1', 'undefined', 'A'.repeat(100_000)]) t.equal(readCursor(text), undefined)
  const { id } = some().than
  for (const createdAt of [
    '2026-02-30T00:00:00.000000Z',
    '2026-01-01T00:00:00.000+00:00',
    "'; drop table capture; --  ",
  ]) {
    t.equal(readCursor(writeCursor({ direction: 'older', than: { createdAt, id } })), undefined, createdAt)
  }
  const than = { createdAt: '2026-01-01T00:00:00.000000Z', id: 'nonsense' }
  t.equal(readCursor(writeCursor({ direction: 'older', than })), undefined)
})
