import type { ApiKey } from '#client/responses.js'
import { type InfiniteData, useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/preact-query'
import type { InputHTMLAttributes } from 'preact'
import { useEffect, useMemo, useState } from 'preact/hooks'
import { useLocation, useSearch } from 'wouter-preact'
import { useAccountEvents } from '#console/api/account-events.ts'
import { withCapture, withoutCapture } from '#console/api/patch-captures.ts'
import type { CapturePage } from '#console/api/records.ts'
import { sendRequest } from '#console/api/request.ts'
import { CaptureTable } from '#console/components/capture-table.tsx'
import { Field } from '#console/components/field.tsx'
import { LoadMore } from '#console/components/load-more.tsx'
import { Page } from '#console/components/page.tsx'
import { Loaded, Notice } from '#console/components/state.tsx'
import { texts } from '#console/text/texts.ts'
import { SelectionBar } from './selection-bar.tsx'
import {
  capturesPath,
  filterQuery,
  type Filters,
  filtersIn,
  isFiltered,
  isIncluded,
  isSearched,
  noFilters,
} from './capture-query.ts'

type Pages = InfiniteData<CapturePage, string | undefined>

/** Shows changes in the list as they happen. Returns the interval at which it is to be read without a stream. */
const useLiveList = (queryKey: readonly [string, Filters]): number | false => {
  const client = useQueryClient()
  const [path, filters] = queryKey
  const patch = (change: (pages: Pages['pages']) => readonly CapturePage[]) =>
    client.setQueryData<Pages>(queryKey, (old) => old && { ...old, pages: [...change(old.pages)] })
  return useAccountEvents([path], {
    changed: (record, refresh) =>
      patch((pages) => {
        const included = isIncluded(record, filters)
        const changed = included === undefined ? undefined : withCapture(pages, record, included)
        if (!changed) refresh()
        return changed ?? pages
      }),
    deleted: (id) => patch((pages) => withoutCapture(pages, id)),
  })
}

const formats = ['png', 'jpeg', 'webp', 'avif', 'tiff', 'pdf']

type FilterProps = { filters: Filters; onChange: (filters: Filters) => void }

/** An input that keeps what is being typed while the list below it changes. */
const TypedInput = ({ value, ...others }: InputHTMLAttributes & { readonly value: string }) => {
  const [typed, setTyped] = useState(value)
  useEffect(() => setTyped(value), [value])
  return <input {...others} value={typed} onInput={(event) => setTyped(event.currentTarget.value)} />
}

/** What support knows of a capture. Sent once it is complete: a search for each letter would find nothing. */
const SearchRow = ({ filters, onChange }: FilterProps) => {
  const { data: keys } = useQuery<{ data: readonly ApiKey[] }>({ queryKey: ['/v1/keys'] })
  const change = (name: keyof Filters) => (event: { readonly currentTarget: { readonly value: string } }) =>
    onChange({ ...filters, [name]: event.currentTarget.value.trim() })
  const choices = {
    error_code: Object.keys(texts.advice).map((code) => [code, code]),
    format: formats.map((format) => [format, format]),
    key_id: keys?.data.map(({ id, name, prefix }) => [id, name === '' ? prefix : name]) ?? [],
  }
  return (
    <details class="group" open={isSearched(filters)}>
      <summary>{texts.captures.more}</summary>
      <div class="filters">
        {(['host', 'url', 'target_status', 'request_id'] as const).map((name) => (
          <Field key={name} label={texts.captures.search[name]}>
            {(ids) => (
              <TypedInput
                {...ids}
                type={name === 'target_status' ? 'number' : 'search'}
                {...(name === 'target_status' && { min: 100, max: 599 })}
                placeholder={texts.captures.examples[name]}
                value={filters[name]}
                onChange={change(name)}
              />
            )}
          </Field>
        ))}
        {(['error_code', 'format', 'key_id'] as const).map((name) => (
          <Field key={name} label={texts.captures.search[name]}>
            {(ids) => (
              <select {...ids} value={filters[name]} onChange={change(name)}>
                <option value="">{texts.captures.any}</option>
                {choices[name].map(([value, label]) => (
                  <option key={value} value={value}>
                    {label}
                  </option>
                ))}
              </select>
            )}
          </Field>
        ))}
      </div>
    </details>
  )
}

const FilterRow = ({ filters, onChange }: FilterProps) => (
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
  const search = useSearch()
  const [, navigate] = useLocation()
  const filters = useMemo(() => filtersIn(search), [search])
  const [selected, setSelected] = useState<readonly string[]>([])
  const queryKey = ['/v1/screenshots', filters] as const
  const pollMs = useLiveList(queryKey)
  const query = useInfiniteQuery({
    queryKey,
    queryFn: ({ pageParam, signal }) => sendRequest<CapturePage>(capturesPath(filters, pageParam), { signal }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ meta }) => meta.next_cursor ?? undefined,
    // Further pages are loaded once; loading all of them again would cost as many requests.
    refetchInterval: ({ state }) => (state.data?.pages.length === 1 ? pollMs : false),
  })
  const filter = (changed: Filters) => {
    // The way back from a capture, a reload and a copied address lead to the same list.
    navigate(`/captures?${filterQuery(changed)}`, { replace: true })
    // What is no longer listed must not be deleted.
    setSelected([])
  }
  return (
    <Page title={texts.pages.captures}>
      <FilterRow filters={filters} onChange={filter} />
      <SearchRow filters={filters} onChange={filter} />
      <Loaded query={query}>
        {({ pages }) => {
          const captures = pages.flatMap(({ data }) => data)
          const { total = 0, total_estimated: isEstimated = false } = pages[0]?.meta ?? {}
          if (captures.length === 0)
            return (
              <>
                <Empty filters={filters} />
                <LoadMore query={query} />
              </>
            )
          // Others may have been deleted meanwhile.
          const ids = selected.filter((id) => captures.some((capture) => capture.id === id))
          return (
            <>
              {ids.length > 0 ? (
                <SelectionBar ids={ids} onChange={setSelected} />
              ) : (
                <p class="muted" role="status">
                  {texts.captures.total(total, isEstimated)}
                </p>
              )}
              <CaptureTable captures={captures} selection={{ ids, onChange: setSelected }} />
              <LoadMore query={query} />
            </>
          )
        }}
      </Loaded>
    </Page>
  )
}
