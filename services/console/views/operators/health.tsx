import { useQuery } from '@tanstack/preact-query'
import { FactList } from '#console/components/fact-list.tsx'
import { Page, Section } from '#console/components/page.tsx'
import { Loaded } from '#console/components/state.tsx'
import { StatusBadge } from '#console/components/status-badge.tsx'
import { Time } from '#console/components/time.tsx'
import { texts } from '#console/text/texts.ts'
import { type Health as HealthRecord, operatorPath } from './records.ts'
import { useRefreshed } from './refreshed.ts'

const words = texts.operator.health

const Stores = ({ stores }: Pick<HealthRecord, 'stores'>) => (
  <FactList
    facts={stores.map(({ name, state }) => [
      words.storeNames[name] ?? name,
      <StatusBadge key={name} tone={state === 'ok' ? 'good' : 'bad'} label={state === 'ok' ? words.ok : state} />,
    ])}
  />
)

/** Health of the gateway and of the stores. */
export const Health = () => {
  const query = useQuery<{ data: HealthRecord }>({ queryKey: [`${operatorPath}/health`], ...useRefreshed() })
  return (
    <Page title={texts.operator.pages.health}>
      <Loaded query={query}>
        {({ data: { version, node, started_at, stores } }) => (
          <>
            <Section title={words.stores}>
              <Stores stores={stores} />
            </Section>
            <Section title={words.gateway}>
              <FactList
                facts={[
                  [words.version, version],
                  [words.node, node],
                  [words.up, <Time key="up" at={started_at} />],
                ]}
              />
            </Section>
          </>
        )}
      </Loaded>
    </Page>
  )
}
