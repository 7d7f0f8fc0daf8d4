import type { Mutation } from './mutation.ts'

const unit = 'test/unit/worker'
const capture = 'services/worker/browser-host/capture'

const against = (test: string, file: string, changes: readonly (readonly [find: string, replace: string])[]) =>
  changes.map(([find, replace]): Mutation => ({ test, file, find, replace }))

/** Faults in the stages' shares of an attempt's deadline. */
const deadline: readonly Mutation[] = [
  ...against('test/integration/worker-readiness.test.ts', `${capture}/run-capture.ts`, [
    ['leftMs: bounds.endsAt - performance.now(), pixelsMax', 'leftMs: 60_000, pixelsMax'],
  ]),
  ...against(`${unit}/browser-host/capture/plan/share-time.test.ts`, `${capture}/plan/share-time.ts`, [
    ['leftMs - requestedMs - pictureMs(plan, pixelsMax)', 'leftMs - requestedMs'],
    ['leftMs - requestedMs - pictureMs(plan, pixelsMax)', 'leftMs - pictureMs(plan, pixelsMax)'],
    ['.filter((each) => isTaken(each, plan))', ''],
    ['order.slice(order.indexOf(stage))', 'order'],
    ['Math.max(0, freeMs / wantedMs)', 'freeMs / wantedMs'],
    ['Math.min(1, Math.max(0, freeMs / wantedMs))', 'Math.max(0, freeMs / wantedMs)'],
  ]),
]

/** Faults in the rules for attempts interrupted by an outage of the service. */
const handBacks: readonly Mutation[] = [
  ...against(`${unit}/delivery/run-attempt.test.ts`, 'services/worker/delivery/run-attempt.ts', [
    ['if (!isEgressUp) {', "if (!isEgressUp && outcome.outcome === 'interrupted') {"],
    ['handBacks < handBacksMax', 'handBacks <= handBacksMax'],
    ['handBacks: handBacks + 1', 'handBacks'],
    ["(by !== 'browser' || !isLoaded) && ", '!isLoaded && '],
    ['if (attempt < unendedMax)', 'if (attempt <= unendedMax)'],
  ]),
  ...against(`${unit}/delivery/read-progress.test.ts`, 'services/worker/delivery/read-progress.ts', [
    ['attempt === next.attempt ? next : { attempt, handBacks: 0, isRepeat: false }', '{ ...next, attempt }'],
    ["kind === 'begun' ? { ...first, attempt: attempt + 1 } : ", ''],
  ]),
  ...against(`${unit}/delivery/store-image.test.ts`, 'services/worker/delivery/store-image.ts', [
    ['status === 412 && this.#isUncertain && this.#isOwn', 'status === 412 && this.#isUncertain'],
    ['status === 412 && this.#isUncertain && this.#isOwn', 'status === 412 && this.#isOwn'],
    ['    if (!this.#isUncertain) this.#put = undefined\n', ''],
    ['    if (key === undefined && !this.#isClosed) this.#hold()\n', ''],
    [' && !this.#isClosed', ''],
    ["    if (!stop.aborted) holds.release('store')\n", ''],
  ]),
  ...against('test/integration/sign-images.test.ts', 'services/gateway/queue/sign-images.ts', [
    [" and status in ('pending', 'processing')", ''],
    [' and follows is null', ''],
  ]),
  ...against('test/integration/worker-egress-faults.test.ts', 'services/worker/delivery/serve-delivery.ts', [
    ["  if (fate.kind === 'handed-back') await publishStarted({ attempt, ...fate })\n", ''],
  ]),
]

/** Faults in the bounds on a browser host's output. */
const frames: readonly Mutation[] = [
  ...against(`${unit}/host/host-pipe.test.ts`, 'services/worker/protocol/frames.ts', [
    ['textLength > textBytesMax || bytesLength > bytesMax', 'bytesLength > bytesMax'],
    ['textLength > textBytesMax || bytesLength > bytesMax', 'textLength > textBytesMax'],
    ['    if (from.destroyed) return\n', ''],
    ['      from.destroy()\n', ''],
  ]),
  ...against(`${unit}/host/host-pipe.test.ts`, 'services/worker/host/host-pipe.ts', [
    ['number !== oldest()', '!waiting.has(number)'],
    ['running?.id !== report.id || !isDue', '!isDue'],
    ["kind === 'ended' || running?.stage === before[kind]", 'true'],
    ["    if ((oldest() ?? Infinity) <= running.reviewsBefore) throw new Error('a verdict is missing')\n", ''],
  ]),
  ...against(`${unit}/host/host-pipe.test.ts`, 'services/worker/host/read-host-report.ts', [
    ['if (isImage !== bytes.byteLength > 0)', 'if (isImage && bytes.byteLength === 0)'],
    ['if (!isBounded(described.metadata))', 'if (!described)'],
  ]),
]

/** Faults in the rule that the page's own site is never blocked. */
const ownSite = against(
  `${unit}/browser-host/blocking/blocker.test.ts`,
  'services/worker/browser-host/blocking/blocker.ts',
  [
    ['!admitted.has(host) && !isOwn(host) && ', '!admitted.has(host) && '],
    ['[source.url, address()].some', '[source.url].some'],
    ['[source.url, address()].some', '[address()].some'],
    ['own === host || siteOf(own) === siteOf(host)', 'own === host'],
    ['!isAboutHost(filter) || !isOwn(host)', 'true'],
    ['isAboutHost(filter) && isOwn(request.hostname) ? [...rules.matchAll(request)] : [filter]', '[filter]'],
    ['isMain ? [] : ', ''],
  ],
)

/** Faults in the scope of the caller's headers, redirects included. */
const headers: readonly Mutation[] = [
  ...against(`${unit}/browser-host/capture/page/intercept-requests.test.ts`, `${capture}/page/intercept-requests.ts`, [
    ['givenFor(request.url, headers) ?? withoutReferer(headers.values)', 'headers.values'],
    ['asked.hostname !== new URL(origin).hostname', '!asked.hostname.endsWith(new URL(origin).hostname)'],
    [' ?? withoutReferer(headers.values)', ''],
    ['asked.origin === origin || asked.origin === secured ? values', 'asked.origin ? values'],
    ["request.url + (request.urlFragment ?? '')", 'request.url'],
  ]),
  {
    point: 'Where `headers` go',
    file: `${capture}/page/intercept-requests.ts`,
    find: "    ...(redirectedRequestId !== undefined && { url: request.url + (request.urlFragment ?? '') }),\n",
    replace: '',
  },
]

/** Faults invisible in responses: deadlines, hand-backs, and the bounds of pages and browser hosts. */
export const worker: readonly Mutation[] = [...deadline, ...handBacks, ...frames, ...ownSite, ...headers]
