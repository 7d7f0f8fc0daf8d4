import type { Usage } from '#client/responses.js'
import { useQuery } from '@tanstack/preact-query'
import { Link } from 'wouter-preact'
import { useLatestCaptures } from '#console/api/latest-captures.ts'
import type { CapturePage } from '#console/api/records.ts'
import { CaptureTable } from '#console/components/capture-table.tsx'
import { Figures } from '#console/components/figures.tsx'
import { Page, Section } from '#console/components/page.tsx'
import { Loaded, Notice } from '#console/components/state.tsx'
import { Time } from '#console/components/time.tsx'
import { formatCount, formatDuration, formatShare } from '#console/text/format.ts'
import { texts } from '#console/text/texts.ts'
import { type Summary, summarize } from './summary.ts'
import { usagePath } from './usage-bars.ts'
import { UsageDays } from './usage-chart.tsx'

const recent = 8
const failuresShown = 5

const QuotaBar = ({ usage: { screenshots_used, screenshots_limit } }: { usage: Usage }) => {
  if (screenshots_limit === null || screenshots_limit === 0) return null
  return (
    <meter
      class="quota"
      aria-label={texts.overview.usage}
      min={0}
      max={screenshots_limit}
      high={screenshots_limit * 0.8}
      optimum={0}
      value={Math.min(screenshots_used, screenshots_limit)}
    />
  )
}

const UsageCard = ({ usage }: { usage: Usage }) => {
  const { screenshots_used, screenshots_limit, screenshots_remaining, overage, overage_cost, period_end } = usage
  return (
    <div class="card usage">
      <p class="figure">{texts.overview.used(screenshots_used, screenshots_limit)}</p>
      <QuotaBar usage={usage} />
      <p class="muted">
        {screenshots_remaining === null ? texts.overview.unlimited : texts.overview.remaining(screenshots_remaining)}
        {overage > 0 && <> · {texts.overview.overage(overage, overage_cost)}</>} · {texts.overview.resets}{' '}
        <Time at={period_end} />
      </p>
    </div>
  )
}

const shown = (value: number | undefined, format: (value: number) => string) =>
  value === undefined ? texts.common.none : format(value)

const Sample = ({ summary, count }: { summary: Summary; count: number }) => (
  <Section title={texts.overview.sample(count)}>
    <Figures
      figures={[
        [texts.overview.success, shown(summary.successShare, formatShare)],
        [texts.overview.median, shown(summary.medianMs, formatDuration)],
        [texts.overview.slowest, shown(summary.slowMs, formatDuration)],
        [texts.overview.open, formatCount(summary.open)],
      ]}
    />
  </Section>
)

const Start = () => (
  <Notice
    title={texts.overview.start}
    actions={
      <>
        <Link class="button primary" href="/playground">
          {texts.overview.openPlayground}
        </Link>
        <Link class="button" href="/keys">
          {texts.overview.createKey}
        </Link>
      </>
    }
  >
    {texts.overview.startText}
  </Notice>
)

const Latest = ({ page: { data } }: { page: CapturePage }) => {
  if (data.length === 0) return <Start />
  const failures = data.filter(({ status }) => status === 'failed').slice(0, failuresShown)
  return (
    <>
      <Sample summary={summarize(data)} count={data.length} />
      <Section title={texts.overview.failures}>
        {failures.length === 0 ? (
          <p class="muted">{texts.overview.noFailures}</p>
        ) : (
          <CaptureTable captures={failures} />
        )}
      </Section>
      <Section title={texts.overview.recent} actions={<Link href="/captures">{texts.overview.allCaptures}</Link>}>
        <CaptureTable captures={data.slice(0, recent)} />
      </Section>
    </>
  )
}

/** Usage against the quota, in this month and by day, how the latest captures went, and what failed. */
export const Overview = () => {
  const { query: latest, pollMs } = useLatestCaptures()
  const usage = useQuery<{ data: Usage }>({ queryKey: [usagePath(Date.now())], refetchInterval: pollMs })
  return (
    <Page title={texts.pages.overview}>
      <Loaded query={usage}>
        {({ data }) => (
          <>
            <Section title={texts.overview.usage}>
              <UsageCard usage={data} />
            </Section>
            <UsageDays usage={data} days={data.days ?? []} />
          </>
        )}
      </Loaded>
      <Loaded query={latest}>{(page) => <Latest page={page} />}</Loaded>
    </Page>
  )
}
