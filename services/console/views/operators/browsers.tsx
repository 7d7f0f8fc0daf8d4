import { useQuery } from '@tanstack/preact-query'
import { Section } from '#console/components/page.tsx'
import { Loaded } from '#console/components/state.tsx'
import { StatusBadge } from '#console/components/status-badge.tsx'
import { TableHead } from '#console/components/table-head.tsx'
import { Time } from '#console/components/time.tsx'
import { formatCount } from '#console/text/format.ts'
import { texts } from '#console/text/texts.ts'
import { type InstalledBrowser, operatorPath } from './records.ts'
import { useRefreshed } from './refreshed.ts'

const words = texts.operator.health

const Table = ({ browsers }: { browsers: readonly InstalledBrowser[] }) => (
  <table>
    <TableHead
      columns={[
        words.browser,
        words.version,
        { title: words.built, layout: 'number' },
        { title: words.browserWorkers, layout: 'number' },
      ]}
    />
    <tbody>
      {browsers.map(({ browser, version, built_at: builtAt, advice, workers }) => (
        <tr key={`${browser} ${version} ${builtAt}`}>
          <td>{words.browserNames[browser]}</td>
          <td>
            <code>{version}</code> {advice !== null && <StatusBadge tone="bad" label={words.old} />}
          </td>
          <td class="number">{builtAt === null ? texts.common.none : <Time at={builtAt} />}</td>
          <td class="number">{formatCount(workers)}</td>
        </tr>
      ))}
    </tbody>
  </table>
)

/** The browsers of workers by version, with their age. */
export const BrowsersInUse = () => {
  const query = useQuery<{ data: readonly InstalledBrowser[] }>({
    queryKey: [`${operatorPath}/browsers`],
    ...useRefreshed(),
  })
  return (
    <Section title={words.browsers}>
      <Loaded query={query}>
        {({ data }) => (data.length === 0 ? <p class="muted">{words.noBrowsers}</p> : <Table browsers={data} />)}
      </Loaded>
    </Section>
  )
}
