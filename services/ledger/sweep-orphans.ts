import { removeOrphans } from '#shared/db/object-removals.ts'
import { hourPrefix, isObjectKey, objectsPrefix } from '#shared/storage/objects.ts'
import type { Ledger } from './context.ts'

/** A page of the store's listing, in keys. */
const pageKeys = 1000
/** Objects of captures that were accepted later than this are left alone: their attempts may still go on. */
const youngMs = 48 * 3_600_000

type Dependencies = Pick<Ledger, 'database' | 'objects' | 'events'>

/** The next page of keys that come before `before`; shorter than a page where there are no more. */
const readPage = async (objects: Dependencies['objects'], after: string, before: string): Promise<string[]> => {
  const page: string[] = []
  for await (const key of objects.list(objectsPrefix, after)) {
    if (key >= before) break
    page.push(key)
    if (page.length === pageKeys) break
  }
  return page
}

/**
 * Makes what looks for objects that no record and no removal knows: what workers put and never reported. Each call lists
 * one page of the store, from the oldest on, and marks what it finds for removal; after the last page it begins again.
 * Objects whose keys are not ours are not touched. A call that fails looks at the same page again.
 */
export const createSweep = ({ database, objects, events }: Dependencies, now: () => Date = () => new Date()) => {
  let after = ''
  return async (): Promise<void> => {
    const page = await readPage(objects, after, hourPrefix(new Date(now().getTime() - youngMs)))
    const orphans = await removeOrphans(database, page.filter(isObjectKey))
    if (orphans > 0) events.orphansFound(orphans)
    after = page.length === pageKeys ? (page.at(-1) ?? '') : ''
  }
}
