import { readdirSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import t from 'tap'
import { parse } from 'yaml'
import { readInhibitRules, satisfiesAll, sentAlerts } from '#test/helpers/inhibition.ts'

type Labels = Readonly<Record<string, string>>
type RuleFile = { readonly groups: readonly { readonly rules: readonly { alert?: string; labels?: Labels }[] }[] }

const folder = resolve(import.meta.dirname, '../../charts/shutterfleet/files/rules')
const stores = ['postgresql', 'nats', 'object_store']
/** Alerts that are sent whatever else fires. */
const neverInhibited = [
  'ShutterfleetRequestsFailing',
  'ShutterfleetCapturesFailing',
  'ShutterfleetStoreDown',
  'ShutterfleetServiceAbsent',
  'ShutterfleetNoLeader',
  'ShutterfleetEgressLeak',
  'ShutterfleetResultsUnread',
]

const alerts = readdirSync(folder)
  .flatMap((file) => (parse(readFileSync(`${folder}/${file}`, 'utf8')) as RuleFile).groups)
  .flatMap(({ rules }) => rules)
  .flatMap(({ alert, labels }) => (alert === undefined ? [] : [{ alertname: alert, ...labels }]))
/** Every alert, for each store. */
const possible: Labels[] = alerts.flatMap((alert) => stores.map((store) => ({ ...alert, store })))
const inhibition = readInhibitRules()

t.test('inhibition: every name in a rule is that of an alert', async (t) => {
  const names = inhibition
    .flatMap((rule) => [...rule.source_matchers, ...rule.target_matchers])
    .filter((matcher) => matcher.startsWith('alertname'))
    .flatMap((matcher) => /"(.*)"/.exec(matcher)?.[1]?.split('|') ?? [])
  t.ok(names.length > 10)
  t.strictSame(
    names.filter((name) => !alerts.some(({ alertname }) => new RegExp(`^(?:${name})$`).test(alertname))),
    [],
  )
})

t.test('inhibition: only a critical alert hides critical ones, and only in its own namespace', async (t) => {
  for (const { source_matchers: source, target_matchers: target, equal } of inhibition) {
    t.ok(equal.includes('namespace'))
    const severities = (matchers: readonly string[]) =>
      possible.filter((alert) => satisfiesAll(alert, matchers)).map(({ severity }) => severity)
    if (severities(target).includes('critical')) t.notOk(severities(source).includes('warning'), source.join())
  }
})

t.test('inhibition: what callers see above a tenth, and every cause, is always sent', async (t) => {
  const hidden = possible.filter((alert) => inhibition.some((rule) => satisfiesAll(alert, rule.target_matchers)))
  t.strictSame(
    hidden.filter(({ alertname = '' }) => neverInhibited.includes(alertname)),
    [],
  )
})

const fire = (names: string, labels: Labels = {}) =>
  names.split(' ').map((name) => ({ alertname: `Shutterfleet${name}`, namespace: 'a', ...labels }))
const cases: readonly { readonly name: string; readonly firing: readonly Labels[]; readonly sent: string }[] = [
  {
    name: 'PostgreSQL is down: the store and the failing requests are sent, their lesser symptoms are not',
    firing: [
      ...fire('StoreDown', { store: 'postgresql' }),
      ...fire('RequestsFailing RequestFaultsFast RequestsLateFast CapturesNotStarting PoolFrozen'),
      ...fire('StoreRefusing', { store: 'postgresql' }),
    ],
    sent: 'StoreDown RequestsFailing',
  },
  {
    name: 'NATS is down: requests that fail and late responses have another cause, and are sent',
    firing: [
      ...fire('StoreDown', { store: 'nats' }),
      ...fire('RequestFaultsFast RequestsLateFast OutboxNotPublished'),
      ...fire('StoreRefusing', { store: 'postgresql' }),
    ],
    sent: 'StoreDown RequestFaultsFast RequestsLateFast StoreRefusing',
  },
  {
    name: 'no controller leads: pools are frozen and captures wait by that, requests and captures fail by something else',
    firing: fire('NoLeader PoolFrozen QueueWaitFast RequestFaultsFast CaptureFaultsFast OutboxNotPublished'),
    sent: 'NoLeader RequestFaultsFast CaptureFaultsFast OutboxNotPublished',
  },
  {
    name: 'the egress filter is not there: captures wait by that, and requests fail by something else',
    firing: [
      ...fire('ServiceAbsent', { component: 'egress' }),
      ...fire('CapturesNotStarting QueueWaitFast WorkersNotReady RequestFaultsFast'),
    ],
    sent: 'ServiceAbsent RequestFaultsFast',
  },
  {
    name: 'another service is not scraped: nothing is hidden',
    firing: [...fire('ServiceAbsent', { component: 'controller' }), ...fire('RequestFaultsFast QueueWaitFast')],
    sent: 'ServiceAbsent RequestFaultsFast QueueWaitFast',
  },
  {
    name: 'the store of another release is down: nothing is hidden',
    firing: [
      ...fire('StoreDown', { store: 'postgresql', namespace: 'b' }),
      ...fire('RequestFaultsFast CapturesNotStarting'),
    ],
    sent: 'StoreDown RequestFaultsFast CapturesNotStarting',
  },
  {
    name: 'captures of one queue fail: the lesser alert of that queue alone is hidden',
    firing: [
      ...fire('CapturesFailing CaptureFaultsFast', { queue: 'standard' }),
      ...fire('CaptureFaultsFast', { queue: 'stealth' }),
    ],
    sent: 'CapturesFailing CaptureFaultsFast',
  },
]

for (const { name, firing, sent } of cases) {
  t.test(`inhibition: ${name}`, async (t) => {
    t.strictSame(
      sentAlerts(firing)
        .map(({ alertname = '' }) => alertname.replace('Shutterfleet', ''))
        .join(' '),
      sent,
    )
  })
}
