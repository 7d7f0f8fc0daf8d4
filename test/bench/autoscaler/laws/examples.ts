// The autoscalers that docs/operator.md has examples of: "Who sizes a pool". They read the controller's gauges from Prometheus, which
// scrapes them each 5 s, as the page recommends.
import { defaultBehavior } from './hpa-behavior.ts'
import { createHpa, hpaDefaults, type HpaSettings, type Source } from './hpa.ts'
import { createKeda, kedaDefaults } from './keda.ts'
import { unfinished, waitingOnly } from './schedule.ts'

const scrapeMs = 5000
const documented: Source = { metric: unfinished, scrapeMs }
/** What the examples scaled on before, and the page warns of. */
const naive: Source = { metric: waitingOnly, scrapeMs }

const pollMs = 5000
const unlimitedGrowth = { type: 'Pods', value: 1000, periodMs: 15_000 } as const
const hpa: HpaSettings = {
  ...hpaDefaults,
  behavior: { ...defaultBehavior, scaleUp: { ...defaultBehavior.scaleUp, policies: [unlimitedGrowth] } },
}

/** The documented HorizontalPodAutoscaler. */
export const createDocumentedHpa = createHpa(hpa, documented)
/** A HorizontalPodAutoscaler on the captures that wait. */
export const createNaiveHpa = createHpa(hpaDefaults, naive)
/** The documented ScaledObject. */
export const createDocumentedKeda = createKeda({ ...kedaDefaults, hpa, pollMs, source: documented })
/** A ScaledObject on the captures that wait. */
export const createNaiveKeda = createKeda({ ...kedaDefaults, pollMs, source: naive })
