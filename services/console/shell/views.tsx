import type { ComponentType } from 'preact'
import { texts } from '#console/text/texts.ts'
import { lazyView } from './lazy-view.tsx'

/** The pages in the order of the navigation. */
export const pages = [
  { path: '/', title: texts.pages.overview },
  { path: '/playground', title: texts.pages.playground },
  { path: '/captures', title: texts.pages.captures },
  { path: '/batches', title: texts.pages.batches },
  { path: '/webhooks', title: texts.pages.webhooks },
  { path: '/keys', title: texts.pages.keys },
  { path: '/activity', title: texts.pages.activity },
  { path: '/settings', title: texts.pages.settings },
] as const

/** The pages for operators, after those of an account. */
export const operatorPages = [
  { path: '/health', title: texts.operator.pages.health },
  { path: '/pools', title: texts.operator.pages.pools },
  { path: '/accounts', title: texts.operator.pages.accounts },
  { path: '/audit', title: texts.operator.pages.audit },
] as const

const { overview, playground, captures, batches, webhooks, keys, activity, settings } = texts.pages
const Overview = lazyView(overview, async () => (await import('#console/views/overview/overview.tsx')).Overview)

const { health, pools, accounts, audit } = texts.operator.pages

/** The view at each path for operators. */
export const operatorViews: readonly (readonly [path: string, view: ComponentType])[] = [
  ['/health', lazyView(health, async () => (await import('#console/views/operators/health.tsx')).Health)],
  ['/pools', lazyView(pools, async () => (await import('#console/views/operators/pools.tsx')).Pools)],
  [
    '/trace/:id',
    lazyView(texts.operator.trace.title, async () => (await import('#console/views/operators/trace.tsx')).Trace),
  ],
  ['/accounts', lazyView(accounts, async () => (await import('#console/views/operators/accounts.tsx')).Accounts)],
  [
    '/accounts/:id',
    lazyView(texts.operator.accounts.name, async () => (await import('#console/views/operators/account.tsx')).Account),
  ],
  ['/audit', lazyView(audit, async () => (await import('#console/views/operators/audit.tsx')).Audit)],
]

/** The view at each path of an account. */
export const views: readonly (readonly [path: string, view: ComponentType])[] = [
  ['/', Overview],
  ['/sign-in', Overview],
  [
    '/playground',
    lazyView(playground, async () => (await import('#console/views/playground/playground.tsx')).Playground),
  ],
  ['/captures', lazyView(captures, async () => (await import('#console/views/captures/captures.tsx')).Captures)],
  [
    '/captures/:id',
    lazyView(
      texts.record.title,
      async () => (await import('#console/views/captures/capture-record.tsx')).CaptureRecord,
    ),
  ],
  [
    '/captures/:id/compare/:other',
    lazyView(texts.compare.title, async () => (await import('#console/views/compare/compare.tsx')).Compare),
  ],
  ['/batches', lazyView(batches, async () => (await import('#console/views/batches/batches.tsx')).Batches)],
  [
    '/batches/:id',
    lazyView(
      texts.batches.title,
      async () => (await import('#console/views/batches/batch-progress.tsx')).BatchProgress,
    ),
  ],
  ['/webhooks', lazyView(webhooks, async () => (await import('#console/views/webhooks/webhooks.tsx')).Webhooks)],
  ['/webhooks/:id', lazyView(webhooks, async () => (await import('#console/views/webhooks/webhook.tsx')).WebhookPage)],
  ['/keys', lazyView(keys, async () => (await import('#console/views/keys/keys.tsx')).Keys)],
  ['/activity', lazyView(activity, async () => (await import('#console/views/settings/activity.tsx')).Activity)],
  ['/settings', lazyView(settings, async () => (await import('#console/views/settings/settings.tsx')).Settings)],
]
