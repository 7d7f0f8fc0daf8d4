import { texts } from '#console/text/texts.ts'

/** A query whose pages are loaded one after the other. */
type Pages = {
  readonly hasNextPage: boolean
  readonly isFetchingNextPage: boolean
  readonly fetchNextPage: () => unknown
}

/** Button for the next page of a list, if there is one. */
export const LoadMore = ({ query }: { query: Pages }) =>
  query.hasNextPage ? (
    <button type="button" class="button" disabled={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
      {texts.common.loadMore}
    </button>
  ) : null
