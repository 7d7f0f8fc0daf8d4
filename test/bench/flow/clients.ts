import { setTimeout as delay } from 'node:timers/promises'
import { signRenderLink } from '#gateway/links/render-link.ts'
import { type HttpAnswer, openConnection } from '#test/bench/load.ts'
import { createRequest, getRequest, postRequest } from '#test/bench/served.ts'
import type { LinkClient } from './create-accounts.ts'

/**
 * What a client does in one turn: create a capture and poll its record, capture synchronously, create a batch and poll it, create a
 * capture and fetch its image by a signed link, view a link that captures on demand for the first time, or list captures.
 */
export const clientKinds = ['asynchronous', 'synchronous', 'batch', 'link', 'render', 'list'] as const

/** See `clientKinds`. */
export type ClientKind = (typeof clientKinds)[number]

/** The work of clients that send at the same time, each with one connection, and each its next turn once the last has ended. */
export type ClientLoad = {
  /** Of the gateways; each client uses one, in turns. */
  readonly ports: readonly number[]
  /** Used in turns. */
  readonly accounts: readonly LinkClient[]
  readonly clients: number
  /** Turns begin until so many captures are requested. */
  readonly captures: number
  /** Captures requested per second, as far as there are clients free for them; absent: as fast as it goes. */
  readonly perSecond?: number
  /** How many turns of each kind there are among as many as their sum. */
  readonly weights: Readonly<Record<ClientKind, number>>
  readonly batchUrls: number
  /** Milliseconds between two reads of a record. */
  readonly pollMs: number
  /** Longest time of one turn, in milliseconds. */
  readonly turnMs: number
}

/** What clients saw. */
export type ClientResult = {
  /** Captures that were accepted. */
  readonly accepted: number
  /** Of these, captures that clients saw completed. */
  readonly completed: number
  readonly turns: Readonly<Record<ClientKind, number>>
  /** Milliseconds of each response that accepted an asynchronous capture. */
  readonly acceptMs: readonly number[]
  /** Milliseconds of each synchronous capture. */
  readonly synchronousMs: readonly number[]
}

type Connection = ReturnType<typeof openConnection>
type State = { accepted: number; completed: number; acceptMs: number[]; synchronousMs: number[]; requested: number }
type Turn = {
  readonly load: ClientLoad
  readonly state: State
  readonly connection: Connection
  readonly account: LinkClient
}

const expectStatus = (answer: HttpAnswer, status: string): HttpAnswer => {
  if (answer.status !== status) throw new Error(`${answer.status} instead of ${status}: ${answer.body.slice(0, 500)}`)
  return answer
}

const dataOf = ({ body }: HttpAnswer): unknown => (JSON.parse(body) as { data: unknown }).data

let pages = 0
/** Each page is another one, so that no capture shares the result of another. */
const nextPage = () => `https://example.com/${(pages += 1)}`

/** Reads until `isEnded`; throws if that takes longer than a turn may. */
const poll = async <T>(
  { load, connection, account: { key } }: Turn,
  path: string,
  isEnded: (data: T) => boolean,
): Promise<T> => {
  for (const until = performance.now() + load.turnMs; performance.now() < until;) {
    const data = dataOf(expectStatus(await connection.ask(getRequest(key, path)), '200')) as T
    if (isEnded(data)) return data
    await delay(load.pollMs)
  }
  throw new Error(`${path} has not ended within ${load.turnMs} ms`)
}

type CaptureRecord = { readonly id: string; readonly status: string }

const createAndPoll = async (turn: Turn): Promise<CaptureRecord> => {
  const { state, connection, account } = turn
  const began = performance.now()
  const answer = await connection.ask(createRequest(account.key, { url: nextPage() }))
  const { id } = dataOf(expectStatus(answer, '202')) as CaptureRecord
  state.acceptMs.push(performance.now() - began)
  state.accepted += 1
  const isEnded = ({ status }: CaptureRecord) => status === 'completed' || status === 'failed'
  const record = await poll<CaptureRecord>(turn, `/v1/screenshots/${id}`, isEnded)
  if (record.status === 'completed') state.completed += 1
  return record
}

const captureSynchronously = async ({ state, connection, account }: Turn): Promise<void> => {
  const began = performance.now()
  expectStatus(await connection.ask(postRequest(account.key, '/v1/screenshots/capture', { url: nextPage() })), '200')
  state.synchronousMs.push(performance.now() - began)
  state.accepted += 1
  state.completed += 1
}

