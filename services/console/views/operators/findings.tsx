import { useQuery } from '@tanstack/preact-query'
import { Section } from '#console/components/page.tsx'
import { Loaded } from '#console/components/state.tsx'
import { StatusBadge } from '#console/components/status-badge.tsx'
import { TableHead } from '#console/components/table-head.tsx'
import { texts } from '#console/text/texts.ts'
import { type Finding, operatorPath } from './records.ts'

const words = texts.operator.findings
const tones = { ok: 'good', warning: 'busy', failed: 'bad' } as const

const Table = ({ findings }: { findings: readonly Finding[] }) => (
  <table>
    <TableHead columns={[words.check, words.state, words.detail]} />
    <tbody>
      {findings.map(({ name, state, detail, advice }, index) => (
        <tr key={`${name} ${index}`}>
          <td>{words.names[name] ?? name}</td>
          <td>
            <StatusBadge tone={tones[state]} label={words.states[state]} />
          </td>
          <td>
            {detail}
            {advice !== null && <p class="muted small">{advice}</p>}
          </td>
        </tr>
      ))}
    </tbody>
  </table>
)

const List = ({ findings }: { findings: readonly Finding[] }) => {
  const open = findings.filter(({ state }) => state !== 'ok')
  const passed = findings.filter(({ state }) => state === 'ok')
  return (
    <>
      {open.length === 0 ? <p class="muted">{words.none}</p> : <Table findings={open} />}
      {passed.length > 0 && (
        <details>
          <summary>{words.passed(passed.length)}</summary>
          <Table findings={passed} />
        </details>
      )}
    </>
  )
}

/** What the gateway finds wrong with its installation, with what to do about it; below it the checks that passed. */
export const Findings = () => {
  const query = useQuery<{ data: readonly Finding[] }>({ queryKey: [`${operatorPath}/findings`] })
  return (
    <Section title={words.title}>
      <Loaded query={query}>{({ data }) => <List findings={data} />}</Loaded>
    </Section>
  )
}
