import { setTimeout as delay } from 'node:timers/promises'
import { diag, DiagLogLevel } from '@opentelemetry/api'
import { services } from '#shared/config/services.ts'
import { createLogger } from './logger.ts'

/** Workers cannot reach a receiver: the ledger records their stages, from their results. */
const sendsSpans = (name: string) =>
  Object.entries(services).some(([each, service]) => each === name && service.sendsSpans)

/** Defaults of the standard variables. Traces without a caller's sampling decision are sampled at one in twenty. */
const defaults = {
  OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
  OTEL_TRACES_SAMPLER_ARG: '0.05',
  OTEL_NODE_RESOURCE_DETECTORS: 'env',
}

/** Longest delay of a stop for sending the last spans. */
const shutdownMs = 3000
/** Least time between two log lines: an unavailable receiver fails every export. */
const logEveryMs = 60_000
const reasonCharactersMax = 300

const logFailures = (service: string) => {
  const log = createLogger({ service, level: 'warn' })
  let nextMs = 0
  const warn = (reason: string) => {
    if (performance.now() < nextMs) return
    nextMs = performance.now() + logEveryMs
    log.warn({ reason: reason.slice(0, reasonCharactersMax) }, 'spans are lost: OTLP receiver unavailable or too slow')
  }
  const ignore = () => {}
  diag.setLogger(
    { error: warn, warn, info: ignore, debug: ignore, verbose: ignore },
    { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true },
  )
}

/**
 * Sends a service's spans by OTLP as the standard `OTEL_…` variables of `env` configure, which must be the process's
 * own. Undefined for a service that sends none, and if no endpoint is set: then the SDK, which costs 0.3 s and 45 MB,
 * is not loaded. At most 2048 spans wait for the receiver; further ones are dropped, and nothing blocks. Dispose
 * sends the remaining spans within three seconds.
 */
export const startTracing = async (service: string, env: NodeJS.ProcessEnv): Promise<AsyncDisposable | undefined> => {
  const endpoint = env['OTEL_EXPORTER_OTLP_ENDPOINT'] || env['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT']
  if (!endpoint || !sendsSpans(service)) return undefined
  for (const [name, value] of Object.entries(defaults)) env[name] ||= value
  const { NodeSDK } = await import('@opentelemetry/sdk-node')
  const sdk = new NodeSDK({
    serviceName: `shutterfleet-${service}`,
    metricReaders: [],
    logRecordProcessors: [],
    instrumentations: [],
    textMapPropagator: null,
  })
  logFailures(service)
  sdk.start()
  return {
    [Symbol.asyncDispose]: async () => {
      await Promise.race([sdk.shutdown().catch(() => {}), delay(shutdownMs, undefined, { ref: false })])
    },
  }
}
