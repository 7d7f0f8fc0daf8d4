import type { Screenshot } from '#client/responses.js'
import { type InfiniteData, useInfiniteQuery, useQueryClient } from '@tanstack/preact-query'
import { useState } from 'preact/hooks'
import { useEvents } from '#console/api/events.ts'
import { type CapturePage, isOpen } from '#console/api/records.ts'
import { sendRequest } from '#console/api/request.ts'
import { useAttended } from '#console/api/use-attended.ts'
import { CaptureTable } from '#console/components/capture-table.tsx'
import { Field } from '#console/components/field.tsx'
import { LoadMore } from '#console/components/load-more.tsx'
import { Page } from '#console/components/page.tsx'
import { Loaded, Notice } from '#console/components/state.tsx'
import { texts } from '#console/text/texts.ts'
import { SelectionBar } from './selection-bar.tsx'
import { capturesPath, type Filters, isFiltered, noFilters } from './capture-query.ts'

const listedEveryMs = 10_000
/** Browsers open six connections to a host at most. */
const followed = 2

type Pages = InfiniteData<CapturePage, string | undefined>

/** Subscribes to the end of a capture, and shows it in the list. */
const Follow = ({ id, queryKey }: { id: string; queryKey: readonly unknown[] }) => {
  const client = useQueryClient()
  const replace = (record: Screenshot) =>
    client.setQueryData<Pages>(
      queryKey,
      (pages) =>
        pages && {
          ...pages,
          pages: pages.pages.map((page) => ({
            ...page,
            data: page.data.map((each) => (each.id === record.id ? record : each)),
          })),
        },
    )
  useEvents(`/v1/screenshots/${id}/events`, {
    result: (content) => replace(content as Screenshot),
    deleted: () => void client.invalidateQueries({ queryKey }),
  })
  return null
}

const FilterRow = ({ filters, onChange }: { filters: Filters; onChange: (filters: Filters) => void }) => (
  <div class="filters">
    <Field label={texts.captures.status}>
      {(ids) => (
        <select
          {...ids}
          value={filters.status}
          onChange={(event) => onChange({ ...filters, status: event.currentTarget.value })}
        >
          <option value="">{texts.captures.anyStatus}</option>
          {Object.entries(texts.captures.statuses).map(([status, label]) => (
            <option key={status} value={status}>
              {label}
            </option>
          ))}
        </select>
      )}
    </Field>
    {(['from', 'to'] as const).map((end) => (
      <Field key={end} label={texts.captures[end]}>
        {(ids) => (
          <input
            {...ids}
            type="date"
            value={filters[end]}
            onChange={(event) => onChange({ ...filters, [end]: event.currentTarget.value })}
          />
        )}
      </Field>
    ))}
    {isFiltered(filters) && (
      <button type="button" class="button" onClick={() => onChange(noFilters)}>
        {texts.captures.clear}
      </button>
    )}
  </div>
)

const Empty = ({ filters }: { filters: Filters }) =>
  isFiltered(filters) ? (
    <Notice title={texts.captures.emptyFiltered}>{texts.captures.emptyFilteredText}</Notice>
  ) : (
    <Notice title={texts.captures.empty}>{texts.captures.emptyText}</Notice>
  )

/** The captures of the account, newest first. */
export const Captures = () => {
  const isAttended = useAttended()
  const [filters, setFilters] = useState(noFilters)
  const [selected, setSelected] = useState<readonly string[]>([])
  const queryKey = ['/v1/screenshots', filters]
  const query = useInfiniteQuery({
    queryKey,
    queryFn: ({ pageParam, signal }) => sendRequest<CapturePage>(capturesPath(filters, pageParam), { signal }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ meta }) => meta.next_cursor ?? undefined,
    // Further pages are loaded once; loading all of them again would cost as many requests.
    refetchInterval: ({ state }) => (isAttended && state.data?.pages.length === 1 ? listedEveryMs : false),
  })
  const filter = (changed: Filters) => {
    setFilters(changed)
    // What is no longer listed must not be deleted.
    setSelected([])
  }
  return (
    <Page title={texts.pages.captures}>
      <FilterRow filters={filters} onChange={filter} />
      <Loaded query={query}>
        {({ pages }) => {
          const captures = pages.flatMap(({ data }) => data)
          const { total = 0, total_estimated: isEstimated = false } = pages[0]?.meta ?? {}
          if (captures.length === 0) return <Empty filters={filters} />
          return (
            <>
              {selected.length > 0 ? (
                <SelectionBar ids={selected} onChange={setSelected} />
              ) : (
                <p class="muted" role="status">
                  {texts.captures.total(total, isEstimated)}
                </p>
              )}
              {captures
                .filter(isOpen)
                .slice(0, followed)
                .map(({ id }) => (
                  <Follow key={id} id={id} queryKey={queryKey} />
                ))}
              <CaptureTable captures={captures} selection={{ ids: selected, onChange: setSelected }} />
              <LoadMore query={query} />
            </>
          )
        }}
      </Loaded>
    </Page>
  )
}
