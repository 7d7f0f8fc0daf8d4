import { randomBytes } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { toAppError } from '#shared/errors/app-error.ts'
import {
  type Command,
  type CommandContext,
  dataFlag,
  flagText,
  flagTexts,
  type ParsedArgs,
  UsageError,
} from './command/command.ts'
import { findInterface } from './installation.ts'
import { EventFollower, followedEvents, type FollowedEvent } from './listen/follow-events.ts'
import { createDelivery, forward } from './listen/forward.ts'

const pollMs = 1000
/** The share of the account's requests in a minute that polling may use. */
const requestsShare = 1 / 4

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

const pauseMs = ({ perMinute }: EventFollower): number =>
  perMinute === undefined ? pollMs : Math.max(pollMs, 60_000 / (perMinute * requestsShare))

/** Yields the events until `stop`; reports once that they cannot be read, and goes on. Throws the first poll's error. */
async function* follow(follower: EventFollower, { stop, note }: CommandContext): AsyncGenerator<FollowedEvent> {
  await follower.poll()
  let isFailing = false
  while (!stop.aborted) {
    let retryMs = 0
    try {
      yield* await follower.poll()
      if (isFailing) note('events can be read again')
      isFailing = false
    } catch (thrown) {
      const { message, retryAfterSeconds = 0 } = toAppError(thrown)
      if (!isFailing && !stop.aborted) note(`events cannot be read, retrying: ${message}`)
      isFailing = true
      retryMs = Math.min(retryAfterSeconds, 60) * 1000
    }
    await delay(Math.max(retryMs, pauseMs(follower)), undefined, { signal: stop }).catch(() => {})
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
    const at = { ...(await findInterface(env, args)), stop }
    note(`listening to ${at.baseUrl}; signed with ${secret}`)
    for await (const followed of follow(new EventFollower(at), context)) {
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
