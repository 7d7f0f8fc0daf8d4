import t from 'tap'
import {
  addToHistory,
  clearHistories,
  clearHistory,
  type PastRequest,
  readHistory,
} from '#console/views/playground/request-history.ts'

/** A browser's storage: items are properties too, as `Object.keys` shows them. */
const createStorage = (items: Readonly<Record<string, string>> = {}, isFull = false): Storage => {
  const methods = {
    getItem: (key: string) => Reflect.get(storage, key) ?? null,
    setItem: (key: string, value: string) => {
      if (isFull) throw new DOMException('full', 'QuotaExceededError')
      Object.assign(storage, { [key]: value })
    },
    removeItem: (key: string) => void Reflect.deleteProperty(storage, key),
  }
  const storage: Storage = Object.assign(Object.create(methods), items)
  return storage
}

const request = (number: number, query = 'url=x'): PastRequest => ({
  id: `id ${number}`,
  at: '2026-03-01T00:00:00.000Z',
  source: 'url',
  query,
})

t.test('request history: keeps the latest 20 of each account, newest first', async (t) => {
  const storage = createStorage()
  for (let number = 1; number <= 25; number += 1) addToHistory(storage, 'a', request(number))
  addToHistory(storage, 'b', request(1))
  const kept = readHistory(storage, 'a')
  t.same([kept.length, kept[0]?.id, kept.at(-1)?.id], [20, 'id 25', 'id 6'])
  t.same(readHistory(storage, 'b'), [request(1)])
  t.same(readHistory(storage, 'c'), [])
})

t.test('request history: leaves out a query of more than 8,000 characters', async (t) => {
  const storage = createStorage()
  t.same(addToHistory(storage, 'a', request(1, 'x'.repeat(8001))), [])
  t.equal(addToHistory(storage, 'a', request(1, 'x'.repeat(8000))).length, 1)
})

t.test(
  'request history: of what others stored it takes nothing, and a full storage loses only the history',
  async (t) => {
    const key = 'shutterfleet-playground-a'
    for (const stored of ['no JSON', '{}', '[1, null, {}]', JSON.stringify([{ ...request(1), at: 'never' }])])
      t.same(readHistory(createStorage({ [key]: stored }), 'a'), [], stored)
    const full = createStorage({}, true)
    t.same(addToHistory(full, 'a', request(1)), [request(1)])
    t.same(readHistory(full, 'a'), [])
  },
)

t.test('request history: is cleared for an account, or for all, and nothing else is', async (t) => {
  const storage = createStorage({ 'shutterfleet-theme': 'dark' })
  for (const account of ['a', 'b']) addToHistory(storage, account, request(1))
  clearHistory(storage, 'a')
  t.same([readHistory(storage, 'a').length, readHistory(storage, 'b').length], [0, 1])
  clearHistories(storage)
  t.same(Object.keys(storage), ['shutterfleet-theme'])
})
