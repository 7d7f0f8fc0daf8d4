import t from 'tap'
import { AppError } from '#shared/errors/app-error.ts'
import { isObjectKey } from '#shared/storage/objects.ts'
import { probeStore } from '#shared/storage/probe-store.ts'

const createStore = (put: () => Promise<void>, refused: readonly { key: string; reason: string }[] = []) => {
  const [stored, deleted]: [string[], string[]] = [[], []]
  return {
    stored,
    deleted,
    put: (key: string) => (stored.push(key), put()),
    delete: async (keys: readonly string[]) => (deleted.push(...keys), refused),
  }
}

t.test('probe store: puts an object under a key that the sweep of orphans knows, and deletes it', async (t) => {
  const store = createStore(async () => {})
  await probeStore(store)
  await probeStore(store)
  t.equal(new Set(store.stored).size, 2)
  t.ok(store.stored.every(isObjectKey))
  t.same(store.deleted, store.stored)
})

t.test('probe store: fails with the error of the put, and deletes what a full disk has kept of it', async (t) => {
  const store = createStore(() => Promise.reject(new AppError('SERVICE_UNAVAILABLE', { message: 'ENOSPC' })))
  await t.rejects(probeStore(store), { message: 'ENOSPC' })
  t.equal(store.deleted.length, 1)
})

t.test('probe store: fails if the store does not delete', async (t) => {
  const store = createStore(async () => {}, [{ key: 'k', reason: 'AccessDenied' }])
  await t.rejects(probeStore(store), { message: /delete refused: AccessDenied/ })
})
