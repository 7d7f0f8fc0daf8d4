import type { FastifyInstance } from 'fastify'
import type { Answer } from './answer.ts'

/** Paths without an operation, which redirect people to the reference. */
export const redirectPaths = ['/', '/v1', '/api/v1'] as const

/** Redirects to the reference, with a body for programs. The paths are relative, to keep the path prefix of a reverse proxy. */
export const redirectToReference = async (): Promise<Answer> => ({
  status: 302,
  headers: { location: 'v1/docs' },
  body: { data: { docs: 'v1/docs', openapi: 'v1/openapi.json' } },
})

/** Probes for load balancers, which reach only this port: no details, no log, no key. Not ready once the service stops. */
export const routeProbes = (app: FastifyInstance, isStopping: () => boolean): void => {
  const route = (url: string, isGood: () => boolean) =>
    app.route({
      method: ['GET', 'HEAD'],
      url,
      handler: (_request, reply) => {
        const [status, text] = isGood() ? [200, 'ok'] : [503, 'stopping']
        return reply
          .code(status)
          .headers({ 'cache-control': 'no-store', 'content-type': 'text/plain' })
          .send(`${text}\n`)
      },
    })
  route('/healthz', () => true)
  route('/readyz', () => !isStopping())
}
