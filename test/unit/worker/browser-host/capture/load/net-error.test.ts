import t from 'tap'
import { netErrorIn } from '#worker/browser-host/capture/load/net-error.ts'

t.test("reads Chromium's name of an error out of a message", async (t) => {
  t.equal(netErrorIn('page.goto: net::ERR_EMPTY_RESPONSE at http://a/'), 'ERR_EMPTY_RESPONSE')
  t.equal(netErrorIn('Timeout 5000ms exceeded'), undefined)
  t.equal(netErrorIn(undefined), undefined)
})
