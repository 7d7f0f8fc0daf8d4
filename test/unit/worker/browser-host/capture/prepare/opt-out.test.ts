import { setImmediate } from 'node:timers/promises'
import t from 'tap'
import type { ConsentScript } from '#worker/browser-host/blocking/consent-script.ts'
import { optOut } from '#worker/browser-host/capture/prepare/opt-out.ts'
import { createSessionDouble } from '#test/helpers/session-double.ts'

const url = (name: string) => `https://${name}.test/`
const tree = { frame: { id: 'main', url: url('main') }, childFrames: [{ frame: { id: 'below', url: url('below') } }] }
const script: ConsentScript = { scriptFor: () => 'script', snippet: () => '() => true' }

/** A page with one frame; `next` is the result of the consent script in a frame. */
const createPage = (next: (frame: string) => Promise<object[]>) => {
  const evaluated: string[] = []
  const send = async (method: string, parameters: Readonly<Record<string, unknown>>) => {
    const { frameId, contextId, expression } = parameters as Readonly<Record<string, string | undefined>>
    if (method === 'Page.getFrameTree') return { frameTree: tree }
    if (method === 'Page.createIsolatedWorld') return { executionContextId: frameId }
    if (expression?.endsWith('\nscript')) return { result: {} }
    if (contextId === undefined) return { result: { value: [true] } }
    evaluated.push(contextId)
    return { result: { value: await next(contextId) } }
  }
  const session = createSessionDouble({ send })
  return { open: { mainFrameId: 'main', frameSessions: () => [session] }, evaluated }
}

t.test('opt out: once one frame has opted out, the script stops in the others', async (t) => {
  const late = Promise.withResolvers<object[]>()
  const { open, evaluated } = createPage(async (frame) => (frame === 'below' ? [{ end: 'opted-out' }] : late.promise))
  await optOut(open, script, 60_000)
  late.resolve([{ id: 'a', snippet: 'EVAL_0' }])
  for (let turns = 0; turns < 10; turns += 1) await setImmediate()
  t.strictSame(evaluated.toSorted(), ['below', 'main'])
})

t.test('opt out: a banner of the main frame is handled even if another frame opted out first', async (t) => {
  const found = Promise.withResolvers<void>()
  const ofMain = [[{ found: true }], [{ id: 'a', snippet: 'EVAL_0' }], [{ end: 'opted-out' }]]
  const { open, evaluated } = createPage(async (frame) => {
    if (frame === 'below') {
      await found.promise
      return [{ end: 'opted-out' }]
    }
    const step = ofMain.shift() ?? []
    if (ofMain.length === 1) {
      found.resolve()
      await setImmediate()
    }
    return step
  })
  await optOut(open, script, 60_000)
  t.strictSame(evaluated.toSorted(), ['below', 'main', 'main', 'main'])
})

t.test('opt out: runs no script after the timeout', async (t) => {
  const late = Promise.withResolvers<object[]>()
  const { open, evaluated } = createPage(() => late.promise)
  await optOut(open, script, 1)
  late.resolve([])
  for (let turns = 0; turns < 10; turns += 1) await setImmediate()
  t.strictSame(evaluated.toSorted(), ['below', 'main'])
})
