import type { Screenshot } from '#client/responses.js'

/** A batch as its captures in a list show it. */
export type ListedBatch = { readonly id: string; readonly createdAt: string; readonly captures: number }

/** The batches among captures, in the order of the list, with the number of their captures in it. */
export const batchesIn = (captures: readonly Screenshot[]): ListedBatch[] => {
  const batches = new Map<string, ListedBatch>()
  for (const { batch_id: id, created_at: createdAt } of captures) {
    if (id === undefined) continue
    const { captures: count } = batches.get(id) ?? { captures: 0 }
    batches.set(id, { id, createdAt, captures: count + 1 })
  }
  return [...batches.values()]
}
