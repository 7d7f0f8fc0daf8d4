import t from 'tap'
import type { Route } from '#test/fixtures/pages/pages.ts'
import { blue, pixel, startCaptureEnvironment } from '#test/helpers/shots.ts'

const html = (body: string, status = 200, headers = {}): Route => {
  const page = `<!doctype html><style>html { background: rgb(0,0,255) }</style>${body}`
  return (_request, response) => response.writeHead(status, { 'content-type': 'text/html', ...headers }).end(page)
}
const leaving = (script: string) => html(`<p>Page</p><img src="/slow.svg"><script>${script}</script>`, 203)

const { pages, shoot } = await startCaptureEnvironment(t, {
  '/slow.svg': (_request, response) => {
    const picture = '<svg xmlns="http://www.w3.org/2000/svg" width="10" height="10"/>'
    setTimeout(() => response.writeHead(200, { 'content-type': 'image/svg+xml' }).end(picture), 200)
  },
  '/archive': (_request, response) =>
    response.writeHead(200, { 'content-disposition': 'attachment; filename=archive.zip' }).end('PK'),
  '/nothing': (_request, response) => response.writeHead(204).end(),
  '/to-app': leaving("setTimeout(() => { location = 'harbour://open' })"),
  '/to-mail': leaving("location = 'mailto:a@b.example'"),
  '/to-archive': leaving("location.assign('/archive')"),
  '/to-nothing': leaving("location.replace('/nothing')"),
  '/stopped': leaving('setTimeout(stop, 50)'),
})

t.test(
  'worker loading: a page that goes to an app, a download or nowhere before its load event is captured',
  async (t) => {
    for (const path of ['/to-app', '/to-mail', '/to-archive', '/to-nothing', '/stopped']) {
      const shot = await shoot({ url: pages.url + path })
      t.match(shot, { targetStatus: 203, finalUrl: pages.url + path, warnings: [] }, path)
      t.strictSame(await pixel(shot, 900, 600), blue, path)
    }
  },
)
