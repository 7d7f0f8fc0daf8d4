import { formatCount, formatDay } from './format.ts'

type Day = { readonly day: string; readonly charged: number; readonly cached: number; readonly failed: number }

/** Texts of the usage by day. */
export const usageTexts = {
  title: 'Last 30 days',
  chart: 'Charged and failed captures by day, in UTC. The same numbers are in the table below.',
  day: ({ day, charged, cached, failed }: Day) =>
    `${formatDay(day)}: ${formatCount(charged)} charged, ${formatCount(cached)} cached, ${formatCount(failed)} failed`,
  success: 'Success rate',
  charged: 'Charged',
  cached: 'Cached, free',
  failed: 'Failed, free',
  reasons: 'Reason',
  date: 'Day (UTC)',
  table: 'Show as a table',
  share: (captures: number, isDrawn: boolean) =>
    `An even share of the quota: ${formatCount(Number(captures.toFixed(1)))} a day${isDrawn ? '' : ', above this chart'}`,
} as const
