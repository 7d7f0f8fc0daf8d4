import t from 'tap'
import { workerHealth } from '#worker/lifecycle/health.ts'

const of = (over: { state?: 'ready' | 'drained'; connected?: boolean; coldForMs?: number; held?: string }) =>
  workerHealth({
    queue: { isConnected: () => over.connected ?? true },
    lifecycle: {
      state: () => over.state ?? 'ready',
      holds: () => new Map(over.held === undefined ? [] : [['egress', over.held]]),
    },
    slots: [{ isWarm: () => (over.coldForMs ?? 0) === 0, coldForMs: () => over.coldForMs ?? 0 }],
  })

t.test('health: is ready while it may pull captures', async (t) => {
  t.match(of({}), { live: true, ready: true })
  t.match(of({ state: 'drained' }), { live: true, ready: false })
  t.match(of({ connected: false }), { live: true, ready: false })
  t.match(of({ held: 'away' }), { live: true, ready: false, detail: { egress: 'away' } })
})

t.test('health: is not live once no browser has started for three minutes', async (t) => {
  t.match(of({ coldForMs: 890_000 }), { live: true, ready: false })
  t.match(of({ coldForMs: 910_000 }), { live: false, ready: false })
})
