import { systemClock } from '#controller/kube/clock.ts'
import { openConnection } from '#shared/kube/connection.ts'
import { connectQueue } from '#shared/queue/connection.ts'
import { userInboxPrefix } from '#shared/queue/permissions.ts'
import { createCertificateEvents } from '#shared/telemetry/certificate-events.ts'
import { reportClientCertificates } from '#shared/telemetry/client-certificates.ts'
import { createIdentityEvents } from '#shared/telemetry/identity-events.ts'
import { createLogger } from '#shared/telemetry/logger.ts'
import { createMetrics } from '#shared/telemetry/metrics.ts'
import { startProbeServer } from '#shared/telemetry/probe-server.ts'
import type { OperatorConfig } from './config.ts'
import { openOperator } from './open-operator.ts'

const userAgent = 'shutterfleet-controller'

/** Connects to NATS and to the API server, and starts the operator. Dispose releases the Lease before it closes the rest. */
export const openContext = async (config: OperatorConfig) => {
  await using opened = new AsyncDisposableStack()
  const metrics = createMetrics('controller')
  const logger = createLogger({ service: 'controller', level: config.logLevel })
  opened.use(reportClientCertificates(config, createCertificateEvents(logger, metrics)))
  const queue = opened.use(
    await connectQueue({
      url: config.natsUrl,
      identity: config,
      identityReports: createIdentityEvents(logger, metrics).identityReports('nats'),
      name: 'controller',
      inboxPrefix: userInboxPrefix('controller'),
      notice: ({ kind, detail }) =>
        logger[kind === 'reconnected' ? 'info' : 'warn']({ detail }, `connection to NATS: ${kind}`),
    }),
  )
  const { kubeconfig } = config
  const connection = opened.use(openConnection({ userAgent, ...(kubeconfig !== '' && { kubeconfig }) }))
  const operator = opened.use(
    openOperator({ config, connection, queue, clock: systemClock, random: Math.random, logger, metrics }),
  )
  const probe = opened.use(await startProbeServer(config, { metrics, health: operator.health }))
  const parts = opened.move()
  return { probeUrl: probe.url, [Symbol.asyncDispose]: () => parts.disposeAsync() }
}
