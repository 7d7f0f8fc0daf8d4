import t from 'tap'
import { goTo } from '#worker/browser-host/capture/load/navigate.ts'
import type { CapturePlan } from '#worker/browser-host/capture/plan/plan-capture.ts'

const plan: Pick<CapturePlan, 'source' | 'timeoutSeconds' | 'loadEvent'> = {
  source: { url: 'https://a.test/', html: undefined, markdown: undefined },
  timeoutSeconds: 5,
  loadEvent: 'load',
}

/** Navigates to a page whose redirect ended at `url`; returns the addresses that were loaded. */
const went = async (url: string, refused: readonly string[], failures = 1, source = plan.source) => {
  const addresses: (string | undefined)[] = []
  const open = {
    document: {
      requested: () => ({
        url,
        status: undefined,
        mimeType: undefined,
        isAttachment: false,
        netError: 'ERR_SOCKS_CONNECTION_FAILED',
      }),
    },
  }
  const blocker = { hasRefused: (host: string) => refused.includes(host) }
  const go = async (_open: unknown, { source: to, timeoutSeconds }: typeof plan) => {
    addresses.push(to.url)
    if (timeoutSeconds > 5) throw new Error('more time than there was')
    if (addresses.length <= failures) throw new Error('failed')
  }
  const traffic = { findRefusal: () => undefined }
  const end = await goTo(open, { ...plan, source }, { traffic, blocker }, go).then(
    () => 'loaded',
    (error: Error) => error.message,
  )
  return [addresses, end]
}

t.test('goTo: loads a document once more at its own address if its host was blocked', async (t) => {
  t.strictSame(await went('https://b.test/x', ['b.test']), [['https://a.test/', 'https://b.test/x'], 'loaded'])
  t.strictSame(await went('https://b.test/x', ['b.test'], 2), [['https://a.test/', 'https://b.test/x'], 'failed'])
})

t.test('goTo: does not repeat other failures', async (t) => {
  t.strictSame(await went('https://b.test/x', ['c.test']), [['https://a.test/'], 'failed'])
  t.strictSame(await went('https://a.test/', [], 0), [['https://a.test/'], 'loaded'])
  const html = { url: undefined, html: 'x', markdown: undefined }
  t.strictSame(await went('https://b.test/', ['b.test'], 1, html), [[undefined], 'failed'])
})
