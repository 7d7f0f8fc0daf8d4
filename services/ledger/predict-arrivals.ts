import { type Pool, pools } from '#shared/capture/lane.ts'
import { countBacklog } from '#shared/db/count-backlog.ts'
import type { Sql } from '#shared/db/connection.ts'
import { readStatement } from '#shared/db/read-statement.ts'
import {
  comparedMinutesAgo,
  minuteMs,
  predictArrivals,
  predictedLanes,
  predictedMinutes,
  type Prediction,
} from '#shared/policy/predict-arrivals.ts'

/** A later count than this does not belong to the beginning of its minute. */
const lateMs = 5000

type PredictedLane = (typeof predictedLanes)[number]

/** Captures that are predicted for the present minute. */
export type PresentArrivals = { readonly pool: Pool; readonly captures: number }

type PastMinutes = {
  readonly pool: Pool
  readonly lane: PredictedLane
  readonly ahead: number
  readonly arrivals: Readonly<Record<number, number>>
}

const countMinute = readStatement(import.meta.dirname, 'db/sql/count-minute.sql')
const readPastMinutes = readStatement(import.meta.dirname, 'db/sql/read-past-minutes.sql')

const storeCounts = async (database: Sql, minute: Date): Promise<void> => {
  const counts = (await countBacklog(database)).flatMap(({ pool, lanes }) =>
    predictedLanes.map((lane) => ({ pool, lane, accepted: lanes[lane].accepted })),
  )
  const column = (field: (count: (typeof counts)[number]) => string | number) => counts.map(field)
  await database.query(countMinute, [
    minute,
    column(({ pool }) => pool),
    column(({ lane }) => lane),
    column(({ accepted }) => accepted),
  ])
}

const sumOf = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0)

/** Predicts the captures of each pool from the counts of past minutes. `nowMs` is the time since 1970. */
export const createPredictor = ({ database }: { readonly database: Sql }, nowMs: () => number = Date.now) => {
  let minuteStartMs = 0
  let predicted: ReadonlyMap<Pool, Prediction['lanes']> = new Map()
  return {
    /** Milliseconds until the next minute. */
    untilNextMs: (): number => minuteMs - (nowMs() % minuteMs),
    /** Stores the counts of a minute that has just begun, and predicts the next ones. Resolves to those of the present one. */
    predict: async (): Promise<PresentArrivals[]> => {
      const atMs = nowMs()
      const intoMs = atMs % minuteMs
      const startMs = atMs - intoMs
      const minute = new Date(startMs)
      if (intoMs <= lateMs) await storeCounts(database, minute)
      const past = await database.query<PastMinutes>(readPastMinutes, [minute, predictedMinutes, comparedMinutesAgo])
      const next = new Map<Pool, Prediction['lanes']>()
      for (const { pool, lane, ahead, arrivals } of past) {
        const expected = predictArrivals((minutesAgo) => arrivals[minutesAgo])
        if (expected === 0) continue
        const lanes = next.get(pool) ?? {}
        const minutes = lanes[lane] ?? Array.from({ length: predictedMinutes }, () => 0)
        minutes[ahead] = expected
        next.set(pool, { ...lanes, [lane]: minutes })
      }
      minuteStartMs = startMs
      predicted = next
      return pools.map((pool) => ({
        pool,
        captures: sumOf(predictedLanes.map((lane) => next.get(pool)?.[lane]?.[0] ?? 0)),
      }))
    },
    /** The prediction for a pool from the present minute on; undefined if there is none. */
    predictionFor: (pool: Pool): Prediction | undefined => {
      const lanes = predicted.get(pool)
      const passedMs = nowMs() - minuteStartMs
      const passed = Math.floor(passedMs / minuteMs)
      // The clock may have been set back.
      if (!lanes || passed < 0 || passed >= predictedMinutes) return undefined
      const left = Object.entries(lanes).map(([lane, minutes]) => [lane, minutes.slice(passed)])
      return { intoMinuteMs: passedMs % minuteMs, lanes: Object.fromEntries(left) }
    },
  }
}

/** See `createPredictor`. */
export type Predictor = ReturnType<typeof createPredictor>
