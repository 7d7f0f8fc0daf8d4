import { useAttended } from '#console/api/use-attended.ts'

const everyMs = 5000

/** Option of a query that is repeated every five seconds while somebody uses the page. */
export const useRefreshed = () => ({ refetchInterval: useAttended() ? everyMs : (false as const) })
