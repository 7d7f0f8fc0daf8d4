import t from 'tap'
import { shoot } from '#worker/browser-host/capture/shoot/shoot.ts'
import type { Frame } from '#worker/browser-host/capture/shoot/measure.ts'
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

t.test(
  'shoot: asks the browser to shoot beyond the viewport only for a part of the page that is not in it',
  async (t) => {
    const isBeyond = async (frame: Frame) => {
      let isAsked: unknown
      const session = sessionThat((method, params) => {
        const view = { pageX: 0, pageY: 100, clientWidth: 1280, clientHeight: 800 }
        if (method === 'Page.getLayoutMetrics') return { cssVisualViewport: view }
        isAsked = 'captureBeyondViewport' in params && params.captureBeyondViewport
        return { data: '' }
      })
      await shoot({ session }, { ...shooting, subject: { kind: 'element', selector: 'p' }, frame })
      return isAsked
    }
    const view = { x: 0, y: 100, width: 1280, height: 800 }
    t.equal(await isBeyond(view), false)
    t.equal(await isBeyond({ ...view, y: 99, height: 1 }), true, 'above')
    t.equal(await isBeyond({ ...view, height: 801 }), true, 'below')
    t.equal(await isBeyond({ ...view, x: -1, width: 1 }), true, 'left of it')
    t.equal(await isBeyond({ ...view, width: 1281 }), true, 'right of it')
  },
)
