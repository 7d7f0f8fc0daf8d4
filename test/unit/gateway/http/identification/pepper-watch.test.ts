import t from 'tap'
import { AppError } from '#shared/errors/app-error.ts'
import { watchPepper } from '#gateway/http/identification/pepper-watch.ts'

const away = new AppError('SERVICE_UNAVAILABLE')
const another = new AppError('CONFIGURATION')

/** Gives the answers in order, then repeats the last; undefined is "confirmed". */
const answering = (...answers: (AppError | undefined)[]) => {
  let checks = 0
  const confirm = async () => {
    const error = answers[Math.min(checks, answers.length - 1)]
    checks += 1
    if (error) throw error
  }
  return { confirm, checks: () => checks }
}

t.test('pepper watch: refuses to start with a different pepper', async (t) => {
  const { confirm } = answering(another)
  await t.rejects(watchPepper(confirm, { everyMs: 1, stop: new AbortController().signal }), { code: 'CONFIGURATION' })
})

t.test('pepper watch: starts while the database is unreachable, and rejects the pepper once it responds', async (t) => {
  const { confirm, checks } = answering(away, away, another)
  const { mismatch } = await watchPepper(confirm, { everyMs: 1, stop: new AbortController().signal })
  t.equal(await mismatch, another)
  t.equal(checks(), 3)
})

t.test('pepper watch: checks a matching pepper only once, and ends when the service stops', async (t) => {
  const stopping = new AbortController()
  const { confirm, checks } = answering(undefined)
  const { mismatch } = await watchPepper(confirm, { everyMs: 1, stop: stopping.signal })
  stopping.abort()
  t.equal(await mismatch, undefined)
  t.equal(checks(), 1)
})

t.test('pepper watch: ends on stop even if the database is unreachable', async (t) => {
  const stopping = new AbortController()
  const { mismatch } = await watchPepper(answering(away).confirm, { everyMs: 1, stop: stopping.signal })
  stopping.abort()
  t.equal(await mismatch, undefined)
})
