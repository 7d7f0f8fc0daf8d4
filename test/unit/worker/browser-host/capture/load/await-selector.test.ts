import t from 'tap'
import { awaitSelector } from '#worker/browser-host/capture/load/await-selector.ts'
import { createSessionDouble } from '#test/helpers/session-double.ts'

/** Waits on a page that gives the `results` in order, then repeats the last. */
const wait = (results: (boolean | number | Error)[], { isOpen = true } = {}) => {
  let at = 0
  const evaluate = () => results[Math.min(at++, results.length - 1)]
  const send = async (method: string) => {
    if (method !== 'Runtime.evaluate') return { executionContextId: 1 }
    const found = evaluate()
    if (found instanceof Error) throw found
    return { result: { value: found } }
  }
  const session = createSessionDouble({ send, isOpen: () => isOpen })
  const open = { session, mainFrameId: 'main' }
  return awaitSelector(open, '#x', { waitMs: 300, timeoutSeconds: 5 })
}

// Contract: Missing selectors
t.test('await selector: a selector without a match is a TIMEOUT that names it', async (t) => {
  await t.rejects(wait([0]), { code: 'TIMEOUT', publicMessage: /'#x' within 5 s/ })
  await t.rejects(wait([2]), {
    code: 'TIMEOUT',
    publicMessage: /'#x' \(frames are not searched; the page has 2\) within 5 s/,
  })
})

// Contract: Missing selectors
t.test('await selector: an invalid selector is an error that names it', async (t) => {
  const bad = new Error(`SyntaxError: '#x' is not a valid selector.`)
  await t.rejects(wait([bad]), { code: 'RENDER_ERROR', publicMessage: /#x/ })
})

t.test('await selector: retries, also in the document that replaced the previous one', async (t) => {
  await t.resolves(wait([0, new Error('Execution context was destroyed.'), true]))
})

t.test('await selector: does not wait for a closed page', async (t) => {
  const gone = new Error('Runtime.evaluate: the target is closed')
  await t.rejects(wait([gone], { isOpen: false }), gone)
})
