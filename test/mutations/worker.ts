import { against, type Mutation } from './mutation.ts'

const unit = 'test/unit/worker'
const capture = 'services/worker/browser-host/capture'

/** Faults in the stages' shares of an attempt's deadline. */
const deadline: readonly Mutation[] = [
  ...against('test/integration/worker-readiness.test.ts', `${capture}/run-capture.ts`, [
    {
      at: 'runCapture',
      replace: 'stageShareMs($plan, $stage, { leftMs: $leftMs, $$rest })',
      by: 'stageShareMs($plan, $stage, { leftMs: 60_000, $$rest })',
    },
  ]),
  ...against(`${unit}/browser-host/capture/plan/share-time.test.ts`, `${capture}/plan/share-time.ts`, [
    { at: 'stageShareMs', drop: 'pictureMs($$args)' },
    { at: 'stageShareMs', replace: '$leftMs - $requestedMs - pictureMs($$args)', by: '$leftMs - pictureMs($$args)' },
    { at: 'stageShareMs', replace: '$stages.filter((each) => isTaken(each, $plan))', by: '$stages' },
    { at: 'stageShareMs', replace: '$stages.slice($stages.indexOf($stage))', by: '$stages' },
    { at: 'stageShareMs', replace: 'Math.max(0, $share)', by: '$share' },
    { at: 'stageShareMs', replace: 'Math.min(1, $share)', by: '$share' },
  ]),
]

/** Faults in the rules for attempts interrupted by an outage of the service. */
const handBacks: readonly Mutation[] = [
  ...against(`${unit}/delivery/run-attempt.test.ts`, 'services/worker/delivery/run-attempt.ts', [
    {
      at: 'judge',
      replace: 'if (!$isEgressUp) $handBack',
      by: "if (!$isEgressUp && outcome.outcome === 'interrupted') $handBack",
    },
    { at: 'judge', replace: '$handBacks < handBacksMax', by: '$handBacks <= handBacksMax' },
    { at: 'judge', replace: 'handBacks: $handBacks + 1', by: 'handBacks: $handBacks' },
    { at: 'judge', drop: "$by !== 'browser'" },
    { at: 'judge', drop: "$by !== 'worker'" },
    { at: 'judge', replace: '$attempt < unendedMax', by: '$attempt <= unendedMax' },
  ]),
  ...against(`${unit}/delivery/read-progress.test.ts`, 'services/worker/delivery/read-progress.ts', [
    {
      at: 'readProgress',
      replace: '$attempt === $next.attempt ? $next : $first',
      by: '{ ...$next, attempt: $attempt }',
    },
    { at: 'readStarted', replace: "$kind === 'begun' ? $next : $repeat", by: '$repeat' },
  ]),
  ...against(`${unit}/delivery/store-image.test.ts`, 'services/worker/delivery/store-image.ts', [
    { at: 'ImageUpload > #try', drop: 'this.#isExclusive' },
    { at: 'ImageUpload > #try', drop: 'this.#isUncertain' },
    { at: 'ImageUpload > #try', drop: 'this.#put = undefined' },
    { at: 'ImageUpload > storeBy', drop: 'if (isLeft) this.#hold(); else this.#release()' },
    { at: 'ImageUpload > storeBy', drop: '!this.#isClosed' },
    { at: 'ImageUpload > storeLate', drop: 'if (!this.#isOwn) this.#isExclusive = false' },
    { at: 'ImageUpload > storeLate', drop: 'if (!$stop.aborted) this.#release()' },
    { at: 'ImageUpload > #release', replace: '$failing.size === 0', by: 'true' },
  ]),
  ...against('test/integration/sign-images.test.ts', 'services/gateway/queue/sign-images.ts', [
    { at: 'findOpen', replaceText: " and status in ('pending', 'processing')", by: '' },
    { at: 'findOpen', replaceText: ' and follows is null', by: '' },
  ]),
  ...against('test/integration/worker-egress-faults.test.ts', 'services/worker/delivery/serve-delivery.ts', [
    { at: 'runInBrowser', drop: "if ($fate.kind === 'handed-back') $publishStarted" },
  ]),
]

/** Faults in the bounds on a browser host's output. */
const frames: readonly Mutation[] = [
  ...against(`${unit}/host/host-pipe.test.ts`, 'services/worker/protocol/frames.ts', [
    { at: 'readFrames', drop: '$textLength > textBytesMax' },
    { at: 'readFrames', drop: '$bytesLength > bytesMax' },
    { at: 'readFrames', drop: 'if ($from.destroyed) return' },
    { at: 'readFrames', drop: '$from.destroy()' },
  ]),
  ...against(`${unit}/host/host-pipe.test.ts`, 'services/worker/host/host-pipe.ts', [
    { at: 'openHostPipe', replace: '$number !== oldest()', by: '!waiting.has($number)' },
    { at: 'openHostPipe', drop: '$running?.id !== $report.id' },
    { at: 'openHostPipe', replace: "$kind === 'ended' || $isDue", by: 'true' },
    { at: 'openHostPipe', drop: 'if ($oldest <= $running.reviewsBefore) throw $error' },
  ]),
  ...against(`${unit}/host/host-pipe.test.ts`, 'services/worker/host/read-host-report.ts', [
    { at: 'readHostReport', replace: '$isImage !== $bytes.byteLength > 0', by: '$isImage && $bytes.byteLength === 0' },
    { at: 'readHostReport', replace: 'isBounded($described.metadata)', by: '$described' },
  ]),
]

/** Faults in the rule that the page's own site is never blocked. */
const ownSite = against(
  `${unit}/browser-host/blocking/blocker.test.ts`,
  'services/worker/browser-host/blocking/blocker.ts',
  [
    { at: 'createBlocker > refusesHost', drop: '!isSiteHost($host)' },
    { at: 'createBlocker', replace: '[$source.url, address()]', by: '[$source.url]' },
    { at: 'createBlocker', replace: '[$source.url, address()]', by: '[address()]' },
    { at: 'createBlocker', drop: 'siteOf($own) === siteOf($host)' },
    { at: 'createBlocker', replace: '!isAboutHost($filter) || !isSiteHost($host)', by: 'true' },
    { at: 'createBlocker', replace: 'isAboutHost($filter) && isSiteHost($host) ? $all : $one', by: '$one' },
    { at: 'createBlocker', replace: '$isMain ? [] : $filters', by: '$filters' },
  ],
)

/** Faults in the scope of the caller's headers, redirects included. */
const headers: readonly Mutation[] = [
  ...against(`${unit}/browser-host/capture/page/intercept-requests.test.ts`, `${capture}/page/intercept-requests.ts`, [
    { at: 'toContinuation', replace: 'requestedFor($$args) ?? withoutReferer($values)', by: '$values' },
    { at: 'requestedFor', replace: '$origins.includes($origin)', by: '$origins.length > 0' },
    { at: 'toContinuation', drop: 'withoutReferer($values)' },
    { at: 'toContinuation', drop: "$request.urlFragment ?? ''" },
  ]),
  {
    point: 'Where `headers` go',
    at: `${capture}/page/intercept-requests.ts > toContinuation`,
    drop: '...($redirectedId !== undefined && { url: $url })',
  },
]

/** Faults invisible in responses: deadlines, hand-backs, and the bounds of pages and browser hosts. */
export const worker: readonly Mutation[] = [...deadline, ...handBacks, ...frames, ...ownSite, ...headers]
