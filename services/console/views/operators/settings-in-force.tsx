import { useQuery } from '@tanstack/preact-query'
import { FactList } from '#console/components/fact-list.tsx'
import { Section } from '#console/components/page.tsx'
import { Loaded } from '#console/components/state.tsx'
import { texts } from '#console/text/texts.ts'
import { operatorPath, type SettingInForce } from './records.ts'

const words = texts.operator.health

/** The settings of the gateway that responds. */
export const SettingsInForce = () => {
  const query = useQuery<{ data: readonly SettingInForce[] }>({ queryKey: [`${operatorPath}/settings`] })
  return (
    <Section title={words.settings}>
      <p class="muted">{words.settingsText}</p>
      <Loaded query={query}>
        {({ data }) => (
          <FactList
            facts={data.map(({ name, value, is_default: isDefault }) => [
              name.replace('SHUTTERFLEET_', ''),
              <>
                <code>{value === '' ? texts.common.none : value}</code>
                {!isDefault && <span class="code-word"> {words.changed}</span>}
              </>,
            ])}
          />
        )}
      </Loaded>
    </Section>
  )
}
