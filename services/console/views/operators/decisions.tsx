import { Time } from '#console/components/time.tsx'
import { formatCount } from '#console/text/format.ts'
import { TableHead } from '#console/components/table-head.tsx'
import { texts } from '#console/text/texts.ts'
import type { BrowserPool, DecisionChange } from './records.ts'
import { sizePaths } from './size-paths.ts'

const words = texts.operator.pools
const listed = 10

const Row = ({ change: { at, decision, reason, desired, ready, min, max } }: { change: DecisionChange }) => (
  <tr>
    <td class="nowrap">
      <Time at={at} />
    </td>
    <td class="main-cell">
      <code>
        {decision} {reason}
      </code>
    </td>
    <td class="number">{formatCount(desired)}</td>
    <td class="number">{ready === undefined ? texts.common.none : formatCount(ready)}</td>
    <td class="wide number">
      {min}–{max}
    </td>
  </tr>
)

/** The size of a pool over time, and why it was decided. */
export const Decisions = ({ pool: { name, changes } }: { pool: BrowserPool }) => {
  const { ready, desired } = sizePaths(changes.toReversed(), Date.now())
  return (
    <div class="stack">
      <h3>{words.size(name)}</h3>
      <svg class="sizes" viewBox="0 0 1000 100" preserveAspectRatio="none" role="img" aria-label={words.sizeText}>
        <path class="desired" d={desired} />
        <path class="ready" d={ready} />
      </svg>
      <p class="muted small">{words.sizeText}</p>
      <table>
        <TableHead
          columns={[
            words.time,
            `${words.decision}, ${words.reason.toLowerCase()}`,
            { title: words.desired, layout: 'number' },
            { title: words.ready, layout: 'number' },
            { title: words.bounds, layout: 'wide number' },
          ]}
        />
        <tbody>
          {changes.slice(0, listed).map((change) => (
            <Row key={change.at + change.decision + change.reason} change={change} />
          ))}
        </tbody>
      </table>
    </div>
  )
}
