import { useState } from 'preact/hooks'
import { Link, useLocation } from 'wouter-preact'
import { useLatestCaptures } from '#console/api/latest-captures.ts'
import { useMayChange } from '#console/api/session.tsx'
import { Field } from '#console/components/field.tsx'
import { Page, Section } from '#console/components/page.tsx'
import { Loaded, Notice } from '#console/components/state.tsx'
import { Time } from '#console/components/time.tsx'
import { TableHead } from '#console/components/table-head.tsx'
import { texts } from '#console/text/texts.ts'
import { batchesIn, type ListedBatch } from './batches-in.ts'
import { CreateBatch } from './create-batch.tsx'

const OpenById = () => {
  const [, navigate] = useLocation()
  const [id, setId] = useState('')
  const open = (event: Event) => {
    event.preventDefault()
    navigate(`/batches/${encodeURIComponent(id.trim())}`)
  }
  return (
    <form class="filters" onSubmit={open}>
      <Field label={texts.batches.openId}>
        {(ids) => (
          <input {...ids} required class="mono" value={id} onInput={(event) => setId(event.currentTarget.value)} />
        )}
      </Field>
      <button type="submit" class="button">
        {texts.batches.openSubmit}
      </button>
    </form>
  )
}

const BatchTable = ({ batches }: { batches: readonly ListedBatch[] }) => (
  <table>
    <TableHead
      columns={[
        texts.batches.title,
        { title: texts.batches.members, layout: 'number' },
        { title: texts.captures.created, layout: 'number' },
      ]}
    />
    <tbody>
      {batches.map(({ id, createdAt, captures }) => (
        <tr key={id}>
          <td class="main-cell">
            <Link class="ellipsis mono" href={`/batches/${id}`}>
              {id}
            </Link>
          </td>
          <td class="number">{captures}</td>
          <td class="number">
            <Time at={createdAt} />
          </td>
        </tr>
      ))}
    </tbody>
  </table>
)

/** Starts batches, and leads to those that the latest captures belong to. */
export const Batches = () => {
  const mayChange = useMayChange()
  const { query } = useLatestCaptures()
  const [isCreating, setIsCreating] = useState(false)
  return (
    <Page
      title={texts.pages.batches}
      actions={
        mayChange && (
          <button type="button" class="button primary" onClick={() => setIsCreating(true)}>
            {texts.batches.create}
          </button>
        )
      }
    >
      <Section title={texts.batches.list}>
        <Loaded query={query}>
          {({ data }) => {
            const batches = batchesIn(data)
            if (batches.length === 0) return <Notice title={texts.batches.empty}>{texts.batches.emptyText}</Notice>
            return <BatchTable batches={batches} />
          }}
        </Loaded>
      </Section>
      <Section title={texts.batches.open}>
        <p class="help">{texts.batches.listHelp}</p>
        <OpenById />
      </Section>
      {isCreating && <CreateBatch onClose={() => setIsCreating(false)} />}
    </Page>
  )
}
