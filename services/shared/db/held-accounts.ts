import type { Sql } from './connection.ts'

/** An account whose changes are held up by a move; `isServed`: it still answers reads. */
export type HeldAccount = {
  readonly id: string
  /** ISO 8601 UTC. */
  readonly since: string
  readonly seconds: number
  readonly isServed: boolean
}

const listMax = 100

/** Accounts that are held up by moves from here, longest first; at most 100. */
export const listHeldAccounts = (database: Sql): Promise<HeldAccount[]> =>
  database.query<HeldAccount>(
    `select id, iso_time(moving_at) as since, extract(epoch from clock_timestamp() - moving_at)::float8 as seconds,
            disabled_at is null as "isServed"
       from account where moving_at is not null and erasing_at is null and disabled_at is distinct from moving_at
      order by moving_at limit ${listMax}`,
  )

/** What operators read of a held account. */
export const describeHeld = ({ id, since, isServed }: HeldAccount): string =>
  `account ${id} is being moved since ${since}: ${isServed ? 'its changes get' : 'it gets nothing but'} 503`
