import { Link } from 'wouter-preact'
import { StatusBadge } from '#console/components/status-badge.tsx'
import { formatDuration } from '#console/text/format.ts'
import { TableHead } from '#console/components/table-head.tsx'
import { texts } from '#console/text/texts.ts'
import type { Worker } from './records.ts'

const words = texts.operator.pools
const tones: Readonly<Record<string, 'good' | 'busy' | 'quiet'>> = { ready: 'good', starting: 'busy', draining: 'busy' }

const Row = ({ worker: { pod, state, slots, busy, captures, service_ms: meanMs } }: { worker: Worker }) => (
  <tr>
    <td class="main-cell">
      <code class="ellipsis">{pod}</code>
      {captures.map((id) => (
        <Link key={id} class="below ellipsis" href={`/trace/${id}`}>
          {id}
        </Link>
      ))}
    </td>
    <td>
      <StatusBadge tone={tones[state] ?? 'quiet'} label={words.states[state] ?? state} />
    </td>
    <td class="number">{words.of(busy, slots)}</td>
    <td class="wide number">{meanMs === null ? texts.common.none : formatDuration(meanMs)}</td>
  </tr>
)

/** The workers of a pool, and the captures that each serves. */
export const Workers = ({ workers }: { workers: readonly Worker[] }) =>
  workers.length === 0 ? (
    <p class="muted">{words.noWorkers}</p>
  ) : (
    <table>
      <TableHead
        columns={[
          `${words.worker}, ${words.captures.toLowerCase()}`,
          words.state,
          { title: words.slots, layout: 'number' },
          { title: words.mean, layout: 'wide number' },
        ]}
      />
      <tbody>
        {workers.map((worker) => (
          <Row key={worker.pod} worker={worker} />
        ))}
      </tbody>
    </table>
  )
