import type { KubeResponse, KubeRequest } from '#shared/kube/connection.ts'
import { errorOfConnection } from '#shared/kube/kube-error.ts'
import { ObjectCache } from '#controller/kube/object-cache.ts'
import type { KubeObject } from '#shared/kube/resource.ts'
import { Term } from '#controller/kube/term.ts'
import { type HeartbeatMessage, poolStateCodec } from '#shared/queue/messages.ts'
import { poolStateSubject } from '#shared/queue/subjects.ts'
import { changingMessages, changingRequests, changingText, type Meddling, withBody } from './meddling.ts'

/** Something that keeps damage away, taken out: of all code until disposed, or of single controllers by meddling. */
export type MissingGuard = { readonly name: string; readonly meddling?: Meddling; readonly take?: () => Disposable }

/** Has methods of a class do something else, until disposed. */
const replacing = (prototype: object, methods: Readonly<Record<PropertyKey, unknown>>): Disposable => {
  const names = Reflect.ownKeys(methods)
  const before = names.map((name) => [name, Object.getOwnPropertyDescriptor(prototype, name) ?? {}] as const)
  for (const name of names)
    Object.defineProperty(prototype, name, { value: methods[name as string], configurable: true, writable: true })
  return {
    [Symbol.dispose]: () => {
      for (const [name, descriptor] of before) Object.defineProperty(prototype, name, descriptor)
    },
  }
}

/** Who led once goes on for ever: no fence throws, no time runs out. */
export const ledForEver: MissingGuard = {
  name: 'a term never ends',
  take: () => replacing(Term.prototype, { isValid: () => true, [Symbol.dispose]: () => {} }),
}

/** A fence that never throws; who is told that it does not lead any more stops all the same. */
export const noFence: MissingGuard = {
  name: 'the fence never throws',
  take: () => replacing(Term.prototype, { isValid: () => true }),
}

/** A copy that only follows what is newer, and is never put back. */
export const copiesOnlyGrow: MissingGuard = {
  name: 'what is read anew does not replace what was known',
  take: () =>
    replacing(ObjectCache.prototype, {
      replace(this: ObjectCache<KubeObject>, items: readonly KubeObject[]) {
        return items.flatMap((object) => this.apply({ type: 'MODIFIED', object }) ?? [])
      },
    }),
}

const isCreation = ({ method, path }: KubeRequest) => method === 'POST' && path.endsWith('/jobs')
const isOfLease = ({ path }: KubeRequest) => path.includes('/leases/')

/** Jobs that are asked for again get another name than before. */
export const createFreshNames = (): MissingGuard => {
  const asked = new Map<string, number>()
  const rename = (request: KubeRequest) => {
    if (!isCreation(request)) return request
    const { type = '', text = '' } = request.body ?? {}
    const { name } = (JSON.parse(text) as { metadata: { name: string } }).metadata
    const times = asked.get(name) ?? 0
    asked.set(name, times + 1)
    return times === 0 ? request : { ...request, body: { type, text: text.replaceAll(name, `${name}-${times}`) } }
  }
  return { name: 'a retry makes a Job of another name', meddling: { send: changingRequests(rename) } }
}

/** Others take a Lease that is still held. */
export const leaseNotAwaited: MissingGuard = {
  name: 'nobody waits until a Lease has run out',
  meddling: {
    send: changingText(isOfLease, (text) => text.replace(/"leaseDurationSeconds":\d+/, '"leaseDurationSeconds":0')),
  },
}

/** Clocks of different machines are compared. */
export const leaseByCalendar: MissingGuard = {
  name: 'a Lease has run out when the calendar here says so',
  meddling: {
    send: changingText(isOfLease, (text, { clock }) => {
      const { spec } = JSON.parse(text) as { spec?: { renewTime: string; leaseDurationSeconds: number } }
      if (!spec) return text
      const isOver = clock.date().getTime() > Date.parse(spec.renewTime) + spec.leaseDurationSeconds * 1000
      return isOver ? text.replace(/"holderIdentity":"[^"]*"/, '"holderIdentity":""') : text
    }),
  },
}

const heartbeatOf = (subject: string, data: Uint8Array): HeartbeatMessage | undefined =>
  subject.endsWith('.beat') ? (JSON.parse(Buffer.from(data).toString()) as HeartbeatMessage) : undefined

