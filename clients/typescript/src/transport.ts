import { readBlocks } from './read-blocks.ts'
import { createSender, type Send } from './send-request.ts'
import type { ActivityExport, ActivityFilter, BatchFilter, ClientOptions, ListFilter } from './options.ts'

type Query = Readonly<Record<string, string | number | undefined>>
type Page = { readonly data: readonly unknown[]; readonly meta: { readonly next_cursor: string | null } }

/** `?name=value…`, or nothing if no value is given. */
export const queryOf = (values: Query): string => {
  const given = Object.entries(values).filter(([, value]) => value !== undefined)
  return given.length === 0 ? '' : `?${new URLSearchParams(given.map(([name, value]) => [name, String(value)]))}`
}

/** Sends requests and reads the `data` of responses; the caller names its type, as docs/openapi.json describes it. */
export type Transport = ReturnType<typeof createTransport>

export const createTransport = (options: Required<ClientOptions> & { apiKey: string }) => {
  const send = createSender(options)
  return {
    send,

    async data<Data>(...request: Parameters<Send>): Promise<Data> {
      const { data } = (await (await send(...request)).json()) as { data: Data }
      return data
    },

    /** The JSON of each line of a response, as it arrives. */
    async *lines<Entry>(path: string, { signal, ...filter }: ActivityExport): AsyncGenerator<Entry, void> {
      const { body } = await send(path + queryOf(filter), { signal, limitMs: Infinity })
      if (body) for await (const line of readBlocks(body, '\n')) yield JSON.parse(line) as Entry
    },

    /** Entries of all pages; a page is requested when its first entry is read. */
    async *pages<Entry>(
      path: string,
      { perPage, signal, ...filter }: ListFilter | ActivityFilter | BatchFilter = {},
    ): AsyncGenerator<Entry, void> {
      let cursor: string | undefined
      do {
        const response = await send(path + queryOf({ per_page: perPage, ...filter, cursor }), { signal })
        const { data, meta } = (await response.json()) as Page
        yield* data as readonly Entry[]
        cursor = meta.next_cursor ?? undefined
      } while (cursor !== undefined)
    },
  }
}
