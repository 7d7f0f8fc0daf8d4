import type { Screenshot, StoredOutput } from '#client/responses.js'
import { useQuery } from '@tanstack/preact-query'
import { useState } from 'preact/hooks'
import { Section } from '#console/components/page.tsx'
import { Loaded } from '#console/components/state.tsx'
import { StatusBadge } from '#console/components/status-badge.tsx'
import { TableHead } from '#console/components/table-head.tsx'
import { formatBytes, formatDuration } from '#console/text/format.ts'
import { texts } from '#console/text/texts.ts'
import {
  formatPosition,
  type Har,
  isFailed,
  type Message,
  type Messages,
  placesInTime,
  type Request,
} from './page-log.ts'

/** Rows that are shown at first. */
const rowsMax = 50

/** Shows the first of many rows, and the others on request. */
const useFirst = <Row,>(rows: readonly Row[]) => {
  const [showsAll, setShowsAll] = useState(false)
  const hasMore = rows.length > rowsMax && !showsAll
  return {
    shown: hasMore ? rows.slice(0, rowsMax) : rows,
    more: hasMore && (
      <button type="button" class="button" onClick={() => setShowsAll(true)}>
        {texts.pageLog.all(rows.length)}
      </button>
    ),
  }
}

/** Switches between all rows and some. */
const Toggle = (props: { label: string; isOn: boolean; onChange: (isOn: boolean) => void }) => {
  const { label, isOn, onChange } = props
  return (
    <button type="button" class="button small" aria-pressed={isOn} onClick={() => onChange(!isOn)}>
      {label}
    </button>
  )
}

const RequestRow = ({ entry, place }: { entry: Request; place: { readonly x: number; readonly width: number } }) => {
  const { request, response, time, comment, _resourceType: kind } = entry
  const failed = isFailed(entry)
  const reason = [response._error, comment].filter(Boolean).join(' · ')
  return (
    <tr>
      <td class="main-cell">
        <span class="ellipsis" title={request.url}>
          {request.method === 'GET' ? '' : `${request.method} `}
          {request.url.replace(/^https?:\/\//, '')}
        </span>
        {reason !== '' && <span class="below muted">{reason}</span>}
      </td>
      <td>
        {failed ? (
          <StatusBadge tone="bad" label={response.status === 0 ? texts.pageLog.failed : String(response.status)} />
        ) : (
          response.status || texts.common.none
        )}
      </td>
      <td class="wide">{kind}</td>
      <td class="wide number">{formatBytes(response._transferSize)}</td>
      <td class="number">{formatDuration(time)}</td>
      <td class="wide request-time">
        <svg class="stage-bar" viewBox="0 0 1000 10" preserveAspectRatio="none" aria-hidden="true">
          <rect class={failed ? 'bar-failed' : 'stage-navigate'} y="0" height="10" {...place} />
        </svg>
      </td>
    </tr>
  )
}

const Requests = ({ har: { log } }: { har: Har }) => {
  const [failedOnly, setFailedOnly] = useState(false)
  const places = placesInTime(log.entries)
  const rows = log.entries.map((entry, at) => ({ entry, place: places[at] ?? { x: 0, width: 0 }, at }))
  const failures = rows.filter(({ entry }) => isFailed(entry))
  const { shown, more } = useFirst(failedOnly ? failures : rows)
  const bytes = log.entries.reduce((sum, { response }) => sum + response._transferSize, 0)
  return (
    <>
      <div class="row">
        <p class="muted">{texts.pageLog.requestsTotal(rows.length, failures.length, formatBytes(bytes))}</p>
        {failures.length > 0 && <Toggle label={texts.pageLog.failedOnly} isOn={failedOnly} onChange={setFailedOnly} />}
      </div>
      {log.comment !== undefined && <p>{log.comment}</p>}
      {rows.length > 0 && (
        <table>
          <TableHead
            columns={[
              texts.pageLog.request,
              texts.captures.status,
              { title: texts.pageLog.type, layout: 'wide' },
              { title: texts.captures.size, layout: 'wide number' },
              { title: texts.captures.time, layout: 'number' },
              { title: texts.pageLog.timeline, layout: 'wide' },
            ]}
          />
          <tbody>
            {shown.map(({ entry, place, at }) => (
              <RequestRow key={at} entry={entry} place={place} />
            ))}
          </tbody>
        </table>
      )}
      {more}
    </>
  )
}

const tones = { error: 'bad', warning: 'busy', info: 'quiet', verbose: 'quiet' } as const

const MessageItem = ({ message }: { message: Message }) => {
  const { level, source, text, stack = [] } = message
  const position = formatPosition(message)
  return (
    <li class="message">
      <StatusBadge tone={tones[level]} label={texts.pageLog.levels[level]} />
      <div>
        <code class="message-text">{text}</code>
        <span class="below muted">{[source, position].filter(Boolean).join(' · ')}</span>
        {stack.length > 1 && (
          <details>
            <summary class="small">{texts.pageLog.stack}</summary>
            <ol class="plain small">
              {stack.map((frame, at) => (
                <li key={at}>
                  <code>
                    {frame.function || texts.pageLog.anonymous} {formatPosition(frame)}
                  </code>
                </li>
              ))}
            </ol>
          </details>
        )}
      </div>
    </li>
  )
}

const ConsoleMessages = ({ content: { messages, truncated } }: { content: Messages }) => {
  const [errorsOnly, setErrorsOnly] = useState(false)
  const errors = messages.filter(({ level }) => level === 'error')
  const { shown, more } = useFirst(errorsOnly ? errors : messages)
  return (
    <>
      <div class="row">
        <p class="muted">{texts.pageLog.messagesTotal(messages.length, errors.length)}</p>
        {errors.length > 0 && <Toggle label={texts.pageLog.errorsOnly} isOn={errorsOnly} onChange={setErrorsOnly} />}
      </div>
      {truncated && <p>{texts.pageLog.truncated}</p>}
      {shown.length > 0 && (
        <ul class="plain">
          {shown.map((message, at) => (
            <MessageItem key={at} message={message} />
          ))}
        </ul>
      )}
      {more}
    </>
  )
}

/** The content of an output, which never changes; its `url` names the public origin, to which the cookie does not belong. */
const contentQuery = ({ url }: StoredOutput) => ({ queryKey: [new URL(url).pathname], staleTime: Infinity })

const RequestSection = ({ output }: { output: StoredOutput }) => {
  const query = useQuery<Har>(contentQuery(output))
  return (
    <Section title={texts.pageLog.requests}>
      <Loaded query={query} missing={texts.record.expired}>
        {(content) => <Requests har={content} />}
      </Loaded>
    </Section>
  )
}

const ConsoleSection = ({ output }: { output: StoredOutput }) => {
  const query = useQuery<Messages>(contentQuery(output))
  return (
    <Section title={texts.pageLog.console}>
      <Loaded query={query} missing={texts.record.expired}>
        {(content) => <ConsoleMessages content={content} />}
      </Loaded>
    </Section>
  )
}

/** What a page requested and what it wrote to its console, if the capture recorded that. */
export const PageLogSections = ({ capture: { outputs = [] } }: { capture: Screenshot }) => {
  const [har, messages] = ['har', 'console'].map((name) => outputs.find((each) => each.name === name))
  return (
    <>
      {har && <RequestSection output={har} />}
      {messages && <ConsoleSection output={messages} />}
    </>
  )
}
