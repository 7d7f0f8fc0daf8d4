import type { Sql } from './connection.ts'

/** Whether an account's plan has links that need no API key, and whether a capture is the account's. */
export const maySign = async (
  database: Sql,
  of: { readonly id: string; readonly accountId: string },
): Promise<{ readonly allowed: boolean; readonly found: boolean }> => {
  const [row] = await database.query<{ allowed: boolean; found: boolean }>(
    `select 'signed_urls' = any (p.features) as allowed,
            exists (select from capture c where c.id = $1 and c.account_id = a.id) as found
       from account a join plan p on p.slug = a.plan where a.id = $2`,
    [of.id, of.accountId],
  )
  return row ?? { allowed: false, found: false }
}
