import t from 'tap'
import { attemptBudgetMs, requestedWaitMs } from '#shared/capture/budget.ts'
import { withDefaults, type CaptureParameters } from '#shared/capture/options.ts'
import { planCapture } from '#worker/browser-host/capture/plan/plan-capture.ts'
import { pixelsWithin, stageShareMs, type WaitingStage } from '#worker/browser-host/capture/plan/share-time.ts'

const pixelsMax = 80_000_000
const optionsOf = (parameters: CaptureParameters) => withDefaults({ url: 'https://example.com/', ...parameters })
const share = (parameters: CaptureParameters, stage: WaitingStage, leftMs: number) =>
  stageShareMs(planCapture(optionsOf(parameters)), stage, { leftMs, pixelsMax })

t.test('share time: a stage gets its maximum, and less if later stages need the time', async (t) => {
  const click = { click_selector: 'a' }
  const tall = { full_page: true, block_cookies: false }
  const rows: [name: string, parameters: CaptureParameters, stage: WaitingStage, leftMs: number, want: number][] = [
    ['consent, much left', {}, 'consent', 60_000, 4500],
    ['changes, much left', click, 'changes', 60_000, 6000],
    ['settle, much left', {}, 'settle', 60_000, 8000],
    ['settle, much left of a long timeout', { timeout: 60 }, 'settle', 60_000, 16_000],
    ['settle, much left of a short timeout', { timeout: 5 }, 'settle', 60_000, 8000],
    ['settle keeps a small picture free', {}, 'settle', 5000, 3877],
    ['settle keeps a large picture free', { width: 3840, height: 2160, retina: true }, 'settle', 12_000, 7018],
    ['settle keeps the largest full page free', tall, 'settle', 14_500, 3900],
    ['settle keeps a large jpeg free, which takes less', { ...tall, format: 'jpeg' }, 'settle', 14_500, 8000],
    ['settle keeps a PDF free', { format: 'pdf' }, 'settle', 9000, 4000],
    ['settle leaves metadata their part', { extract_metadata: true }, 'settle', 6623, 4000],
    ['consent leaves changes their part', click, 'consent', 11_873, 2250],
    ['consent leaves a capture without changes more', {}, 'consent', 11_873, 3121],
    ['consent keeps the delay free', { delay: 10 }, 'consent', 21_873, 3121],
    ['settle is after the delay', { delay: 10 }, 'settle', 60_000, 8000],
    ['actions, much left', { actions: [{ type: 'press', key: 'Tab' }] }, 'actions', 60_000, 10_000],
    [
      'consent keeps the waits of actions free',
      { actions: [{ type: 'wait', milliseconds: 10_000 }] },
      'consent',
      60_000,
      4500,
    ],
    ['nothing is left', tall, 'settle', 9000, 0],
  ]
  for (const [name, parameters, stage, leftMs, want] of rows) t.equal(share(parameters, stage, leftMs), want, name)
})

t.test('share time: stages that use all of their shares leave time for the screenshot', async (t) => {
  const rows: [parameters: CaptureParameters, stages: WaitingStage[], pictureMs: number][] = [
    [{}, ['consent', 'navigation', 'settle'], 1122],
    [{ js: '1', extract_metadata: true, delay: 3 }, ['consent', 'changes', 'navigation', 'settle', 'inspect'], 1122],
    [{ full_page: true, block_cookies: false }, ['navigation', 'settle'], 10_600],
    [{ format: 'avif', full_page: true }, ['consent', 'navigation', 'settle'], 8480],
    [
      { delay_ms: 400, actions: [{ type: 'wait', milliseconds: 9000 }] },
      ['consent', 'actions', 'navigation', 'settle'],
      1122,
    ],
    [{ timeout: 60, full_page: true }, ['consent', 'navigation', 'settle'], 10_600],
    [{ format: 'pdf', scroll_to: 'a' }, ['consent', 'changes', 'navigation', 'settle'], 5000],
  ]
  for (const [parameters, stages, pictureMs] of rows) {
    const options = optionsOf(parameters)
    const delayMs = requestedWaitMs(options)
    const mostMs = attemptBudgetMs(options) - options.timeout * 1000
    for (let leftMs = mostMs; leftMs > pictureMs + delayMs; leftMs -= 997) {
      let left = leftMs
      for (const stage of stages) {
        if (stage === 'navigation') left -= delayMs
        left -= share(parameters, stage, left)
      }
      t.ok(left >= pictureMs, `${JSON.stringify(parameters)}: ${left} are left of ${leftMs}`)
    }
  }
})

t.test('share time: an avif has a lower pixel bound than other images, within that of the worker', async (t) => {
  const of = (format: 'avif' | 'png' | 'pdf', most: number) => pixelsWithin(planCapture(optionsOf({ format })), most)
  t.equal(of('avif', pixelsMax), 34_000_000)
  t.equal(of('avif', 1_000_000), 1_000_000)
  t.equal(of('png', pixelsMax), pixelsMax)
  t.equal(of('pdf', pixelsMax), pixelsMax)
  const renditions = [{ format: 'jpeg' as const }, { format: 'avif' as const }, { format: 'png' as const }]
  t.equal(pixelsWithin(planCapture(optionsOf({ renditions })), pixelsMax), pixelsMax / 4, 'divided among renditions')
})