type BatchRecord = CaptureRecord & { readonly completed: number }

const createBatch = async (turn: Turn): Promise<void> => {
  const { load, state, connection, account } = turn
  const urls = Array.from({ length: load.batchUrls }, nextPage)
  const answer = await connection.ask(postRequest(account.key, '/v1/screenshots/batch', { urls }))
  const { id } = dataOf(expectStatus(answer, '202')) as BatchRecord
  state.accepted += urls.length
  const batch = await poll<BatchRecord>(turn, `/v1/screenshots/batch/${id}`, ({ status }) => status === 'completed')
  state.completed += batch.completed
}

const viewByLink = async (turn: Turn): Promise<void> => {
  const { connection, account } = turn
  const { key } = account
  const { id } = await createAndPoll(turn)
  const signed = await connection.ask(postRequest(key, `/v1/screenshots/${id}/signed-url`, {}))
  const { url } = dataOf(expectStatus(signed, '200')) as { url: string }
  const { pathname, search } = new URL(url)
  expectStatus(await connection.ask(getRequest(key, pathname + search)), '200')
}

const renderByLink = async ({ state, connection, account }: Turn): Promise<void> => {
  const link = signRenderLink(account.linkSecret, { key_id: account.keyId, url: nextPage() })
  expectStatus(await connection.ask(`GET /v1/render?${link} HTTP/1.1\r\nHost: localhost\r\n\r\n`), '200')
  state.accepted += 1
  state.completed += 1
}

const list = async ({ connection, account }: Turn): Promise<void> => {
  expectStatus(await connection.ask(getRequest(account.key, '/v1/screenshots')), '200')
}

const run: Readonly<Record<ClientKind, (turn: Turn) => Promise<unknown>>> = {
  asynchronous: createAndPoll,
  synchronous: captureSynchronously,
  batch: createBatch,
  link: viewByLink,
  render: renderByLink,
  list,
}

/** How many captures a turn requests. */
const capturesOf = (kind: ClientKind, { batchUrls }: ClientLoad) =>
  kind === 'batch' ? batchUrls : Number(kind !== 'list')

/** The kinds of as many turns as the sum of the weights, evenly mixed. */
export const mixKinds = (weights: ClientLoad['weights']): ClientKind[] =>
  clientKinds
    .flatMap((kind) => {
      const count = weights[kind]
      return Array.from({ length: count }, (_, nth) => ({ kind, at: (nth + 0.5) / count }))
    })
    .toSorted((one, other) => one.at - other.at)
    .map(({ kind }) => kind)

/** Sends a load and waits for the end of the last turn. Throws if a request is refused or a capture does not end. */
export const runClients = async (load: ClientLoad): Promise<ClientResult> => {
  const kinds = mixKinds(load.weights)
  if (!kinds.some((kind) => capturesOf(kind, load) > 0)) throw new Error('no kind of client requests captures')
  const state: State = { accepted: 0, completed: 0, acceptMs: [], synchronousMs: [], requested: 0 }
  const turns: Record<ClientKind, number> = { asynchronous: 0, synchronous: 0, batch: 0, link: 0, render: 0, list: 0 }
  let turn = 0
  const began = performance.now()
  const waitUntilDue = async () => {
    if (load.perSecond === undefined) return
    const early = began + (state.requested * 1000) / load.perSecond - performance.now()
    if (early > 0) await delay(early)
  }
  const runClient = async (nth: number) => {
    const connection = openConnection(load.ports[nth % load.ports.length] ?? 0)
    try {
      while (state.requested < load.captures) {
        const kind = kinds[turn % kinds.length] ?? 'asynchronous'
        const account = load.accounts[turn % load.accounts.length]
        if (!account) throw new Error('no account')
        turn += 1
        const due = waitUntilDue()
        state.requested += capturesOf(kind, load)
        turns[kind] += 1
        await due
        await run[kind]({ load, state, connection, account })
      }
    } finally {
      connection.close()
    }
  }
  await Promise.all(Array.from({ length: load.clients }, (_, nth) => runClient(nth)))
  const { accepted, completed, acceptMs, synchronousMs } = state
  return { accepted, completed, turns, acceptMs, synchronousMs }
}
