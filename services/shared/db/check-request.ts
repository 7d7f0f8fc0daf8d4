import { type Caller, type Refusal, requestColumns, type RequestRow, verdictOf } from './accept-capture.ts'
import { onlyRow, type Sql } from './connection.ts'

const statement = `select ${requestColumns} from check_request($1, $2)`

/** Checks key, domain and minute limit of a request that accepts no capture, and counts it, in one round trip. */
export const checkRequest = async (
  database: Sql,
  request: { readonly keyHash: Buffer; readonly originHost: string | null },
): Promise<{ readonly ok: true; readonly caller: Caller } | Refusal> => {
  const { keyHash, originHost } = request
  return verdictOf(onlyRow(await database.query<RequestRow>(statement, [keyHash, originHost], 'keep')))
}
