import { useQuery } from '@tanstack/preact-query'
import { FactList } from '#console/components/fact-list.tsx'
import { Page, Section } from '#console/components/page.tsx'
import { Loaded, Notice } from '#console/components/state.tsx'
import { StatusBadge } from '#console/components/status-badge.tsx'
import { Time } from '#console/components/time.tsx'
import { formatCount } from '#console/text/format.ts'
import { TableHead } from '#console/components/table-head.tsx'
import { texts } from '#console/text/texts.ts'
import { BrowsersInUse } from './browsers.tsx'
import { Findings } from './findings.tsx'
import { PausedHosts } from './paused-hosts.tsx'
import { Maintenance } from './maintenance.tsx'
import { PlansInForce } from './plans-in-force.tsx'
import { type Health as HealthRecord, operatorPath, type Part, type Task } from './records.ts'
import { useRefreshed } from './refreshed.ts'
import { SettingsInForce } from './settings-in-force.tsx'

const words = texts.operator.health
const countedMax = 10_000

const Parts = ({ parts }: { parts: readonly Part[] }) => (
  <FactList
    facts={parts.map(({ name, state, version, kind }) => [
      words.names[name] ?? name,
      <>
        <StatusBadge tone={state === 'ok' ? 'good' : 'bad'} label={state === 'ok' ? words.ok : state} />{' '}
        {version && <span class="muted">{version}</span>}
        {kind && <span class="muted">{words.storeKinds[kind]}</span>}
      </>,
    ])}
  />
)

const waitingOf = ({ waiting }: Task) => {
  if (waiting === null) return texts.common.none
  return waiting >= countedMax ? words.many : formatCount(waiting)
}

const Tasks = ({ tasks }: { tasks: readonly Task[] }) => (
  <table>
    <TableHead
      columns={[words.task, { title: words.waiting, layout: 'number' }, { title: words.since, layout: 'number' }]}
    />
    <tbody>
      {tasks.map((task) => (
        <tr key={task.name}>
          <td>{words.taskNames[task.name] ?? task.name}</td>
          <td class="number">{waitingOf(task)}</td>
          <td class="number">{task.since === null ? texts.common.none : <Time at={task.since} />}</td>
        </tr>
      ))}
    </tbody>
  </table>
)

const Details = ({ health }: { health: HealthRecord }) => (
  <>
    {health.advice !== null && <Notice title={words.advice}>{health.advice}</Notice>}
    <Section title={words.services}>
      <Parts parts={[{ name: 'gateway', state: 'ok', version: health.version }, ...health.services]} />
    </Section>
    <Section title={words.stores}>
      <Parts parts={health.stores} />
    </Section>
    <Section title={words.gateway}>
      <FactList
        facts={[
          [words.version, health.version],
          [words.node, health.node],
          [words.up, <Time key="up" at={health.started_at} />],
        ]}
      />
    </Section>
    <Section title={words.tasks}>
      <Tasks tasks={health.tasks} />
    </Section>
  </>
)

/** Services, stores and background work, checks, browsers, maintenance, receivers that do not answer, plans and settings in force. */
export const Health = () => {
  const query = useQuery<{ data: HealthRecord }>({ queryKey: [`${operatorPath}/health`], ...useRefreshed() })
  return (
    <Page title={texts.operator.pages.health}>
      <Loaded query={query}>{({ data }) => <Details health={data} />}</Loaded>
      <Findings />
      <BrowsersInUse />
      <Maintenance />
      <PausedHosts />
      <PlansInForce />
      <SettingsInForce />
    </Page>
  )
}
