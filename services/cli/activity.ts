import type { ActivityEntry } from '#client/responses.js'
import { type Command, dataFlag, flagText } from './command/command.ts'
import { readDuration } from './command/duration.ts'
import { openClient } from './open-client.ts'

const sinceDefault = '1d'

const lineOf = ({ at, operation, status, code, client, key_id: keyId, object_id: objectId }: ActivityEntry) =>
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
  run: async (context, args) => {
    const sinceMs = readDuration('since', flagText(args, 'since') ?? sinceDefault)
    const [keyId, operation] = [flagText(args, 'key'), flagText(args, 'operation')]
    const client = await openClient(context, args)
    const entries = client.exportActivity({
      from: new Date(Date.now() - sinceMs).toISOString(),
      ...(keyId !== undefined && { key_id: keyId }),
      ...(operation !== undefined && { operation }),
    })
    for await (const entry of entries) context.printEach({ json: entry, text: lineOf(entry) })
  },
}
