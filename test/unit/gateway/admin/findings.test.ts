import t from 'tap'
import { type Facts, findingsOf } from '#gateway/admin/findings.ts'

const nowMs = Date.UTC(2026, 2, 31)

const sound: Facts = {
  nowMs,
  states: { postgresql: 'ok', nats: 'ok', object_store: 'ok', ledger: 'ok', controller: 'ok' },
  postgresVersion: '16.4 (Debian 16.4-1)',
  natsVersion: '2.12.1',
  clock: { offsetMs: -1900, errorMs: 5 },
  browsers: [{ browser: 'shell', version: '156.0', age_days: 30 }],
  browserAgeDaysMax: 30,
  publicUrl: 'https://shots.example',
  isPublicUrlSet: true,
  proxyAdvice: undefined,
  tasks: [
    { name: 'remove_objects', waiting: 3, since: '2026-03-30T23:00:00.000Z' },
    { name: 'sweep_orphans', waiting: null, since: '2026-03-01T00:00:00.000Z' },
  ],
  unusedKeys: 0,
}

const problems = (facts: Partial<Facts>) => findingsOf({ ...sound, ...facts }).filter(({ state }) => state !== 'ok')

t.test('findings: nothing is wrong with a sound installation, and passed checks have no advice', async (t) => {
  t.same(problems({}), [])
  t.ok(findingsOf(sound).every(({ advice }) => advice === null))
  t.equal(findingsOf(sound).length, 13)
})

t.test('findings: each fact beyond its bound is found alone, with what to do', async (t) => {
  const cases: readonly (readonly [Partial<Facts>, object])[] = [
    [
      { states: { nats: 'no space left' } },
      { name: 'nats', state: 'failed', detail: 'no space left', advice: /JetStream/ },
    ],
    [{ states: { ledger: 'no backlog report for 20 s' } }, { name: 'ledger', state: 'failed', advice: /log/ }],
    [{ postgresVersion: '14.9' }, { name: 'postgresql_version', detail: '14.9', advice: /15\.0 or newer/ }],
    [{ natsVersion: '2.11.9' }, { name: 'nats_version', advice: /2\.12 or newer/ }],
    [{ clock: { offsetMs: 2100, errorMs: 99 } }, { name: 'clock', detail: /2100 ms/, advice: /synchronize/ }],
    [{ browsers: [{ browser: 'full', version: '140', age_days: 31 }] }, { name: 'full_chromium', advice: /^31 days/ }],
    [
      { publicUrl: 'http://10.0.0.7:8080', isPublicUrlSet: false },
      { name: 'public_url', detail: /^not set/ },
    ],
    [{ publicUrl: 'http://shots.example' }, { name: 'public_url', advice: /TLS/ }],
    [{ proxyAdvice: 'set …' }, { name: 'clients', advice: 'set …' }],
    [
      { tasks: [{ name: 'remove_objects', waiting: 3, since: '2026-03-30T22:59:59.000Z' }] },
      { name: 'background_tasks', detail: /^remove_objects: 3 since/ },
    ],
    [{ unusedKeys: 2 }, { name: 'unused_keys', detail: /^2 valid/, advice: /revoke/ }],
  ]
  for (const [facts, found] of cases) {
    t.match(problems(facts), [{ state: /warning|failed/, ...found }], JSON.stringify(facts))
    t.equal(problems(facts).length, 1)
  }
})

t.test('findings: a clock is judged by more than the error of its measurement', async (t) => {
  t.same(problems({ clock: { offsetMs: 2100, errorMs: 101 } }), [])
})

t.test('findings: what is unknown is not judged', async (t) => {
  const unknown = {
    postgresVersion: undefined,
    natsVersion: undefined,
    clock: undefined,
    tasks: undefined,
    unusedKeys: undefined,
  }
  t.same(problems({ ...unknown, browsers: [{ browser: 'shell', version: '1', age_days: null }] }), [])
})

t.test('findings: an address of this machine needs no TLS', async (t) => {
  for (const publicUrl of ['http://127.0.0.1:8080', 'http://localhost:8080', 'http://[::1]:8080'])
    t.same(problems({ publicUrl, isPublicUrlSet: false }), [], publicUrl)
})
