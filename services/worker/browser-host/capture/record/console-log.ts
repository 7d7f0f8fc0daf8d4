import type { Protocol } from 'devtools-protocol'
import type { Session } from '#worker/browser-host/browser/connection.ts'
import { type Redactor, replaceSecrets } from './redactor.ts'

/** Most messages that are recorded, and characters of them in all; beyond either the browser reports no more of them. */
export const messagesMax = 1000
const charactersMax = 1_000_000

const [textMax, functionMax, stackMax] = [4000, 200, 10]

/** Lines and columns count from 1. */
type Position = { readonly url?: string; readonly line?: number; readonly column?: number }

/** A message of a page's console. */
export type ConsoleMessage = Position & {
  readonly time: string
  /** `console` is the page's own call; `exception` one that nothing has caught; any other names the part of the browser. */
  readonly source: 'console' | 'exception' | Protocol.Log.LogEntry['source']
  readonly level: Protocol.Log.LogEntry['level']
  readonly text: string
  readonly stack?: readonly (Position & { readonly function: string })[]
}

const levels: Readonly<Record<string, ConsoleMessage['level']>> = {
  error: 'error',
  assert: 'error',
  warning: 'warning',
  debug: 'verbose',
}

/** An argument of a call as text; the browser's preview of an object calls none of its getters. */
const describe = ({
  type,
  value,
  unserializableValue,
  preview,
  description,
}: Protocol.Runtime.RemoteObject): string => {
  if (type === 'string') return String(value)
  if (unserializableValue !== undefined) return unserializableValue
  if (!preview || preview.subtype === 'error') return description ?? String(value)
  const isList = preview.subtype === 'array'
  const parts = preview.properties.map(({ name, value: own = '…' }) => (isList ? own : `${name}: ${own}`))
  const text = [...parts, ...(preview.overflow ? ['…'] : [])].join(', ')
  if (isList) return `[${text}]`
  return description === undefined || description === 'Object' ? `{${text}}` : `${description} {${text}}`
}

/** The text of a call, with the format specifiers of its first argument filled in as browsers do. */
const formatCall = ([first, ...more]: readonly Protocol.Runtime.RemoteObject[]): string => {
  if (first === undefined) return ''
  const rest = [...more]
  const fill = (specifier: string) => {
    if (specifier === '%%') return '%'
    const next = rest.shift()
    if (!next) return specifier
    return specifier === '%c' ? '' : describe(next)
  }
  const text = first.type === 'string' ? describe(first).replaceAll(/%[%csdifoO]/g, fill) : describe(first)
  return [text, ...rest.map(describe)].join(' ')
}

/** Messages of a page's console in the order of their arrival, without secrets; bounded. */
export class ConsoleLog {
  readonly #redactor: Redactor
  readonly #sessions: Session[] = []
  readonly #messages: ConsoleMessage[] = []
  #characters = 0
  #isFull = false

  constructor(redactor: Redactor) {
    this.#redactor = redactor
  }

  /** Whether messages are left out. */
  isFull(): boolean {
    return this.#isFull
  }

  /** The messages so far, without the `cookies` of the page. */
  read(cookies: readonly string[]): readonly ConsoleMessage[] {
    return this.#messages.map((message) => ({ ...message, text: replaceSecrets(message.text, cookies) }))
  }

  /** Records the messages of a session. The events of both domains are enabled for it, and disabled once the log is full. */
  watch(session: Session): void {
    session.on('Runtime.consoleAPICalled', ({ type, args, timestamp, stackTrace }) => {
      if (type === 'clear' || type === 'endGroup') return
      const level = levels[type] ?? 'info'
      const [top] = stackTrace?.callFrames ?? []
      this.#add({ source: 'console', level, time: timestamp, text: () => formatCall(args), at: top })
    })
    session.on('Runtime.exceptionThrown', ({ timestamp, exceptionDetails: details }) => {
      const { text, exception, url, lineNumber, columnNumber, stackTrace } = details
      const [top = { url: url ?? '', lineNumber, columnNumber }] = stackTrace?.callFrames ?? []
      // Its stack is recorded apart.
      const what = () => [text, ...(exception ? [describe(exception).split('\n    at ', 1)[0]] : [])].join(' ')
      this.#add({ source: 'exception', level: 'error', time: timestamp, text: what, at: top, stackTrace })
    })
    session.on('Log.entryAdded', ({ entry: { source, level, text, timestamp, url = '', lineNumber } }) => {
      const at = { url, lineNumber: lineNumber ?? -1, columnNumber: -1 }
      // What a worker writes is reported by its own session too.
      if (source === 'worker') return
      this.#add({ source, level, time: timestamp, text: () => text, at })
    })
    if (this.#isFull) return
    this.#sessions.push(session)
    for (const method of ['Runtime.enable', 'Log.enable'] as const) session.send(method).catch(() => {})
  }

  #add(found: {
    readonly source: ConsoleMessage['source']
    readonly level: ConsoleMessage['level']
    /** Milliseconds since 1970. */
    readonly time: number
    readonly text: () => string
    readonly at: Pick<Protocol.Runtime.CallFrame, 'url' | 'lineNumber' | 'columnNumber'> | undefined
    readonly stackTrace?: Protocol.Runtime.StackTrace | undefined
  }): void {
    if (this.#isFull) return
    const text = found.text()
    this.#characters += text.length
    if (this.#messages.length >= messagesMax || this.#characters > charactersMax) this.#stop()
    if (this.#messages.length >= messagesMax) return
    const stack = found.stackTrace?.callFrames.slice(0, stackMax)
    this.#messages.push({
      time: new Date(found.time).toISOString(),
      source: found.source,
      level: found.level,
      text: this.#redactor.text(text, textMax),
      ...(found.at && this.#position(found.at)),
      ...(stack && {
        stack: stack.map((frame) => ({
          function: this.#redactor.text(frame.functionName, functionMax),
          ...this.#position(frame),
        })),
      }),
    })
  }

  #position({
    url,
    lineNumber,
    columnNumber,
  }: Pick<Protocol.Runtime.CallFrame, 'url' | 'lineNumber' | 'columnNumber'>): Position {
    return {
      ...(url && { url: this.#redactor.address(url) }),
      ...(lineNumber >= 0 && { line: lineNumber + 1 }),
      ...(columnNumber >= 0 && { column: columnNumber + 1 }),
    }
  }

  #stop(): void {
    this.#isFull = true
    for (const session of this.#sessions) {
      for (const method of ['Runtime.disable', 'Log.disable'] as const) session.send(method).catch(() => {})
    }
  }
}
