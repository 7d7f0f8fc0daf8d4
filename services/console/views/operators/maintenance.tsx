import { useQuery, useQueryClient } from '@tanstack/preact-query'
import { useState } from 'preact/hooks'
import { useApi, useSession } from '#console/api/session.tsx'
import { ConfirmDialog } from '#console/components/dialog.tsx'
import { Section } from '#console/components/page.tsx'
import { Loaded } from '#console/components/state.tsx'
import { StatusBadge } from '#console/components/status-badge.tsx'
import { Time } from '#console/components/time.tsx'
import { texts } from '#console/text/texts.ts'
import { operatorPath } from './records.ts'

const words = texts.operator.health
const path = `${operatorPath}/maintenance`

type State = { readonly on: boolean; readonly since: string | null }

/** Whether captures are accepted, and the switch for it. */
export const Maintenance = () => {
  const api = useApi()
  const client = useQueryClient()
  const { role } = useSession()
  const [isAsking, setIsAsking] = useState(false)
  const query = useQuery<{ data: State }>({ queryKey: [path] })
  const isOn = query.data?.data.on === true
  const label = isOn ? words.turnOff : words.turnOn
  const turn = async () => {
    client.setQueryData([path], await api(path, { method: 'PUT', body: { on: !isOn } }))
    setIsAsking(false)
  }
  return (
    <Section
      title={words.maintenance}
      actions={
        role === 'operator' &&
        query.data && (
          <button type="button" class="button" onClick={() => setIsAsking(true)}>
            {label}
          </button>
        )
      }
    >
      <Loaded query={query}>
        {({ data: { on, since } }) =>
          on ? (
            <p>
              <StatusBadge tone="busy" label={words.maintenanceSince} /> <Time at={since} />
            </p>
          ) : (
            <p>
              <StatusBadge tone="good" label={words.off} />
            </p>
          )
        }
      </Loaded>
      {isAsking && (
        <ConfirmDialog
          title={`${label}?`}
          text={words.maintenanceText}
          submit={label}
          onSubmit={turn}
          onClose={() => setIsAsking(false)}
        />
      )}
    </Section>
  )
}
