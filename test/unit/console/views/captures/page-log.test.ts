import t from 'tap'
import { formatPosition, isFailed, placesInTime, type Request } from '#console/views/captures/page-log.ts'

const request = (status: number, error?: string): Request => ({
  startedDateTime: '2026-01-01T00:00:00.000Z',
  time: 0,
  request: { method: 'GET', url: 'https://example.com/' },
  response: { status, content: { mimeType: '' }, _transferSize: 0, ...(error !== undefined && { _error: error }) },
  _resourceType: 'image',
})

t.test('page log: a request has failed by its error or its status', async (t) => {
  const states = [request(200), request(302), request(0), request(404), request(500), request(200, 'net::ERR_ABORTED')]
  t.strictSame(states.map(isFailed), [false, false, false, true, true, true])
})

t.test(
  'page log: requests lie in the time from the first start to the last end, short ones stay visible',
  async (t) => {
    const at = (second: number, time: number) => ({ startedDateTime: `2026-01-01T00:00:0${second}.000Z`, time })
    t.strictSame(placesInTime([at(1, 1000), at(0, 500), at(3, 1000), at(2, 0)]), [
      { x: 250, width: 250 },
      { x: 0, width: 125 },
      { x: 750, width: 250 },
      { x: 500, width: 4 },
    ])
    t.strictSame(placesInTime([]), [])
    t.strictSame(placesInTime([at(0, 0)]), [{ x: 0, width: 4 }])
  },
)

t.test('page log: a position has what is known of it', async (t) => {
  t.equal(formatPosition({ url: 'https://example.com/a.js', line: 3, column: 7 }), 'https://example.com/a.js:3:7')
  t.equal(formatPosition({ line: 3, column: 7 }), '3:7')
  t.equal(formatPosition({}), '')
})
