import t from 'tap'
import type { Outcome } from '#worker/browser-host/protocol.ts'
import { warmUp } from '#worker/warm-up.ts'

const shot = {
  bytes: Buffer.from(''),
  sha256: '',
  width: 1,
  height: 1,
  mimeType: '',
  targetStatus: undefined,
  finalUrl: undefined,
}
const completed: Outcome = { outcome: 'completed', shot: { ...shot, warnings: [] }, timings: {} }
const failed: Outcome = { outcome: 'failed', code: 'RENDER_ERROR', message: 'x', detail: 'no browser', timings: {} }

t.test('is content with a picture and silence', async (t) => {
  let order: { online: boolean } | undefined
  await warmUp({ capture: async (of) => ((order = of), completed) }, { port: 1, heard: () => 3 }, 'shell')
  t.equal(order?.online, false)
})

t.test('refuses a host whose page the canary heard', async (t) => {
  let heard = 0
  const leaking = { capture: async () => ((heard += 1), completed) }
  await t.rejects(warmUp(leaking, { port: 1, heard: () => heard }, 'shell'), {
    code: 'SERVICE_UNAVAILABLE',
    message: /around/,
  })
})

t.test('refuses a host that brings no picture', async (t) => {
  await t.rejects(warmUp({ capture: async () => failed }, { port: 1, heard: () => 0 }, 'shell'), {
    message: /no browser/,
  })
})
