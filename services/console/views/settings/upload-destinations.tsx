import type { UploadDestination } from '#client/responses.js'
import { useQuery, useQueryClient } from '@tanstack/preact-query'
import { useState } from 'preact/hooks'
import { useApi, useMayChange } from '#console/api/session.tsx'
import { ConfirmDialog } from '#console/components/dialog.tsx'
import { Section } from '#console/components/page.tsx'
import { ErrorNotice, Loaded, Notice } from '#console/components/state.tsx'
import { TableHead } from '#console/components/table-head.tsx'
import { UploadState } from '#console/components/upload-state.tsx'
import { texts } from '#console/text/texts.ts'
import { AddDestination } from './add-destination.tsx'

const path = '/v1/upload-destinations'
/** Poll interval while a test or an upload is pending. */
const listedEveryMs = 3000

type Actions = {
  readonly test: (destination: UploadDestination) => void
  readonly remove: (destination: UploadDestination) => void
}

const Row = ({ destination, actions }: { destination: UploadDestination; actions: Actions | undefined }) => {
  const { name, endpoint, bucket, prefix, last_upload: last } = destination
  return (
    <tr>
      <td class="main-cell">
        {name}
        <code class="below ellipsis">{`${endpoint}/${bucket}/${prefix}`}</code>
      </td>
      <td>{last && <UploadState {...last} />}</td>
      {actions && (
        <td class="number">
          <div class="row end">
            {(['test', 'remove'] as const).map((action) => (
              <button
                key={action}
                type="button"
                class="button small"
                aria-label={`${texts.uploads[action]} ${name}`}
                onClick={() => actions[action](destination)}
              >
                {texts.uploads[action]}
              </button>
            ))}
          </div>
        </td>
      )}
    </tr>
  )
}

const Table = (props: { destinations: readonly UploadDestination[]; actions: Actions | undefined }) => (
  <table>
    <TableHead
      columns={[
        texts.uploads.fields.name.label,
        texts.uploads.lastUpload,
        props.actions !== undefined && { title: texts.common.actions, layout: 'number', isHidden: true },
      ]}
    />
    <tbody>
      {props.destinations.map((destination) => (
        <Row key={destination.id} destination={destination} actions={props.actions} />
      ))}
    </tbody>
  </table>
)

/** The upload destinations of the account: add, test, delete. */
export const UploadDestinations = () => {
  const api = useApi()
  const client = useQueryClient()
  const mayChange = useMayChange()
  const query = useQuery<{ data: readonly UploadDestination[] }>({
    queryKey: [path],
    refetchInterval: ({ state }) =>
      state.data?.data.some(({ last_upload: last }) => last?.status === 'pending') === true ? listedEveryMs : false,
  })
  const [dialog, setDialog] = useState<'none' | 'add' | UploadDestination>('none')
  const [error, setError] = useState<Error>()
  const close = () => setDialog('none')
  const reload = () => client.invalidateQueries({ queryKey: [path] })
  const test = async ({ id }: UploadDestination) => {
    setError(undefined)
    await api(`${path}/${id}/test`, { method: 'POST' }).catch((caught: unknown) => setError(caught as Error))
    await reload()
  }
  const remove = async (id: string) => {
    await api(`${path}/${id}`, { method: 'DELETE' })
    close()
    await reload()
  }
  const actions: Actions = { test: (destination) => void test(destination), remove: setDialog }
  const add = (
    <button type="button" class="button" onClick={() => setDialog('add')}>
      {texts.uploads.add}
    </button>
  )
  const { title, empty, emptyText, removeTitle, removeText, remove: submit } = texts.uploads
  return (
    <Section title={title} actions={mayChange && add}>
      {error && <ErrorNotice error={error} />}
      <Loaded query={query}>
        {({ data }) =>
          data.length === 0 ? (
            <Notice title={empty}>{emptyText}</Notice>
          ) : (
            <Table destinations={data} actions={mayChange ? actions : undefined} />
          )
        }
      </Loaded>
      {dialog === 'add' && <AddDestination path={path} onAdded={reload} onClose={close} />}
      {typeof dialog === 'object' && (
        <ConfirmDialog
          title={removeTitle(dialog.name)}
          text={removeText}
          submit={submit}
          onSubmit={() => remove(dialog.id)}
          onClose={close}
        />
      )}
    </Section>
  )
}
