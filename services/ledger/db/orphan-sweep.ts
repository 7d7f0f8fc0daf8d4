import type { Sql } from '#shared/db/connection.ts'

/** Who claimed a page and died is followed by another after this; longer than listing a page takes. */
const claimSeconds = 60
/** What was left in hours that were looked at already, by a database that was restored for example, is found within this. */
const passDays = 7

/** Claims the next page of the store's listing; answers the key after which it begins, undefined while another has it. */
export const claimSweep = async (database: Sql): Promise<string | undefined> => {
  const [row] = await database.query<{ after: string }>(
    `update orphan_sweep set claimed_until = now() + $1 * interval '1 second'
      where claimed_until is null or claimed_until <= now() returning after_key as after`,
    [claimSeconds],
  )
  return row?.after
}

/**
 * Gives the claim back with the last key of the page. `end`: there is none after it that is old enough; then a new pass
 * begins, but no more than one in seven days. Changes nothing where another has gone on meanwhile.
 */
export const advanceSweep = async (
  database: Sql,
  { from, to, end }: { readonly from: string; readonly to: string; readonly end: boolean },
): Promise<void> => {
  const restarts = `$3 and began_at <= now() - $4 * interval '1 day'`
  await database.query(
    `update orphan_sweep
        set after_key = case when ${restarts} then '' else $2 end,
            began_at = case when ${restarts} then now() else began_at end, claimed_until = null
      where after_key = $1`,
    [from, to, end, passDays],
  )
}
