import t from 'tap'
import { createSessionDouble } from '#test/helpers/session-double.ts'
import { runInIsolatedWorld } from '#worker/browser-host/capture/page/world.ts'

/** A page's session whose contexts are numbered anew in each process; `next` returns what an evaluation results in. */
const createPage = (next: (context: number, expression: string) => unknown) => {
  const calls: string[] = []
  let created = 0
  const send = async (method: string, { contextId, expression }: Readonly<Record<string, unknown>>) => {
    calls.push(method)
    if (method === 'Page.createIsolatedWorld') return { executionContextId: (created += 1) }
    return next(Number(contextId), String(expression))
  }
  const session = createSessionDouble({ send })
  return { calls, run: (expression: string) => runInIsolatedWorld({ session, frameId: 'main' }, expression) }
}

t.test('isolated world: is created once for a document', async (t) => {
  const page = createPage(() => ({ result: { value: 1 } }))
  t.same([await page.run('1'), await page.run('1'), await page.run('1')], [1, 1, 1])
  t.same(page.calls, ['Page.createIsolatedWorld', 'Runtime.evaluate', 'Runtime.evaluate', 'Runtime.evaluate'])
})

t.test('isolated world: is created again once its document is gone', async (t) => {
  const page = createPage((context) => {
    if (context === 1 && page.calls.length > 2)
      throw new Error('Runtime.evaluate: Cannot find context with specified id')
    return { result: { value: context } }
  })
  t.same([await page.run('1'), await page.run('1')], [1, 2])
})

t.test('isolated world: nothing is evaluated in a context of the page that has its number', async (t) => {
  const seen: string[] = []
  const evaluateAsPage = (expression: string) => {
    seen.push(expression)
    const thrown = /throw '(.+)'/.exec(expression)?.[1]
    return { result: {}, exceptionDetails: { text: 'Uncaught', exception: { value: thrown } } }
  }
  const page = createPage((context, expression) =>
    context === 1 && page.calls.length > 2 ? evaluateAsPage(expression) : { result: { value: context } },
  )
  t.same([await page.run('1'), await page.run('secret()')], [1, 2])
  t.match(seen, [/^if \(globalThis\.shutterfleet !== '(.+)'\) throw '\1';\nsecret\(\)$/])
})

t.test('isolated world: the error of an expression is not retried', async (t) => {
  const page = createPage(() => ({ result: {}, exceptionDetails: { text: 'Uncaught', exception: { value: 'wrong' } } }))
  await t.rejects(page.run('1'), { message: 'injected script: wrong' })
  await t.rejects(page.run('1'), { message: 'injected script: wrong' })
  t.equal(page.calls.filter((call) => call === 'Page.createIsolatedWorld').length, 1)
})
