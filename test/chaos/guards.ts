import type { Mutation } from '#test/mutations/mutation.ts'

/** A guard of the system: how to take it away, and the faults that show it. */
export type Guard = Pick<Mutation, 'file' | 'find' | 'replace'> & {
  readonly name: string
  readonly faults: readonly string[]
}

/** Guards without which chaos must fail within 20 runs. */
export const guards: readonly Guard[] = [
  {
    name: 'token of a result',
    faults: ['forged results'],
    file: 'services/ledger/reports/judge-reports.ts',
    find: 'if (!timingSafeEqual(hash, tokenHash))',
    replace: 'if (!timingSafeEqual(hash, hash))',
  },
  {
    name: 'terminal guard',
    faults: ['nats loses writes'],
    file: 'services/ledger/reports/judge-reports.ts',
    find: "  ended: status === 'completed' || status === 'failed' ? status : undefined,\n",
    replace: '  ended: undefined,\n',
  },
  {
    name: 'object per attempt',
    faults: ['store confirms too late', 'kill worker'],
    file: 'services/gateway/capture/prepare-capture.ts',
    find: 'const keys = Array.from({ length: maxAttempts }, () => newObjectKey(id, deps.now()))',
    replace: 'const keys = Array<string>(maxAttempts).fill(newObjectKey(id, deps.now()))',
  },
  {
    name: 'reaper',
    faults: ['nats loses what begins'],
    file: 'services/ledger/app.ts',
    find: "    loop('reaper', { everyMs: 1000, idleMs: 5000 }, () => reap(ledger, states)),\n",
    replace: '',
  },
  {
    name: 'lease fence',
    faults: ['cut off a sender'],
    file: 'services/webhooks/db/take-deliveries.ts',
    find: 'where d.id = h.id and d.takes = h.take returning d.id`,',
    replace: 'where d.id = h.id returning d.id`,',
  },
  {
    name: 'probe',
    faults: ['fill nats'],
    file: 'services/local/part-plans.ts',
    find: '  untilUnresponsive: (_running, signal) =>\n    untilStoreFails(healthProbe(`http://127.0.0.1:${facts.ports.natsHealth}`), facts.folder.nats, signal),\n',
    replace: '',
  },
]
