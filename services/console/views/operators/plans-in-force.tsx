import { useQuery } from '@tanstack/preact-query'
import { Section } from '#console/components/page.tsx'
import { Loaded } from '#console/components/state.tsx'
import { formatCount, formatDuration, formatHours } from '#console/text/format.ts'
import { TableHead } from '#console/components/table-head.tsx'
import { texts } from '#console/text/texts.ts'
import { operatorPath, type PlanInForce } from './records.ts'

const words = texts.operator.health
const hourMs = 3_600_000

const bound = (value: number | null) => (value === null ? words.noLimit : formatCount(value))

const kept = (seconds: number) =>
  seconds * 1000 < hourMs ? formatDuration(seconds * 1000) : formatHours(Math.round(seconds / 3600))

/** The plans that accounts may have. */
export const PlansInForce = () => {
  const query = useQuery<{ data: readonly PlanInForce[] }>({ queryKey: [`${operatorPath}/plans`] })
  return (
    <Section title={words.plans}>
      <Loaded query={query}>
        {({ data }) => (
          <table>
            <TableHead
              columns={[
                words.plan,
                { title: words.quota, layout: 'number' },
                { title: words.rate, layout: 'number' },
                { title: words.kept, layout: 'wide number' },
                { title: words.pending, layout: 'wide number' },
              ]}
            />
            <tbody>
              {data.map((plan) => (
                <tr key={plan.slug}>
                  <td>{plan.name}</td>
                  <td class="number">{bound(plan.screenshots_per_month)}</td>
                  <td class="number">{bound(plan.rate_limit_per_minute)}</td>
                  <td class="wide number">{kept(plan.retention_seconds)}</td>
                  <td class="wide number">{formatCount(plan.max_pending)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        )}
      </Loaded>
    </Section>
  )
}
