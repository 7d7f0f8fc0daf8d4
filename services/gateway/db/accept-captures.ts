import { requestColumns, type RequestRow } from '#shared/db/check-request.ts'
import { callByName } from '#shared/db/call-by-name.ts'
import type { Sql } from '#shared/db/connection.ts'
import {
  type AcceptOutcome,
  captureParameters,
  commonParameters,
  type NewCapture,
  toOutcome,
} from './accept-capture.ts'

/** A capture to accept; `counted` as for `acceptCapture`. */
export type AcceptRequest = { readonly capture: NewCapture; readonly counted: boolean }

type Row = RequestRow & { readonly place: number; readonly locked: boolean }

const rowOf = ({ capture, counted }: AcceptRequest) => ({
  ...captureParameters(capture),
  features: `{${capture.features.join(',')}}`,
  counted,
})

/**
 * Accepts captures of several requests in one round trip and transaction: their outcomes in the order of the requests. `locked`: another
 * transaction had locked the account, the request had no effect and is to be repeated with `waits`, without those of other accounts.
 */
export const acceptCaptures = async (
  database: Sql,
  requests: readonly AcceptRequest[],
  { windowSize, waits }: { readonly windowSize: number; readonly waits: boolean },
): Promise<(AcceptOutcome | 'locked')[]> => {
  const rows = requests.map(rowOf)
  const columns = Object.keys(rows[0] ?? {}) as (keyof (typeof rows)[number])[]
  const { call, values } = callByName('accept_captures', {
    ...commonParameters(windowSize),
    waits,
    ...Object.fromEntries(columns.map((column) => [column, rows.map((row) => row[column] ?? null)])),
  })
  const statement = `select place, locked, ${requestColumns} from (select place, locked, (outcome).* from ${call} as f) as o`
  const outcomes: (AcceptOutcome | 'locked')[] = []
  for (const { place, locked, ...row } of await database.query<Row>(statement, values, 'keep'))
    outcomes[place - 1] = locked ? 'locked' : toOutcome(row)
  return outcomes
}
