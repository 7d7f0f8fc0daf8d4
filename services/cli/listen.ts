import { randomBytes } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { Shutterfleet } from '#client/shutterfleet.js'
import {
  type Command,
  type CommandContext,
  dataFlag,
  flagText,
  flagTexts,
  type ParsedArgs,
  UsageError,
} from './command/command.ts'
import { describeError } from './command/describe-error.ts'
import { EventFollower, followedEvents, type FollowedEvent } from './listen/follow-events.ts'
import { createDelivery, forward } from './listen/forward.ts'
import { findInterface } from './installation.ts'
import { openClient } from './open-client.ts'

/** Between two attempts to read the events. */
const retryMs = 2000

const readTarget = (args: ParsedArgs): string | undefined => {
  const text = flagText(args, 'forward')
  if (text === undefined) return undefined
  const url = URL.parse(text)
  const isUsable = url && /^https?:$/.test(url.protocol) && url.username === '' && url.password === ''
  if (isUsable) return url.href
  throw new UsageError(
    `--forward ${text}: must be an http or https URL without a password, such as http://localhost:3000/hooks`,
  )
}

const readSecret = (args: ParsedArgs): string => {
  const secret = flagText(args, 'secret') ?? `whsec_${randomBytes(32).toString('base64')}`
  if (/^whsec_[A-Za-z0-9+/]{32,128}={0,2}$/.test(secret)) return secret
  throw new UsageError('--secret: must be whsec_ and 24 to 96 bytes in Base64, as the secret of a webhook')
}

const readEvents = (args: ParsedArgs): readonly FollowedEvent['event'][] => {
  const names = flagTexts(args, 'event')
  const unknown = names.find((name) => !followedEvents.some((each) => each === name))
  if (unknown !== undefined) throw new UsageError(`--event ${unknown}: must be one of ${followedEvents.join(', ')}`)
  return names.length === 0 ? followedEvents : followedEvents.filter((name) => names.includes(name))
}

/** Yields the events until `stop`. Reports once that they cannot be read, and retries, but throws if they never could. */
async function* follow(client: Shutterfleet, { stop, note }: CommandContext): AsyncGenerator<FollowedEvent> {
  const follower = new EventFollower(client, stop)
  let state: 'opening' | 'reading' | 'failing' = 'opening'
  while (!stop.aborted) {
    try {
      for await (const events of follower.read()) {
        if (state === 'failing') note('events can be read again')
        state = 'reading'
        yield* events
      }
    } catch (thrown) {
      if (stop.aborted) return
      if (state === 'opening') throw thrown
      if (state === 'reading') note(`events cannot be read, retrying: ${describeError(thrown)}`)
      state = 'failing'
    }
    await delay(retryMs, undefined, { signal: stop }).catch(() => {})
  }
}

/** `listen`: prints the webhooks of the API key's account and forwards them to a local receiver, without a public address. */
export const listen: Command = {
  usage: 'listen [--forward URL] [--event E]… [--secret WHSEC] [--data DIR]',
  summary: 'prints the webhooks of the account as they happen, and forwards them to a receiver on this machine',
  json: '{ id, event, data, forwarded: { status?, error?, ms } | null, … } for each webhook, each on a line',
  flags: {
    forward: { type: 'string', value: 'URL', help: 'where to send them, such as http://localhost:3000/hooks' },
    event: { type: 'string', value: 'E', multiple: true, help: `one of ${followedEvents.join(', ')} (default: all)` },
    secret: { type: 'string', value: 'WHSEC', help: 'secret that signs them (default: a new one, which is printed)' },
    data: dataFlag,
  },
  run: async (context, args) => {
    const { env, stop, note, printEach } = context
    const [target, secret, events] = [readTarget(args), readSecret(args), readEvents(args)]
    const { baseUrl } = await findInterface(env, args)
    note(`listening to ${baseUrl}; signed with ${secret}`)
    for await (const followed of follow(await openClient(context, args, {}), context)) {
      if (!events.includes(followed.event)) continue
      const delivery = createDelivery(followed, secret, new Date())
      const forwarded = target === undefined ? null : await forward(target, delivery, stop)
      const outcome = forwarded ? ` ${forwarded.error ?? forwarded.status}, ${forwarded.ms} ms` : ''
      printEach({
        json: { id: delivery.id, ...(JSON.parse(delivery.body) as object), forwarded },
        text: `${followed.event} ${String(followed.data['id'])}${outcome}\n${delivery.body}`,
      })
    }
  },
}
