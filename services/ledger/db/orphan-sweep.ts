import type { Sql } from '#shared/db/connection.ts'

/** Duration of a claim, after which another ledger may claim the page; longer than listing a page takes. */
const claimSeconds = 60
/** Time between passes; orphans that arise before the current page, as after a database restore, are found in the next pass. */
const passDays = 7

/** Claims the next page of the store's listing. Resolves to the key after which it begins; undefined while another ledger has it. */
export const claimSweep = async (database: Sql): Promise<string | undefined> => {
  const [row] = await database.query<{ after: string }>(
    `update orphan_sweep set claimed_until = now() + $1 * interval '1 second'
      where claimed_until is null or claimed_until <= now() returning after_key as after`,
    [claimSeconds],
  )
  return row?.after
}

/**
 * Releases the claim with the last key of the page. `isLastPage`: no later key is old enough, so that a new pass begins, at most one
 * in seven days. Changes nothing if another ledger has advanced meanwhile.
 */
export const advanceSweep = async (
  database: Sql,
  { from, to, isLastPage }: { readonly from: string; readonly to: string; readonly isLastPage: boolean },
): Promise<void> => {
  const restarts = `$3 and began_at <= now() - $4 * interval '1 day'`
  await database.query(
    `update orphan_sweep
        set after_key = case when ${restarts} then '' else $2 end,
            began_at = case when ${restarts} then now() else began_at end, claimed_until = null
      where after_key = $1`,
    [from, to, isLastPage, passDays],
  )
}
