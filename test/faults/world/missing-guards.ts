import type { KubeResponse, KubeRequest } from '#shared/kube/connection.ts'
import { errorOfConnection } from '#shared/kube/kube-error.ts'
import { ObjectCache } from '#controller/kube/object-cache.ts'
import { JobCreations } from '#controller/operator/jobs/job-creations.ts'
import type { KubeObject } from '#shared/kube/resource.ts'
import { Term } from '#controller/kube/term.ts'
import { type HeartbeatMessage, poolStateCodec } from '#shared/queue/messages.ts'
import { poolStateSubject } from '#shared/queue/subjects.ts'
import { changingMessages, changingRequests, changingText, type Interceptors, withBody } from './interceptors.ts'

/** Removes a safeguard: from all code until disposed (`take`), or from single controllers (`interceptors`). */
export type MissingGuard = {
  readonly name: string
  readonly interceptors?: Interceptors
  readonly take?: () => Disposable
}

/** Replaces methods of a class until disposed. */
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

/** A leader never stops leading: no fence throws, and no term expires. */
export const termNeverEnds: MissingGuard = {
  name: 'a term never ends',
  take: () => replacing(Term.prototype, { isValid: () => true, [Symbol.dispose]: () => {} }),
}

/** The fence never throws; a leader that observes the loss of its Lease still stops. */
export const noFence: MissingGuard = {
  name: 'the fence never throws',
  take: () => replacing(Term.prototype, { isValid: () => true }),
}

/** A cache that a new list does not replace: it applies only newer objects. */
export const listIgnoresAbsence: MissingGuard = {
  name: 'a new list does not replace the cache',
  take: () =>
    replacing(ObjectCache.prototype, {
      replace(this: ObjectCache<KubeObject>, items: readonly KubeObject[]) {
        return items.flatMap((object) => this.apply({ type: 'MODIFIED', object }) ?? [])
      },
    }),
}

/** Created Jobs count only once the informer shows them. */
export const createdJobsForgotten: MissingGuard = {
  name: 'created Jobs do not count before the informer shows them',
  take: () => replacing(JobCreations.prototype, { pending: () => new Set() }),
}

const isCreation = ({ method, path }: KubeRequest) => method === 'POST' && path.endsWith('/jobs')
const isOfLease = ({ path }: KubeRequest) => path.includes('/leases/')

/** A retried creation of a Job uses another name. */
export const createNewNamesOnRetry = (): MissingGuard => {
  const asked = new Map<string, number>()
  const rename = (request: KubeRequest) => {
    if (!isCreation(request)) return request
    const { type = '', text = '' } = request.body ?? {}
    const { name } = (JSON.parse(text) as { metadata: { name: string } }).metadata
    const times = asked.get(name) ?? 0
    asked.set(name, times + 1)
    return times === 0 ? request : { ...request, body: { type, text: text.replaceAll(name, `${name}-${times}`) } }
  }
  return { name: 'a retry creates a Job with another name', interceptors: { send: changingRequests(rename) } }
}

/** Candidates acquire a Lease that has not expired. */
export const leaseNotAwaited: MissingGuard = {
  name: 'candidates do not wait for the Lease to expire',
  interceptors: {
    send: changingText(isOfLease, (text) => text.replace(/"leaseDurationSeconds":\d+/, '"leaseDurationSeconds":0')),
  },
}

/** The expiry of a Lease is computed from the clocks of two machines. */
export const leaseByCalendar: MissingGuard = {
  name: 'the local date decides whether a Lease has expired',
  interceptors: {
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

/** Workers whose heartbeat has this property are reported as drained, without captures. */
const countingAsDrained = (isMeant: (heartbeat: HeartbeatMessage) => boolean): Interceptors => ({
  queue: changingMessages((message) => {
    const heartbeat = heartbeatOf(message.subject, message.data)
    if (!heartbeat || !isMeant(heartbeat)) return message
    return {
      ...message,
      data: Buffer.from(JSON.stringify({ ...heartbeat, state: 'drained', busy: 0, captures: [] })),
    }
  }),
})

/** A draining worker is removed although it still serves a capture. */
export const drainsNotAwaited: MissingGuard = {
  name: 'a draining worker counts as drained',
  interceptors: countingAsDrained(({ state }) => state === 'draining'),
}

/** The capture that a Job serves counts as waiting, because its worker counts as drained. */
export const servingNotCounted: MissingGuard = {
  name: 'a Job that serves a capture does not count',
  interceptors: countingAsDrained(({ busy }) => busy > 0),
}

/** The Unknown phase and readiness of pods are ignored. */
export const unknownPhaseIgnored: MissingGuard = {
  name: 'the Unknown phase of pods is ignored',
  interceptors: {
    send: changingText(
      ({ path }) => path.endsWith('/pods'),
      (text) =>
        text
          .replaceAll('"phase":"Unknown"', '"phase":"Running"')
          .replaceAll('{"type":"Ready","status":"Unknown"', '{"type":"Ready","status":"True"'),
    ),
  },
}

/** The controller cannot observe that Kubernetes has lost a node. */
export const lossUnconfirmed: MissingGuard = {
  name: 'missing heartbeats on a node that Kubernetes has lost are handled as on any other node',
  interceptors: {
    send: changingText(
      ({ path }) => path.endsWith('/pods'),
      (text) =>
        text.replaceAll('"type":"ContainersReady","status":"True"', '"type":"ContainersReady","status":"False"'),
    ),
  },
}

/** A refused connection is handled as one that broke: a restart of the server goes unnoticed. */
export const restartUnnoticed: MissingGuard = {
  name: 'a watch resumes from its version after the server was down',
  interceptors: {
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

/** A controller that once received 404 for BrowserPools never requests them again. */
export const createNoRetryAfter404 = (): MissingGuard => {
  const lost = new WeakSet()
  return {
    name: 'a watch that received 404 is not retried',
    interceptors: {
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

/** A controller whose Job was once rejected by a quota never creates another. */
export const createNoRetryAfterQuota = (): MissingGuard => {
  const refused = new WeakMap<object, KubeResponse>()
  return {
    name: 'a creation that a quota rejected is not retried',
    interceptors: {
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

/** A scale-down removes one worker more than has drained. */
export const scaleDownByOneMore: MissingGuard = {
  name: 'a scale-down removes more workers than have drained',
  interceptors: {
    send: changingRequests((request) => {
      if (!request.path.endsWith('/scale')) return request
      return withBody(request, (body) => {
        const { replicas } = body['spec'] as { replicas: number }
        return { ...body, spec: { replicas: Math.max(1, replicas - 1) } }
      })
    }),
  },
}

/** The capture of a killed worker is not redelivered. */
export const acknowledgedEarly: MissingGuard = {
  name: 'a capture is acknowledged before its end',
  interceptors: { acknowledgesEarly: true },
}

const silentAfterMs = 5000
const reportEveryMs = 1000

/** A controller that cannot read reports that no worker can be started. */
export const readFailureIsTrouble: MissingGuard = {
  name: 'a failed read counts as a trouble of the pool',
  interceptors: {
    send: (send, { process, queue }) => {
      let answeredMs = process.clock.nowMs()
      const report = () => {
        const forMs = Math.round(process.clock.nowMs() - answeredMs)
        const state = { pool: 'proxied', canStart: false, forMs, reason: 'quota' } as const
        if (forMs > silentAfterMs) queue.publish(poolStateSubject('proxied'), poolStateCodec.encode(state))
        process.clock.after(reportEveryMs, report)
      }
      report()
      return async (request) => {
        const answer = await send(request)
        answeredMs = process.clock.nowMs()
        return answer
      }
    },
  },
}
