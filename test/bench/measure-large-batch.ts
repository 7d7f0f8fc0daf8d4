import { samplesIn } from '#cli/top/read-pools.ts'
import { openDatabase } from '#shared/db/connection.ts'
import { listPlans, replacePlans } from '#shared/db/plans.ts'
import { createAccountKey } from '#test/helpers/create-account-key.ts'
import type { SmallPage } from './small-page.ts'

const batchUrls = 100
const atOnce = 8

/** Milliseconds of an account's synchronous captures while another account's captures wait, and of those in their slots. */
export type BesideBatch = {
  /** Captures of the other account, and how many of them were unfinished at the end. */
  readonly accepted: number
  readonly unfinished: number
  readonly acceptedPerSecond: number
  readonly waitsMs: readonly number[]
  readonly servicesMs: readonly number[]
}

/** Captures that wait or run, by the ledger's count of the last second. */
const countUnfinished = async ({ system }: SmallPage): Promise<number> => {
  const samples = samplesIn(await system.metrics('ledger'))
  const counts = samples.filter(({ name, labels }) => name === 'backlog_captures' && labels['queue'] === 'standard')
  return counts.reduce((sum, { value }) => sum + value, 0)
}

const allowMany = async ({ system }: SmallPage): Promise<void> => {
  const { database_url: url } = await system.readLocal()
  await using database = openDatabase({ url, poolMax: 1 })
  const plans = await listPlans(database)
  await replacePlans(
    database,
    plans.map((plan) => ({ ...plan, max_pending: 1_000_000 })),
  )
}

/** Another account sends `captures` in batches of a hundred; then the first one captures the page so many times, one after the other. */
export const measureLargeBatch = async (
  page: SmallPage,
  { captures, calls }: { readonly captures: number; readonly calls: number },
): Promise<BesideBatch> => {
  const { system, url, capture } = page
  await allowMany(page)
  const key = await createAccountKey(system)
  let sent = 0
  const send = async () => {
    while (sent < captures) {
      const first = sent
      sent += batchUrls
      const urls = Array.from({ length: batchUrls }, (_, nth) => `${url}?${first + nth}`)
      const response = await fetch(`${system.baseUrl}/v1/screenshots/batch`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ urls }),
      })
      if (response.status !== 202) throw new Error(`${response.status}: ${await response.text()}`)
      await response.arrayBuffer()
    }
  }
  const began = performance.now()
  await Promise.all(Array.from({ length: atOnce }, send))
  const acceptedPerSecond = (sent * 1000) / (performance.now() - began)
  const timings: Record<string, number>[] = []
  for (let call = 0; call < calls; call += 1) timings.push((await system.record(await capture())).timings ?? {})
  const unfinished = await countUnfinished(page)
  const of = (name: string) => timings.flatMap((each) => each[name] ?? [])
  return { accepted: sent, unfinished, acceptedPerSecond, waitsMs: of('queue'), servicesMs: of('total') }
}
