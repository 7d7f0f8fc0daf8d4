import type { Usage, UsageDay } from '#client/responses.js'
import { Figures } from '#console/components/figures.tsx'
import { Section } from '#console/components/page.tsx'
import { TableHead } from '#console/components/table-head.tsx'
import { formatCount, formatDay, formatShare } from '#console/text/format.ts'
import { texts } from '#console/text/texts.ts'
import { quotaShare, sumDays, usageBars } from './usage-bars.ts'

const words = texts.overview.days

const Bars = ({ width, most, bars, shareY }: ReturnType<typeof usageBars>) => (
  <div class="usage-bars">
    <span class="usage-most number small muted" aria-hidden="true">
      {formatCount(Math.ceil(most))}
    </span>
    <svg viewBox={`0 0 ${width} 100`} preserveAspectRatio="none" role="img" aria-label={words.chart}>
      {bars.map((bar) => (
        <g key={bar.day.day}>
          <title>{words.day(bar.day)}</title>
          <rect class="day" x={bar.x} y="0" width={bar.width} height="100" />
          <rect class="charged" x={bar.x} y={bar.charged.y} width={bar.width} height={bar.charged.height} />
          <rect class="failed" x={bar.x} y={bar.failed.y} width={bar.width} height={bar.failed.height} />
        </g>
      ))}
      {shareY !== undefined && <path class="share" d={`M0 ${shareY}H${width}`} />}
    </svg>
  </div>
)

const Legend = ({ share, isDrawn }: { share: number | undefined; isDrawn: boolean }) => (
  <ul class="legend">
    {(['charged', 'failed'] as const).map((part) => (
      <li key={part}>
        <span class={`swatch ${part}`} aria-hidden="true" />
        {words[part]}
      </li>
    ))}
    {share !== undefined && (
      <li>
        {isDrawn && <span class="swatch share" aria-hidden="true" />}
        {words.share(share, isDrawn)}
      </li>
    )}
  </ul>
)

const reasonsOf = ({ failures }: UsageDay) =>
  failures.map(({ code, count }) => `${code} ${formatCount(count)}`).join(', ')

const DayTable = ({ days }: { days: readonly UsageDay[] }) => (
  <details>
    <summary>{words.table}</summary>
    <table>
      <caption class="hidden">{words.title}</caption>
      <TableHead
        columns={[
          words.date,
          { title: words.charged, layout: 'number' },
          { title: words.cached, layout: 'number' },
          { title: words.failed, layout: 'number' },
          { title: words.reasons, layout: 'wide' },
        ]}
      />
      <tbody>
        {days.toReversed().map((each) => (
          <tr key={each.day}>
            <td class="nowrap">{formatDay(each.day)}</td>
            <td class="number">{formatCount(each.charged)}</td>
            <td class="number">{formatCount(each.cached)}</td>
            <td class="number">{formatCount(each.failed)}</td>
            <td class="wide">{reasonsOf(each)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  </details>
)

const Reasons = ({ failures }: Pick<ReturnType<typeof sumDays>, 'failures'>) => {
  const most = failures[0]?.count ?? 1
  return (
    <table class="reasons">
      <TableHead columns={[words.reasons, { title: words.failed, layout: 'number' }]} />
      <tbody>
        {failures.map(({ code, count }) => (
          <tr key={code}>
            <td>
              <code>{code}</code>
              <svg class="reason-bar" viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true">
                <rect class="failed" width={(count / most) * 100} height="4" />
              </svg>
            </td>
            <td class="number">{formatCount(count)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

/** Charged and failed captures of each day beside an even share of the quota, as bars and as a table, and why some failed. */
export const UsageDays = ({ usage, days }: { usage: Usage; days: readonly UsageDay[] }) => {
  const share = quotaShare(usage)
  const chart = usageBars(days, share)
  const { charged, cached, failed, successShare, failures } = sumDays(days)
  if (charged + cached + failed === 0) return null
  return (
    <Section title={words.title}>
      <Figures
        figures={[
          [words.success, successShare === undefined ? texts.common.none : formatShare(successShare)],
          [words.charged, formatCount(charged)],
          [words.cached, formatCount(cached)],
          [words.failed, formatCount(failed)],
        ]}
      />
      <div class="usage-days">
        <Bars {...chart} />
        <p class="usage-axis small muted" aria-hidden="true">
          {[days[0], days.at(-1)].map((each) => each && <span key={each.day}>{formatDay(each.day)}</span>)}
        </p>
        <Legend share={share} isDrawn={chart.shareY !== undefined} />
        <DayTable days={days} />
      </div>
      {failures.length > 0 && <Reasons failures={failures} />}
    </Section>
  )
}