/** A worker that was told to take nothing more is taken away, though it serves. */
export const drainsNotAwaited: MissingGuard = {
  name: 'who was told to drain counts as drained',
  meddling: {
    queue: changingMessages((message) => {
      const heartbeat = heartbeatOf(message.subject, message.data)
      if (heartbeat?.state !== 'draining') return message
      return {
        ...message,
        data: Buffer.from(JSON.stringify({ ...heartbeat, state: 'drained', busy: 0, captures: [] })),
      }
    }),
  },
}

/** How well pods are is not looked at. */
export const unknownLooksWell: MissingGuard = {
  name: 'what Kubernetes thinks of pods is not looked at',
  meddling: {
    send: changingText(
      ({ path }) => path.endsWith('/pods'),
      (text) =>
        text
          .replaceAll('"phase":"Unknown"', '"phase":"Running"')
          .replaceAll('{"type":"Ready","status":"Unknown"', '{"type":"Ready","status":"True"'),
    ),
  },
}

/** Nobody sees that Kubernetes has lost a node. */
export const lossUnconfirmed: MissingGuard = {
  name: 'silence that Kubernetes confirms is silence like any other',
  meddling: {
    send: changingText(
      ({ path }) => path.endsWith('/pods'),
      (text) =>
        text.replaceAll('"type":"ContainersReady","status":"True"', '"type":"ContainersReady","status":"False"'),
    ),
  },
}

/** A server that starts again is as good as one that was there all the time. */
export const refusedIsNothingSpecial: MissingGuard = {
  name: 'a watch goes on from its version wherever the server was not there',
  meddling: {
    send: (send) => async (request) => {
      try {
        return await send(request)
      } catch (thrown) {
        throw errorOfConnection(new Error('socket hang up'), String(thrown))
      }
    },
  },
}

const never = new Promise<KubeResponse>(() => {})

/** Who was told once that there is no such kind never asks again. */
export const createGivingUp = (): MissingGuard => {
  const lost = new WeakSet()
  return {
    name: 'a watch that was refused is given up',
    meddling: {
      send:
        (send, { process }) =>
        async (request) => {
          if (request.method !== 'GET' || !request.path.endsWith('/browserpools')) return send(request)
          if (lost.has(process)) return never
          const answer = await send(request)
          if (answer.statusCode === 404) lost.add(process)
          return answer
        },
    },
  }
}

/** Who was refused once is refused for ever. */
export const createRefusedForEver = (): MissingGuard => {
  const refused = new WeakMap<object, KubeResponse>()
  return {
    name: 'what a quota refused is not asked for again',
    meddling: {
      send:
        (send, { process }) =>
        async (request) => {
          if (!isCreation(request)) return send(request)
          if (refused.has(process)) return never
          const answer = await send(request)
          if (answer.statusCode === 403) refused.set(process, answer)
          return answer
        },
    },
  }
}

/** One more is taken away than has been drained. */
export const oneTooFew: MissingGuard = {
  name: 'the size goes down by more than was drained',
  meddling: {
    send: changingRequests((request) => {
      if (!request.path.endsWith('/scale')) return request
      return withBody(request, (body) => {
        const { replicas } = body['spec'] as { replicas: number }
        return { ...body, spec: { replicas: Math.max(1, replicas - 1) } }
      })
    }),
  },
}

/** What a killed worker served is served by nobody. */
export const acknowledgedEarly: MissingGuard = {
  name: 'a capture is acknowledged before its end',
  meddling: { acknowledgesEarly: true },
}

const silentAfterMs = 5000
const sayMs = 1000

/** Who cannot read says that nothing can be started. */
export const unknownIsTrouble: MissingGuard = {
  name: 'what cannot be read counts as trouble',
  meddling: {
    send: (send, { process, queue }) => {
      let heardMs = process.clock.nowMs()
      const say = () => {
        const forMs = Math.round(process.clock.nowMs() - heardMs)
        const state = { pool: 'proxied', canStart: false, forMs, reason: 'quota' } as const
        if (forMs > silentAfterMs) queue.publish(poolStateSubject('proxied'), poolStateCodec.encode(state))
        process.clock.after(sayMs, say)
      }
      say()
      return async (request) => {
        const answer = await send(request)
        heardMs = process.clock.nowMs()
        return answer
      }
    },
  },
}
