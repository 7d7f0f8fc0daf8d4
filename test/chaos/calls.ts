import { attemptBudgetMs } from '#shared/capture/budget.ts'
import type { Call } from './client.ts'
import type { PlannedStep } from './plan.ts'
import type { World } from './world.ts'

/** Page load time-out of the captures, in seconds. */
export const timeout = 8
/** Budget of an attempt of the captures. */
export const budgetMs = attemptBudgetMs({ timeout, delay: 0 })

/** What a capture of the page `name` is made of. */
export const source = ({ siteUrl }: Pick<World, 'siteUrl'>, kind: PlannedStep['source'], name: string) =>
  kind === 'html' ? { html: `<h1>${name}</h1>` } : { url: `${siteUrl}/${name}` }

/** A request that creates captures; `idempotencyKey` makes it repeatable. */
export const createCall = (path: string, operation: Call['operation'], body: object, idempotencyKey: string): Call => ({
  operation,
  method: 'POST',
  path,
  body: { ...body, timeout },
  idempotencyKey,
  budgetMs,
})

/** A synchronous capture of the site's page `name`. */
export const captureCall = (world: World, name: string): Call =>
  createCall('/v1/screenshots/capture', 'capture', source(world, 'site', name), name)

/** The newest hundred captures of an account. */
export const listCall: Call = { operation: 'list', path: '/v1/screenshots?per_page=100' }

/** A read of a capture: its status, or its image. */
export const readCall = (operation: 'image' | 'status', id: string): Call => ({
  operation,
  path: `/v1/screenshots/${id}${operation === 'image' ? '/image' : ''}`,
  target: id,
})
