import type { Clock } from '#controller/kube/clock.ts'
import type { KubeConnection, KubeRequest } from '#shared/kube/connection.ts'

/** A request to the API server that was answered, or failed (`none`); of a watch its beginning. */
export type ApiRequest = {
  readonly method: KubeRequest['method']
  /** The plural of the resource, such as `pods`. */
  readonly resource: string
  readonly code: string
  readonly ms: number
}

const resourcePath = /^\/(?:api|apis\/[^/]+)\/[^/]+\/(?:namespaces\/[^/]+\/)?([a-z]+)/

/** Plural of the resource in a path of the API server; `other` where there is none. Names and namespaces are never part of it. */
export const resourceOf = (path: string): string => resourcePath.exec(path)?.[1] ?? 'other'

/** Reports each request of a connection. */
export const countRequests = (
  { connection, clock }: { connection: Pick<KubeConnection, 'send'>; clock: Pick<Clock, 'nowMs'> },
  requested: (request: ApiRequest) => void,
): Pick<KubeConnection, 'send'> => ({
  send: async (request) => {
    const began = clock.nowMs()
    let code = 'none'
    try {
      const answer = await connection.send(request)
      code = String(answer.statusCode)
      return answer
    } finally {
      const { method, path } = request
      requested({ method, resource: resourceOf(path), code, ms: clock.nowMs() - began })
    }
  },
})
