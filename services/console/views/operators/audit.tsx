import { useState } from 'preact/hooks'
import { Field } from '#console/components/field.tsx'
import { LoadMore } from '#console/components/load-more.tsx'
import { Page } from '#console/components/page.tsx'
import { Loaded, Notice } from '#console/components/state.tsx'
import { texts } from '#console/text/texts.ts'
import { AuditTable } from './audit-table.tsx'
import { useOperatorList } from './list-query.ts'

const words = texts.operator.audit
const filterNames = ['actor', 'action', 'target'] as const
const noFilters = { actor: '', action: '', target: '' }

/** Every change to accounts, keys and the service, the latest first. */
export const Audit = () => {
  const [filters, setFilters] = useState(noFilters)
  const query = useOperatorList('audit', filters)
  return (
    <Page title={texts.operator.pages.audit}>
      <div class="filters">
        {filterNames.map((name) => (
          <Field key={name} label={words[name]}>
            {(ids) => (
              <input
                {...ids}
                type="search"
                value={filters[name]}
                onChange={(event) => setFilters({ ...filters, [name]: event.currentTarget.value.trim() })}
              />
            )}
          </Field>
        ))}
      </div>
      <Loaded query={query}>
        {({ pages }) => {
          const entries = pages.flatMap(({ data }) => data)
          if (entries.length === 0) return <Notice title={words.empty}>{words.emptyText}</Notice>
          return (
            <>
              <AuditTable entries={entries} />
              <LoadMore query={query} />
            </>
          )
        }}
      </Loaded>
    </Page>
  )
}
