import t from 'tap'
import { shoot } from '#worker/browser-host/capture/shoot/shoot.ts'
import { createSessionDouble } from '#test/helpers/session-double.ts'

const sessionThat = (send: (method: string, params: object) => unknown) =>
  createSessionDouble({ send: async (method, params) => send(method, params) })

const output = { kind: 'image', format: 'jpeg', quality: 80, isTransparent: false, fit: undefined } as const
const shooting = {
  frame: { x: 0, y: 0, width: 1, height: 1 },
  zoom: 1,
  subject: { kind: 'viewport' },
  output,
} as const

t.test('shoot: retries transient failures, three tries at most', async (t) => {
  const failing = (times: number) => {
    let calls = 0
    return sessionThat(() => {
      calls += 1
      if (calls <= times) throw new Error('Unable to capture screenshot')
      return { data: Buffer.from('picture').toString('base64') }
    })
  }
  t.equal(String(await shoot({ session: failing(2) }, shooting)), 'picture')
  await t.rejects(shoot({ session: failing(3) }, shooting), { code: 'RENDER_ERROR' })
})
