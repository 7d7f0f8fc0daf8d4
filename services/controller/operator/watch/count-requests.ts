import type { Clock } from '#controller/kube/clock.ts'
import type { KubeConnection, KubeRequest } from '#shared/kube/connection.ts'

/** A completed request to the API server, of a watch its start; `code` is `none` if it failed without a response. */
export type ApiRequest = {
  readonly method: KubeRequest['method']
  /** The plural of the resource, such as `pods`. */
  readonly resource: string
  readonly code: string
  readonly ms: number
}

const resourcePath = /^\/(?:api|apis\/[^/]+)\/[^/]+\/(?:namespaces\/[^/]+\/)?([a-z]+)/

/** Plural of the resource in an API server path; `other` if there is none. Never contains names or namespaces. */
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
      const response = await connection.send(request)
      code = String(response.statusCode)
      return response
    } finally {
      const { method, path } = request
      requested({ method, resource: resourceOf(path), code, ms: clock.nowMs() - began })
    }
  },
})
