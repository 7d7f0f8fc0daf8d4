import type { IncomingHttpHeaders } from 'node:http'
import { text } from 'node:stream/consumers'
import type { Route } from '#test/fixtures/pages/pages.ts'

type Brand = { readonly brand: string; readonly version: string }

/** Browser properties visible to a document or a worker. Properties that only documents have are undefined in workers. */
export type Probe = {
  readonly userAgent: string
  readonly languages: readonly string[]
  readonly platform: string
  /** Client hints, including high-entropy ones; undefined if unsupported. */
  readonly hints:
    | {
        readonly brands: readonly Brand[]
        readonly fullVersionList: readonly Brand[]
        readonly uaFullVersion: string
        readonly mobile: boolean
        readonly platform: string
        readonly platformVersion: string
        readonly architecture: string
      }
    | undefined
  readonly webdriver: boolean | undefined
  readonly chrome: string | undefined
  readonly plugins: readonly string[] | undefined
  /** `Notification.permission`, and the same permission from `navigator.permissions`. */
  readonly permissions: readonly [string, string] | undefined
  readonly screen: Readonly<
    Record<'width' | 'height' | 'outerWidth' | 'outerHeight' | 'innerWidth' | 'innerHeight', number>
  >
  readonly webgl: string | undefined
}

const places = ['page', 'frame', 'frame-worker', 'worker'] as const

/** Where the probe runs: in the page, a cross-site frame, and a worker of each. */
export type ProbePlace = (typeof places)[number]

const highEntropy = ['fullVersionList', 'uaFullVersion', 'platformVersion', 'architecture']

/** Runs in documents and workers. */
const probeText = `const probe = async () => {
  const { userAgent, languages, platform, userAgentData, webdriver } = navigator
  const common = { userAgent, languages, platform, webdriver }
  const hints = userAgentData && (await userAgentData.getHighEntropyValues(${JSON.stringify(highEntropy)}))
  if (!self.document) return { ...common, hints }
  const state = async (name) => (await navigator.permissions.query({ name })).state
  return {
    ...common, hints,
    chrome: typeof window.chrome,
    plugins: [...navigator.plugins].map(({ name }) => name),
    permissions: [Notification.permission, await state('notifications')],
    screen: { width: screen.width, height: screen.height, outerWidth, outerHeight, innerWidth, innerHeight },
    webgl: document.createElement('canvas').getContext('webgl')?.getParameter(7937),
  }
}
const report = async (place) => {
  await fetch('/probed?' + place, { method: 'POST', body: JSON.stringify(await probe()) })
}`

const html = (place: ProbePlace, worker: ProbePlace, rest = '') => `<!doctype html>${rest}<script>${probeText}
const worked = new Promise((resolve) => { new Worker('/probe.js?${worker}').onmessage = resolve })
const framed = parent === self ? new Promise((resolve) => { onmessage = resolve }) : undefined
Promise.all([report('${place}'), worked, framed]).then(() => {
  if (framed) document.body.id = 'settled'
  else parent.postMessage('done', '*')
})</script><body>`

/** Path and headers of a received request. */
export type ReceivedRequest = { readonly path: string; readonly headers: IncomingHttpHeaders }

/** Routes of a page that reports the properties of its browser, and contains `#settled` once all places have reported. */
export const createIdentityProbe = () => {
  const found = new Map<ProbePlace, Probe>()
  const received: ReceivedRequest[] = []
  const recording =
    (route: Route): Route =>
    (request, response) => {
      received.push({ path: request.url ?? '', headers: request.headers })
      route(request, response)
    }
  const send = (type: string, body: (host: string) => string) =>
    recording(({ headers }, response) => {
      const acceptCh = `Sec-CH-UA-Full-Version-List, Sec-CH-UA-Platform-Version`
      response.writeHead(200, { 'content-type': type, 'accept-ch': acceptCh }).end(body(headers.host ?? ''))
    })
  const other = (host: string) => `http://localhost:${host.split(':')[1]}/probe-frame`
  const routes: Readonly<Record<string, Route>> = {
    '/probe': send('text/html', (host) =>
      html('page', 'worker', `<iframe src="${other(host)}" style="display:none"></iframe>`),
    ),
    '/probe-frame': send('text/html', () => html('frame', 'frame-worker')),
    '/probe.js': send(
      'text/javascript',
      () => `${probeText}\nreport(location.search.slice(1)).then(() => postMessage('done'))`,
    ),
    '/probed': recording(async (request, response) => {
      const place = request.url?.split('?')[1] as ProbePlace
      found.set(place, JSON.parse(await text(request)) as Probe)
      response.end()
    }),
  }
  /** Returns the reports since the last call, by place. */
  const take = () => {
    const probes = Object.fromEntries(found) as Record<ProbePlace, Probe>
    const requests = received.splice(0)
    found.clear()
    return { probes, requests }
  }
  return { routes, places, take }
}
