import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { endWithParent } from './cluster-processes.ts'

/** Built by scripts/build-otlp-receiver.sh. */
const program = resolve(import.meta.dirname, '../../.tools/otlp-receiver/otlp-receiver')

type Value = { readonly stringValue?: string; readonly intValue?: string }
type Sent = {
  readonly resourceSpans: readonly {
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

const spansOf = (line: string): ReceivedSpan[] =>
  (JSON.parse(line) as Sent).resourceSpans.flatMap(({ resource, scopeSpans }) => {
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

/** A receiver of traces on loopback. */
export type OtlpReceiver = AsyncDisposable & { readonly url: string; readonly spans: readonly ReceivedSpan[] }

/** Starts a receiver; with `hangs`, it accepts connections and never responds. */
export const startOtlpReceiver = async ({ hangs = false } = {}): Promise<OtlpReceiver> => {
  const child = spawn('setpriv', [...endWithParent, program, ...(hangs ? ['hang'] : [])], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = once(child, 'exit')
  const lines = createInterface(child.stdout)
  const [url] = (await Promise.race([once(lines, 'line'), ended])) as [string]
  const spans: ReceivedSpan[] = []
  lines.on('line', (line) => spans.push(...spansOf(line)))
  return {
    url,
    spans,
    [Symbol.asyncDispose]: async () => {
      child.kill('SIGKILL')
      await ended
    },
  }
}
