import t from 'tap'
import { harTimings, totalMs } from '#worker/browser-host/capture/record/har.ts'

const timing = {
  requestTime: 10.1,
  proxyStart: -1,
  proxyEnd: -1,
  dnsStart: 5,
  dnsEnd: 15,
  connectStart: 15,
  connectEnd: 65,
  sslStart: 30,
  sslEnd: 65,
  workerStart: -1,
  workerReady: -1,
  workerFetchStart: -1,
  workerRespondWithSettled: -1,
  sendStart: 65,
  sendEnd: 66,
  pushStart: 0,
  pushEnd: 0,
  receiveHeadersStart: 160,
  receiveHeadersEnd: 166,
}

t.test('har: timings add up to the time from issue to end; TLS is part of connecting', async (t) => {
  const timings = harTimings({ issuedAt: 10, respondedAt: 10.266, endedAt: 10.366, timing })
  t.strictSame(timings, { blocked: 105, dns: 10, connect: 50, send: 1, wait: 100, receive: 100, ssl: 35 })
  t.equal(totalMs(timings), 366)
})

t.test('har: a connection that is reused has neither lookup nor handshakes', async (t) => {
  const none = { dnsStart: -1, dnsEnd: -1, connectStart: -1, connectEnd: -1, sslStart: -1, sslEnd: -1 }
  const reused = { ...timing, ...none, sendStart: 2, sendEnd: 3 }
  const timings = harTimings({ issuedAt: 10.1, respondedAt: 10.2, endedAt: 10.2, timing: reused })
  t.strictSame(timings, { blocked: 2, dns: -1, connect: -1, send: 1, wait: 97, receive: 0, ssl: -1 })
})

t.test('har: without a response all of the time is blocked; clocks that run back give no negative time', async (t) => {
  t.strictSame(harTimings({ issuedAt: 1, endedAt: 1.5 }), {
    ...{ blocked: 500, dns: -1, connect: -1, send: 0, wait: 0, receive: 0, ssl: -1 },
  })
  const back = harTimings({ issuedAt: 20, respondedAt: 19, endedAt: 18, timing })
  t.ok(Object.values(back).every((each) => each >= 0))
})
