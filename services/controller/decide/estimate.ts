import { lanes } from '#shared/capture/lane.ts'
import { serviceMsOf } from './load.ts'
import type { Backlog, Estimate, Load, Observation } from './pool.ts'

/** Arrivals and load of the longer means. Without a load none. */
export const describeLoad = (
  load: Load | undefined,
  observation: Pick<Observation, 'laneServiceMs' | 'serviceMs' | 'startMs'>,
  { pending }: Pick<Backlog, 'pending'>,
): Omit<Estimate, 'required' | 'predicted' | 'held'> => {
  const slots = lanes.reduce((sum, lane) => sum + (load?.[lane].slow ?? 0), 0)
  const perMs = lanes.reduce((sum, lane) => sum + (load?.[lane].slow ?? 0) / serviceMsOf(lane, observation), 0)
  return {
    arrivalsPerSecond: perMs * 1000,
    captureMs: perMs > 0 ? slots / perMs : observation.serviceMs,
    startMs: observation.startMs,
    slots,
    waiting: pending,
  }
}

const number = (value: number) => value.toFixed(1)
const workers = (count: number) => (count === 1 ? '1 worker' : `${count} workers`)

/** One sentence; `until` formats the time of `held`. */
export const estimateSentence = (
  { arrivalsPerSecond, captureMs = 0, slots, waiting, required, predicted, held }: Estimate,
  until: (untilMs: number) => string,
): string => {
  const load = `${number(arrivalsPerSecond)}/s × ${number(captureMs / 1000)} s = ${number(slots)} slots`
  const backlog = waiting > 0 ? ` and ${waiting} waiting` : ''
  const kept = held && `${held.workers} ${held.workers === 1 ? 'is' : 'are'} held until ${until(held.untilMs)}`
  return [
    `${load}${backlog} need ${workers(required)}`,
    ...(predicted > required ? [`predicted captures need ${predicted}`] : []),
    ...(kept === undefined ? [] : [kept]),
  ].join('; ')
}
