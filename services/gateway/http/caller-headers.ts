import type { Caller } from '#shared/db/accept-capture.ts'

/** The limits of an account as headers; those that its plan does not have are left out. */
export const callerHeaders = ({ rate, usage }: Caller): Record<string, string> => ({
  ...(rate && {
    'x-ratelimit-limit': String(rate.limit),
    'x-ratelimit-remaining': String(rate.remaining),
    'x-ratelimit-reset': String(rate.resetUnix),
  }),
  ...(usage.limit !== null && { 'x-usage-limit': String(usage.limit) }),
  ...(usage.remaining !== null && { 'x-usage-remaining': String(usage.remaining) }),
  'x-usage-reset': usage.resetAt,
  ...(usage.overagePrice !== null && {
    'x-usage-overage': String(usage.overage),
    'x-usage-overage-price': usage.overagePrice,
  }),
})
