import type { Fault } from '#test/mutations/mutation.ts'

/** A guard of the system: how to take it away, and the faults that show it. */
export type Guard = Fault & {
  readonly name: string
  readonly faults: readonly string[]
}

/** Guards without which chaos must fail within 20 runs. */
export const guards: readonly Guard[] = [
  {
    name: 'token of a result',
    faults: ['forged results'],
    at: 'services/ledger/reports/judge-reports.ts > applyResult',
    replace: 'timingSafeEqual($hash, $tokenHash)',
    by: 'timingSafeEqual($hash, $hash)',
  },
  {
    name: 'terminal guard',
    faults: ['nats loses writes'],
    at: 'services/ledger/reports/judge-reports.ts > toState',
    replace: "$status === 'completed' || $status === 'failed' ? $status : 'open'",
    by: "'open'",
  },
  {
    name: 'object per attempt',
    faults: ['store confirms too late', 'kill worker'],
    at: 'services/gateway/capture/prepare-capture.ts > prepareCapture',
    replace: 'Array.from({ length: $attempts }, () => newObjectKey($$args))',
    by: 'Array<string>($attempts).fill(newObjectKey($$args))',
  },
  {
    name: 'reaper',
    faults: ['nats loses what begins'],
    at: 'services/ledger/app.ts > createLoops',
    drop: "loop('reaper', $$args)",
  },
  {
    name: 'lease fence',
    faults: ['cut off a sender'],
    at: 'services/webhooks/db/take-deliveries.ts > dropDeliveries',
    replaceText: 'and d.takes = h.take ',
    by: '',
  },
  {
    name: 'probe',
    faults: ['fill nats'],
    at: 'services/local/part-plans.ts > natsPlan',
    drop: 'untilUnresponsive: $wait',
  },
  {
    name: 'position of a read',
    faults: ['pause the postgres replica'],
    at: 'services/gateway/db/replica-reads.ts > waitForReplay',
    replace: 'state.isReplayed',
    by: 'true',
  },
]
