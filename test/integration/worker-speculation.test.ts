import t, { type Test } from 'tap'
import type { Route } from '#test/fixtures/pages/pages.ts'
import { captureWith, startPages, startTestEgress, startTestHost } from '#test/helpers/browser-host.ts'

// A page may have documents loaded ahead that nobody navigates to. The capture is of the document shown, whatever they do.

const asked: string[] = []
const noting =
  (route: Route): Route =>
  (request, response) => {
    asked.push(request.url ?? '')
    return route(request, response)
  }

const targets = {
  missing: (_request, response) => response.writeHead(404, { 'content-type': 'text/html' }).end('<p>missing'),
  reset: (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/html', 'content-length': 1000 }).write('<p>begun')
    setTimeout(() => response.destroy(), 50)
  },
  unreachable: ({ socket }) => void socket.destroy(),
  hanging: () => {},
  download: (_request, response) =>
    response.writeHead(200, { 'content-disposition': 'attachment', 'content-type': 'application/zip' }).end('PK'),
} satisfies Readonly<Record<string, Route>>

const rules = (action: string, path: string) =>
  JSON.stringify({ [action]: [{ source: 'list', urls: [path], eagerness: 'immediate' }] })
/** What has a document loaded ahead, as markup. */
const speculations: Readonly<Record<string, (path: string) => string>> = {
  'prefetch rule': (path) => `<script type="speculationrules">${rules('prefetch', path)}</script>`,
  'prerender rule': (path) => `<script type="speculationrules">${rules('prerender', path)}</script>`,
  'prefetch link': (path) => `<link rel="prefetch" href="${path}">`,
  'prerender link': (path) => `<link rel="prerender" href="${path}">`,
  'rule in a frame': (path) =>
    `<iframe srcdoc='<script type="speculationrules">${rules('prefetch', path)}</script>'></iframe>`,
}

/** The load event waits until the document ahead was asked for, or 250 ms, as not every browser loads each kind ahead. */
const page = (markup: string): string =>
  `<!doctype html>${markup}<body style="background: green"><p>shown<img src="/held" width="1" height="1">`

const routes: Record<string, Route> = {
  '/held': (_request, response) => void setTimeout(() => response.writeHead(204).end(), 400),
  '/rules.json': (_request, response) =>
    response
      .writeHead(200, { 'content-type': 'application/speculationrules+json' })
      .end(rules('prefetch', '/missing?header')),
  '/header': (_request, response) =>
    response.writeHead(200, { 'content-type': 'text/html', 'speculation-rules': '"/rules.json"' }).end(page('')),
}
for (const [name, route] of Object.entries(targets)) routes[`/${name}`] = noting(route)
routes['/page'] = ({ url = '' }, response) => {
  const { searchParams } = new URL(url, 'http://page.test')
  const [kind, path] = [searchParams.get('kind') ?? '', searchParams.get('path') ?? '']
  response.writeHead(200, { 'content-type': 'text/html' }).end(page(speculations[kind]?.(path) ?? ''))
}

const pages = await startPages(routes)
const egress = await startTestEgress(pages.host)
const host = await startTestHost(egress)
t.teardown(async () => {
  await host[Symbol.asyncDispose]()
  await egress[Symbol.asyncDispose]()
  await pages[Symbol.asyncDispose]()
})

const takes = async (t: Test, url: string, name: string) => {
  const outcome = await captureWith(host, { url, timeout: 10 })
  t.match(outcome, { outcome: 'completed', shot: { targetStatus: 200, finalUrl: url } }, name)
  t.ok((outcome.timings.prepare ?? Infinity) < 1500, `${name}: prepared in ${outcome.timings.prepare} ms`)
}

t.test(
  'worker speculation: a document loaded ahead changes neither status nor address, nor delays or fails the capture',
  async (t) => {
    for (const kind of Object.keys(speculations)) {
      for (const target of kind === 'prefetch rule' ? Object.keys(targets) : ['missing', 'reset']) {
        const query = new URLSearchParams({ kind, path: `${pages.url}/${target}?${kind.replaceAll(' ', '-')}` })
        await takes(t, `${pages.url}/page?${query.toString()}`, `${kind} of ${target}`)
      }
    }
    await takes(t, `${pages.url}/header`, 'header')
    for (const wanted of ['/missing?prefetch-rule', '/missing?header'])
      t.ok(asked.includes(wanted), `${wanted} was asked for`)
  },
)
