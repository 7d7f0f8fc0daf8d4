import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { endWithParent } from './cluster-processes.ts'

/** Built by scripts/build-otlp-receiver.sh. */
const program = resolve(import.meta.dirname, '../../.tools/otlp-receiver/otlp-receiver')

type Value = { readonly stringValue?: string; readonly intValue?: string }
type Sent = {
  readonly resourceSpans?: readonly {
    readonly resource: { readonly attributes: readonly { readonly key: string; readonly value: Value }[] }
    readonly scopeSpans: readonly { readonly spans: readonly SentSpan[] }[]
  }[]
}
type SentSpan = {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly name: string
  readonly kind: string
  readonly startTimeUnixNano: string
  readonly endTimeUnixNano: string
  readonly attributes?: readonly { readonly key: string; readonly value: Value }[]
  readonly status?: { readonly code?: string; readonly message?: string }
}

/** A received span; ids are hex, times milliseconds since 1970. */
export type ReceivedSpan = {
  readonly service: string
  readonly traceId: string
  readonly spanId: string
  readonly parentId: string | undefined
  readonly name: string
  readonly kind: string
  readonly startMs: number
  readonly endMs: number
  readonly attributes: Readonly<Record<string, string>>
  readonly error: string | undefined
}

const hex = (base64: string | undefined) => (base64 ? Buffer.from(base64, 'base64').toString('hex') : undefined)
const ms = (nanoseconds: string) => Number(BigInt(nanoseconds) / 1000n) / 1000
const valueOf = ({ stringValue, intValue }: Value) => stringValue ?? intValue ?? ''

type SentLogs = {
  readonly resourceLogs?: readonly {
    readonly resource: { readonly attributes: readonly { readonly key: string; readonly value: Value }[] }
    readonly scopeLogs: readonly {
      readonly logRecords: readonly {
        readonly timeUnixNano: string
        readonly severityNumber: string
        readonly eventName?: string
        readonly body: Value
        readonly attributes?: readonly { readonly key: string; readonly value: Value }[]
      }[]
    }[]
  }[]
}

/** A received log record; `at` is milliseconds since 1970. */
export type ReceivedLog = {
  readonly service: string
  readonly at: number
  readonly severity: string
  readonly eventName: string | undefined
  readonly body: string
  readonly attributes: Readonly<Record<string, string>>
}

const logsOf = (line: string): ReceivedLog[] =>
  ((JSON.parse(line) as SentLogs).resourceLogs ?? []).flatMap(({ resource, scopeLogs }) => {
    const service = valueOf(resource.attributes.find(({ key }) => key === 'service.name')?.value ?? {})
    return scopeLogs.flatMap(({ logRecords }) =>
      logRecords.map(({ timeUnixNano, severityNumber, eventName, body, attributes = [] }) => ({
        service,
        at: ms(timeUnixNano),
        severity: severityNumber.replace('SEVERITY_NUMBER_', ''),
        eventName,
        body: valueOf(body),
        attributes: Object.fromEntries(attributes.map(({ key, value }) => [key, valueOf(value)])),
      })),
    )
  })

const spansOf = (line: string): ReceivedSpan[] =>
  ((JSON.parse(line) as Sent).resourceSpans ?? []).flatMap(({ resource, scopeSpans }) => {
    const service = valueOf(resource.attributes.find(({ key }) => key === 'service.name')?.value ?? {})
    return scopeSpans.flatMap(({ spans }) =>
      spans.map((span) => ({
        service,
        traceId: hex(span.traceId) ?? '',
        spanId: hex(span.spanId) ?? '',
        parentId: hex(span.parentSpanId),
        name: span.name,
        kind: span.kind.replace('SPAN_KIND_', ''),
        startMs: ms(span.startTimeUnixNano),
        endMs: ms(span.endTimeUnixNano),
        attributes: Object.fromEntries((span.attributes ?? []).map(({ key, value }) => [key, valueOf(value)])),
        error: span.status?.code === 'STATUS_CODE_ERROR' ? (span.status.message ?? '') : undefined,
      })),
    )
  })

/** A receiver of traces and logs on loopback. */
export type OtlpReceiver = AsyncDisposable & {
  readonly url: string
  readonly spans: readonly ReceivedSpan[]
  readonly logs: readonly ReceivedLog[]
}

/** Starts a receiver; with `hangs`, it accepts connections and never responds. */
export const startOtlpReceiver = async ({ hangs = false } = {}): Promise<OtlpReceiver> => {
  const child = spawn('setpriv', [...endWithParent, program, ...(hangs ? ['hang'] : [])], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = once(child, 'exit')
  const lines = createInterface(child.stdout)
  const [url] = (await Promise.race([once(lines, 'line'), ended])) as [string]
  const spans: ReceivedSpan[] = []
  const logs: ReceivedLog[] = []
  lines.on('line', (line) => {
    spans.push(...spansOf(line))
    logs.push(...logsOf(line))
  })
  return {
    url,
    spans,
    logs,
    [Symbol.asyncDispose]: async () => {
      child.kill('SIGKILL')
      await ended
    },
  }
}
