import t from 'tap'
import { fencedQueue } from '#controller/operator/lead.ts'

t.test('fenced queue: publishes only while the term lasts and NATS is connected', async (t) => {
  const published: string[] = []
  const state = { isValid: true, isConnected: true }
  const queue = {
    isConnected: () => state.isConnected,
    publish: (subject: string, _data: Uint8Array) => void published.push(subject),
  }
  const fenced = fencedQueue(queue, { isValid: () => state.isValid })
  fenced.publish('drain.a', new Uint8Array())
  state.isValid = false
  fenced.publish('drain.b', new Uint8Array())
  state.isValid = true
  state.isConnected = false
  fenced.publish('drain.c', new Uint8Array())
  t.strictSame(published, ['drain.a'])
})
