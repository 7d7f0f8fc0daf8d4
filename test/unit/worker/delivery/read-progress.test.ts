import t from 'tap'
import type { Queue, Reply } from '#shared/queue/connection.ts'
import { startedCodec, type StartedMessage } from '#shared/queue/messages.ts'
import { resultSubject } from '#shared/queue/subjects.ts'
import { readProgress } from '#worker/delivery/read-progress.ts'

const id = '00000000-0000-4000-8000-000000000000'
const found = { subject: '', reply: undefined, traceparent: undefined, statusCode: 0, header: () => undefined }
const missing: Reply = { ...found, statusCode: 404, data: new Uint8Array() }

const queueWith = (stored: {
  started?: Pick<StartedMessage, 'kind' | 'attempt' | 'handBacks'>
  hasResult?: boolean
  garbage?: boolean
}): Pick<Queue, 'request'> => ({
  request: async (subject) => {
    if (subject.endsWith(resultSubject({ pool: 'standard', id })))
      return stored.hasResult ? { ...found, data: Buffer.from('{}') } : missing
    if (stored.garbage) return { ...found, data: Buffer.from('{}') }
    if (!stored.started) return missing
    return { ...found, data: startedCodec.encode({ id, pod: 'p', ...stored.started }) }
  },
})

const table: { name: string; stored: Parameters<typeof queueWith>[0]; attempts: number; want: unknown }[] = [
  { name: 'a new capture is attempt 1', stored: {}, attempts: 0, want: { attempt: 1, handBacks: 0, isRepeat: false } },
  {
    name: 'the attempts of the message count',
    stored: {},
    attempts: 1,
    want: { attempt: 2, handBacks: 0, isRepeat: false },
  },
  {
    name: 'the last report counts',
    stored: { started: { kind: 'begun', attempt: 1 } },
    attempts: 0,
    want: { attempt: 2, handBacks: 0, isRepeat: false },
  },
  {
    name: 'the larger of message and report counts',
    stored: { started: { kind: 'begun', attempt: 1 } },
    attempts: 2,
    want: { attempt: 3, handBacks: 0, isRepeat: false },
  },
  {
    name: 'a handed-back attempt does not count',
    stored: { started: { kind: 'handed-back', attempt: 2 } },
    attempts: 0,
    want: { attempt: 2, handBacks: 0, isRepeat: true },
  },
  {
    name: 'the number of hand-backs of the attempt is kept',
    stored: { started: { kind: 'handed-back', attempt: 2, handBacks: 3 } },
    attempts: 1,
    want: { attempt: 2, handBacks: 3, isRepeat: true },
  },
  {
    name: 'a later attempt has no hand-backs',
    stored: { started: { kind: 'handed-back', attempt: 1, handBacks: 3 } },
    attempts: 1,
    want: { attempt: 2, handBacks: 0, isRepeat: false },
  },
  {
    name: 'there is no fourth attempt',
    stored: { started: { kind: 'begun', attempt: 3 } },
    attempts: 0,
    want: 'no-attempt-left',
  },
  {
    name: 'an unreadable report does not count',
    stored: { garbage: true },
    attempts: 1,
    want: { attempt: 2, handBacks: 0, isRepeat: false },
  },
  { name: 'a result ends it', stored: { hasResult: true }, attempts: 0, want: 'ended' },
]

for (const { name, stored, attempts, want } of table) {
  t.test(`read progress: ${name}`, async (t) => {
    t.same(await readProgress(queueWith(stored), { pool: 'standard', id, attempts }), want)
  })
}
