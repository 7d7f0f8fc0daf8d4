import { useInfiniteQuery } from '@tanstack/preact-query'
import { sendRequest } from '#console/api/request.ts'
import { type AuditEntry, type OperatedAccount, operatorPath } from './records.ts'

const pageSize = 50

type Lists = { readonly accounts: OperatedAccount; readonly audit: AuditEntry }

/** A list for operators whose pages begin after the last id of the page before. Filters that are empty are left out. */
export const useOperatorList = <Name extends keyof Lists>(
  name: Name,
  filters: Readonly<Record<string, string>> = {},
) => {
  const given = Object.entries(filters).filter(([, value]) => value !== '')
  return useInfiniteQuery({
    queryKey: [`${operatorPath}/${name}`, filters],
    queryFn: ({ pageParam, signal }) => {
      const page = { limit: String(pageSize), ...(pageParam !== '' && { after: pageParam }) }
      const query = new URLSearchParams([...given, ...Object.entries(page)])
      return sendRequest<{ readonly data: readonly Lists[Name][] }>(`${operatorPath}/${name}?${query}`, { signal })
    },
    initialPageParam: '',
    getNextPageParam: ({ data }) => (data.length < pageSize ? undefined : data.at(-1)?.id),
  })
}
