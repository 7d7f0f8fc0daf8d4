import { removeOrphans } from './db/object-removals.ts'
import { advanceSweep, claimSweep } from './db/orphan-sweep.ts'
import { hourPrefix, isObjectKey, objectsPrefix } from '#shared/storage/objects.ts'
import type { Ledger } from './context.ts'

/** A page of the store's listing, in keys. */
const pageKeys = 1000
/** Younger objects are left alone: attempts of their captures may still go on. */
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
 * Finds objects that no record and no removal refers to: workers stored them and never reported. Lists one page of the
 * store, from where the previous page of any ledger ended, and marks orphans for removal. Keys begin with the hour of
 * acceptance, so each page is read once it is old enough, and all of them again in a pass every seven days. Objects with
 * foreign keys are not touched. A page that fails is retried after a minute. Resolves to whether there may be more.
 */
export const sweepOrphans = async ({ database, objects, events }: Dependencies, now = new Date()): Promise<boolean> => {
  const from = await claimSweep(database)
  if (from === undefined) return false
  const page = await readPage(objects, from, hourPrefix(new Date(now.getTime() - youngMs)))
  const orphans = await removeOrphans(database, page.filter(isObjectKey))
  if (orphans > 0) events.orphansFound(orphans)
  const end = page.length < pageKeys
  await advanceSweep(database, { from, to: page.at(-1) ?? from, end })
  return !end
}
