import { type Command, dataFlag, flagText } from './command/command.ts'
import { table } from './command/table.ts'
import { callInterface, type CaptureRecord } from './http/http-interface.ts'
import { findInterface } from './installation.ts'

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

type Page = {
  readonly data: readonly (CaptureRecord & { readonly created_at: string })[]
  readonly meta: { readonly next_cursor: string | null }
}

/** `capture list`: a page of the captures of the API key's account, filtered as the HTTP interface does. */
export const captureList: Command = {
  usage:
    'capture list [--host HOST] [--url URL] [--error-code CODE] [--target-status STATUS] [--cursor CURSOR] [--data DIR]',
  summary: 'finds captures of the account of the API key, newest first',
  json: '{ data, meta }, a page as GET /v1/screenshots returns it; the next one has --cursor meta.next_cursor',
  flags: {
    ...Object.fromEntries(
      Object.entries(filters).map(([name, value]) => [
        flagOf(name),
        { type: 'string', value, help: `\`${name}\` of GET /v1/screenshots` } as const,
      ]),
    ),
    cursor: { type: 'string', value: 'CURSOR', help: 'continues after an earlier page' },
    data: dataFlag,
  },
  run: async ({ env, stop, print }, args) => {
    const given = [...Object.keys(filters), 'cursor'].flatMap((name) => {
      const value = flagText(args, flagOf(name))
      return value === undefined ? [] : [[name, value] as [string, string]]
    })
    const at = { ...(await findInterface(env, args)), stop }
    const path = `/screenshots?${new URLSearchParams([['per_page', '100'], ...given]).toString()}`
    const page = await callInterface<Page>(at, { method: 'GET', path })
    const rows = page.data.map(({ id, status, url, error, created_at: createdAt, target_status: target }) => [
      id,
      createdAt,
      error?.code ?? (target === undefined || target === 200 ? status : `${status} (page ${target})`),
      url ?? '',
    ])
    const next = page.meta.next_cursor
    const more = next === null ? '' : `\nMore: --cursor ${next}`
    print({ json: page, text: table([['ID', 'CREATED', 'STATE', 'URL'], ...rows]) + more })
  },
}
