import { Time } from '#console/components/time.tsx'
import { TableHead } from '#console/components/table-head.tsx'
import { texts } from '#console/text/texts.ts'
import type { AuditEntry } from './records.ts'

const words = texts.operator.audit

const detailOf = ({ detail }: AuditEntry) =>
  Object.entries(detail)
    .map(([name, value]) => `${name} ${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(', ')

/** Recorded changes in rows. */
export const AuditTable = ({ entries }: { entries: readonly AuditEntry[] }) => (
  <table>
    <TableHead
      columns={[
        words.time,
        words.action,
        { title: words.actor, layout: 'wide' },
        { title: words.target, layout: 'wide' },
      ]}
    />
    <tbody>
      {entries.map((entry) => (
        <tr key={entry.id}>
          <td class="nowrap">
            <Time at={entry.at} />
          </td>
          <td class="main-cell">
            <code class="ellipsis">{entry.action}</code>
            <span class="below ellipsis muted" title={detailOf(entry)}>
              {detailOf(entry)}
            </span>
            <div class="narrow">
              <code class="below ellipsis">{entry.actor}</code>
              <code class="below ellipsis">{entry.target}</code>
            </div>
          </td>
          <td class="wide">
            <code>{entry.actor}</code>
          </td>
          <td class="wide">
            <code>{entry.target}</code>
          </td>
        </tr>
      ))}
    </tbody>
  </table>
)
