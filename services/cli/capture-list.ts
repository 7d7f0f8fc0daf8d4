import type { ListFilter } from '#client/options.js'
import { type Command, dataFlag, flagCount, flagText } from './command/command.ts'
import { openClient } from './open-client.ts'

/** The filters of `GET /v1/screenshots`, with the placeholders of their values. */
const filters = {
  status: 'STATUS',
  from: 'TIME',
  to: 'TIME',
  host: 'HOST',
  url: 'URL',
  error_code: 'CODE',
  key_id: 'KEY_ID',
  format: 'FORMAT',
  request_id: 'ID',
  target_status: 'STATUS',
} as const

const flagOf = (name: string) => name.replace('_', '-')

/** `capture list`: captures of the API key's account, filtered as the HTTP interface does, printed as they are read. */
export const captureList: Command = {
  usage: 'capture list [--host HOST] [--url URL] [--error-code CODE] [--target-status STATUS] [--limit N] [--data DIR]',
  summary: 'finds captures of the account of the API key, newest first; with --json one document for each',
  json: '{ id, created_at, status, url, … } for each capture, each on a line',
  flags: {
    ...Object.fromEntries(
      Object.entries(filters).map(([name, value]) => [
        flagOf(name),
        { type: 'string', value, help: `\`${name}\` of GET /v1/screenshots` } as const,
      ]),
    ),
    limit: { type: 'string', value: 'N', help: 'how many captures (default 100, at most 10000)' },
    data: dataFlag,
  },
  run: async (context, args) => {
    const limit = flagCount(args, 'limit', { min: 1, max: 10_000, fallback: 100 })
    const given = Object.keys(filters).map((name) => [name, flagText(args, flagOf(name))])
    const filter = Object.fromEntries(given.filter(([, value]) => value !== undefined)) as ListFilter
    const client = await openClient(context, args)
    let count = 0
    for await (const found of client.list({ ...filter, perPage: Math.min(limit, 100) })) {
      const { id, created_at: createdAt, status, url, error, target_status: target } = found
      const page = target === undefined || target === 200 ? status : `${status} (page ${target})`
      context.printEach({ json: found, text: [createdAt, id, error?.code ?? page, url ?? ''].join(' ').trimEnd() })
      count += 1
      if (count === limit) return
    }
  },
}
