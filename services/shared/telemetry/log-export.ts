import { SeverityNumber } from '@opentelemetry/api'
import type { OTLPLogExporter } from '@opentelemetry/exporter-logs-otlp-proto'
import { setTimeout as delay } from 'node:timers/promises'

type ReadableLogRecord = Parameters<OTLPLogExporter['export']>[0][number]

/** A record for a log receiver. */
export type LogRecord = {
  readonly at: Date
  readonly eventName: string
  readonly severity: 'INFO' | 'WARN' | 'ERROR'
  readonly body: string
  readonly attributes: Readonly<Record<string, string | number>>
}

/** What the exporter of the SDK has in use here. */
type Exporter = {
  readonly export: (
    records: ReadableLogRecord[],
    done: (result: { readonly code: number; readonly error?: Error }) => void,
  ) => void
  readonly shutdown: () => Promise<void>
}

type Dependencies = {
  readonly exporter: Exporter
  readonly resource: ReadableLogRecord['resource']
  readonly sent: (records: number) => void
  /** `cause`: why the receiver did not take them; undefined if too many waited. */
  readonly lost: (records: number, cause: Error | undefined) => void
}

/** Records that wait for the receiver; about 5 MB. */
const waitingMax = 10_000
/** Records of one request. */
const batchMax = 500
/** Longest delay of a stop for sending the last records. */
const shutdownMs = 3000
/** Success of `ExportResultCode`. */
const successCode = 0

const scope = { name: 'shutterfleet' }

/**
 * Sends records by OTLP in the background, a request at a time. Up to 10,000 wait; further ones are lost, and so are those of a
 * request that the receiver has not taken after the exporter's retries. Disposing it sends those that wait, within three seconds.
 */
export class LogExport implements AsyncDisposable {
  readonly #deps: Dependencies
  #waiting: ReadableLogRecord[] = []
  #sending: Promise<void> | undefined

  constructor(deps: Dependencies) {
    this.#deps = deps
  }

  /** Never waits and never throws. */
  send(records: readonly LogRecord[]): void {
    const room = waitingMax - this.#waiting.length
    if (records.length > room) this.#deps.lost(records.length - room, undefined)
    this.#waiting.push(...records.slice(0, room).map((record) => this.#toReadable(record)))
    if (this.#waiting.length > 0) this.#sending ??= this.#sendAll()
  }

  #toReadable({ at, eventName, severity, body, attributes }: LogRecord): ReadableLogRecord {
    const ms = at.getTime()
    return {
      hrTime: [Math.trunc(ms / 1000), (ms % 1000) * 1_000_000],
      hrTimeObserved: [Math.trunc(ms / 1000), (ms % 1000) * 1_000_000],
      severityNumber: SeverityNumber[severity],
      eventName,
      body,
      attributes: { ...attributes },
      resource: this.#deps.resource,
      instrumentationScope: scope,
      droppedAttributesCount: 0,
    }
  }

  async #sendAll(): Promise<void> {
    while (this.#waiting.length > 0) await this.#sendBatch(this.#waiting.splice(0, batchMax))
    this.#sending = undefined
  }

  async #sendBatch(batch: ReadableLogRecord[]): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<{ readonly code: number; readonly error?: Error }>()
    this.#deps.exporter.export(batch, resolve)
    const { code, error } = await promise
    if (code === successCode) this.#deps.sent(batch.length)
    else this.#deps.lost(batch.length, error ?? new Error('the receiver refused the records'))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.race([this.#sending, delay(shutdownMs, undefined, { ref: false })])
    if (this.#waiting.length > 0) this.#deps.lost(this.#waiting.length, undefined)
    this.#waiting = []
    await Promise.race([this.#deps.exporter.shutdown().catch(() => {}), delay(shutdownMs, undefined, { ref: false })])
  }
}

/**
 * Opens the export of a service's records to the OTLP receiver of `url`, protobuf over HTTP, with headers and bounds of the standard
 * variables `OTEL_EXPORTER_OTLP_LOGS_…` of the process.
 */
export const openLogExport = async (
  service: string,
  url: string,
  events: Pick<Dependencies, 'sent' | 'lost'>,
): Promise<LogExport> => {
  const { OTLPLogExporter: LogExporter } = await import('@opentelemetry/exporter-logs-otlp-proto')
  const { resourceFromAttributes } = await import('@opentelemetry/resources')
  const resource = resourceFromAttributes({ 'service.name': `shutterfleet-${service}` })
  return new LogExport({ exporter: new LogExporter({ url }), resource, ...events })
}
