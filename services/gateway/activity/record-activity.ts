import { randomUUID } from 'node:crypto'
import { isId } from '#shared/db/is-id.ts'
import type { Answer } from '#gateway/http/answer.ts'
import type { Exchange } from '#gateway/http/exchange.ts'
import type { Clients } from '#gateway/http/identification/clients.ts'
import { type HashKey, keyOf } from '#gateway/http/identification/identify.ts'
import type { ActivityRecorder } from './activity-recorder.ts'

type Dependencies = {
  readonly activity: Pick<ActivityRecorder, 'record'>
  readonly clients: Pick<Clients, 'find'>
  readonly hashKey: HashKey
  readonly now: () => Date
}

const objectOf = ({ params }: Exchange, { headers = {}, accepted }: Answer): string | null =>
  accepted?.captureId ??
  [params['id'], headers['x-screenshot-id']].find((each) => each !== undefined && isId(each)) ??
  null

const keyHashOf = ({ session, headers }: Exchange, { accepted }: Answer, hashKey: HashKey): Buffer | null => {
  if (accepted) return accepted.keyHash
  const key = session ? undefined : keyOf(headers)
  return key === undefined ? null : hashKey(key)
}

/** Records what a request did, if a valid key or a session identified it, or it had a link captured. */
export const recordActivity = (deps: Dependencies, operation: string, exchange: Exchange, answer: Answer): void => {
  const { session } = exchange
  const accountId = answer.caller?.accountId ?? session?.accountId ?? answer.accepted?.accountId
  if (accountId === undefined || accountId === null) return
  deps.activity.record({
    at: deps.now(),
    id: randomUUID(),
    accountId,
    keyHash: keyHashOf(exchange, answer, deps.hashKey),
    sessionId: session?.id ?? null,
    client: deps.clients.find(exchange).network,
    operation,
    objectId: objectOf(exchange, answer),
    status: answer.status,
    code: answer.code ?? null,
  })
}
