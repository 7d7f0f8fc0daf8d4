import { removeOrphans } from './db/object-removals.ts'
import { advanceSweep, claimSweep } from './db/orphan-sweep.ts'
import { hourPrefix, isObjectKey, objectsPrefix } from '#shared/storage/objects.ts'
import type { Ledger } from './context.ts'

/** A page of the store's listing, in keys. */
const pageKeys = 1000
/** Younger objects are skipped, since attempts of their captures may still run. */
const minAgeMs = 48 * 3_600_000

type Dependencies = Pick<Ledger, 'database' | 'objects' | 'events'>

/** Reads the next page of keys that sort before `before`; shorter than a page if there are no more. */
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
 * Marks objects for removal that no record refers to, because workers stored them without a report. Lists one page of keys,
 * starting at a cursor that all ledgers share. A full pass restarts every seven days. Keys begin with the hour of acceptance;
 * a page is read once it is old enough. Objects with other keys are ignored. A failed page is retried after a minute. Resolves
 * to whether there may be more.
 */
export const sweepOrphans = async ({ database, objects, events }: Dependencies, now = new Date()): Promise<boolean> => {
  const from = await claimSweep(database)
  if (from === undefined) return false
  const page = await readPage(objects, from, hourPrefix(new Date(now.getTime() - minAgeMs)))
  const orphans = await removeOrphans(database, page.filter(isObjectKey))
  if (orphans > 0) events.orphansFound(orphans)
  const isLastPage = page.length < pageKeys
  await advanceSweep(database, { from, to: page.at(-1) ?? from, isLastPage })
  return !isLastPage
}
