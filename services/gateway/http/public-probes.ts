import type { FastifyInstance } from 'fastify'

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
