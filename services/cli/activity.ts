import { createInterface } from 'node:readline'
import { Readable } from 'node:stream'
import { type Command, dataFlag, flagText } from './command/command.ts'
import { readDuration } from './command/duration.ts'
import { send } from './http/http-interface.ts'
import { findInterface } from './installation.ts'

const sinceDefault = '1d'

type Entry = {
  readonly at: string
  readonly operation: string
  readonly status: number
  readonly code: string | null
  readonly client: string
  readonly key_id: string | null
  readonly object_id: string | null
}

const lineOf = ({ at, operation, status, code, client, key_id: keyId, object_id: objectId }: Entry) =>
  [at, operation, code ?? status, client, keyId ?? 'session', objectId ?? ''].join(' ').trimEnd()

/** `activity`: what the requests of the API key's account did, newest first, printed as it is read. */
export const activity: Command = {
  usage: 'activity [--since TIME] [--key KEY_ID] [--operation NAME] [--data DIR]',
  summary: 'prints what the requests of the account did, newest first; with --json one document for each',
  json: '{ id, at, operation, status, code, client, key_id, object_id, … } for each entry, each on a line',
  flags: {
    since: { type: 'string', value: 'TIME', help: `how far back, such as 7d (default ${sinceDefault})` },
    key: { type: 'string', value: 'KEY_ID', help: 'only requests with this API key' },
    operation: { type: 'string', value: 'NAME', help: 'only this operation, such as capture_post' },
    data: dataFlag,
  },
  run: async ({ env, stop, printEach }, args) => {
    const sinceMs = readDuration('since', flagText(args, 'since') ?? sinceDefault)
    const [keyId, operation] = [flagText(args, 'key'), flagText(args, 'operation')]
    const query = new URLSearchParams({
      from: new Date(Date.now() - sinceMs).toISOString(),
      ...(keyId !== undefined && { key_id: keyId }),
      ...(operation !== undefined && { operation }),
    })
    const at = { ...(await findInterface(env, args)), stop }
    const response = await send(at, { method: 'GET', path: `/account/activity/export?${query.toString()}` })
    if (!response.body) return
    for await (const line of createInterface({ input: Readable.fromWeb(response.body) })) {
      const entry = JSON.parse(line) as Entry
      printEach({ json: entry, text: lineOf(entry) })
    }
  },
}
