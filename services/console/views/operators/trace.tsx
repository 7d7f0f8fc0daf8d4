import { useQuery } from '@tanstack/preact-query'
import { Link, useParams } from 'wouter-preact'
import { CaptureStatus } from '#console/components/capture-status.tsx'
import { FactList } from '#console/components/fact-list.tsx'
import { Page, Section } from '#console/components/page.tsx'
import { StageBar } from '#console/components/stage-bar.tsx'
import { Loaded } from '#console/components/state.tsx'
import { Time } from '#console/components/time.tsx'
import { formatBytes } from '#console/text/format.ts'
import { texts } from '#console/text/texts.ts'
import { operatorPath, type TracedCapture } from './records.ts'

const words = texts.operator.trace

const time = (at: string | null) => at && <Time at={at} />

const Facts = ({ capture }: { capture: TracedCapture }) => (
  <FactList
    facts={[
      [texts.captures.status, <CaptureStatus key="status" status={capture.status} />],
      [texts.record.id, <code key="id">{capture.id}</code>],
      [
        words.account,
        <Link key="account" href={`/accounts/${capture.account_id}`}>
          {capture.account_name}
        </Link>,
      ],
      [words.error, [capture.error_code, capture.error_message].filter(Boolean).join(': ')],
      [words.pool, capture.pool],
      [words.lane, texts.operator.pools.lanes[capture.lane] ?? capture.lane],
      [words.attempts, capture.attempts],
      [texts.captures.created, time(capture.created_at)],
      [words.started, time(capture.started_at)],
      [texts.record.ended, time(capture.completed_at)],
      [texts.record.expires, time(capture.expires_at)],
      [texts.captures.size, capture.file_size === null ? null : formatBytes(capture.file_size)],
      [texts.record.cached, capture.cached ? texts.common.yes : null],
      [texts.record.batch, capture.batch_id && <code>{capture.batch_id}</code>],
      [words.trace, capture.traceparent && <code>{capture.traceparent}</code>],
    ]}
  />
)

/** What happened to a capture of any account. What it shows belongs to the account. */
export const Trace = () => {
  const { id = '' } = useParams()
  const query = useQuery<{ data: TracedCapture }>({ queryKey: [`${operatorPath}/captures/${encodeURIComponent(id)}`] })
  return (
    <Page title={words.title}>
      <Loaded query={query} missing={words.missing}>
        {({ data }) => (
          <>
            <Facts capture={data} />
            {data.timings && (
              <Section title={texts.record.stages}>
                <StageBar timings={data.timings} />
              </Section>
            )}
            <p class="muted">{words.hidden}</p>
          </>
        )}
      </Loaded>
    </Page>
  )
}
