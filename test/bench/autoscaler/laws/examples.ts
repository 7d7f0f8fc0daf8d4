// The autoscalers that docs/operator.md has examples of: "Who sizes a pool". They read the controller's gauges from Prometheus, which
// scrapes them each 15 s by the chart's default. The examples have no `behavior`.
import { createHpa, hpaDefaults, type Source } from './hpa.ts'
import { createKeda, kedaDefaults } from './keda.ts'
import { unfinished, waitingOnly } from './schedule.ts'

const scrapeMs = 15_000
const documented: Source = { metric: unfinished, scrapeMs }
/** What the examples scaled on before, and the page warns of. */
const naive: Source = { metric: waitingOnly, scrapeMs }

const pollMs = 5000

/** The documented HorizontalPodAutoscaler. */
export const createDocumentedHpa = createHpa(hpaDefaults, documented)
/** A HorizontalPodAutoscaler on the captures that wait. */
export const createNaiveHpa = createHpa(hpaDefaults, naive)
/** The documented ScaledObject. */
export const createDocumentedKeda = createKeda({ ...kedaDefaults, pollMs, source: documented })
/** A ScaledObject on the captures that wait. */
export const createNaiveKeda = createKeda({ ...kedaDefaults, pollMs, source: naive })
