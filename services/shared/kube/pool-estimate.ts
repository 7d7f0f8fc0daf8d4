import { Type } from 'typebox'
import { text } from '#shared/schema/fields.ts'
import { count, partial } from './schema-parts.ts'

const measure = (description: string) => Type.Number({ description, minimum: 0 })

/** Schema of what a pool's desired size was computed from. */
export const poolEstimate = partial(
  {
    message: text('All of it in one sentence.', { maxLength: 1024 }),
    arrivalsPerSecond: measure('Captures that arrive per second, lately.'),
    captureSeconds: measure('Seconds of a capture in its slot, the mean.'),
    startSeconds: measure('Seconds from start to ready of a worker that waits for no node, p90.'),
    loadSlots: measure('Slots that the arrivals keep busy on average.'),
    waiting: count('Captures that wait.'),
    requiredReplicas: count('Workers that arrivals and waiting captures require, before the bounds apply.'),
    predictedReplicas: count('Workers for the captures that are predicted.'),
    heldReplicas: count('Workers that are held although fewer are desired; otherwise absent.'),
    heldUntil: Type.String({
      format: 'date-time',
      description: 'Until when, if no more are required meanwhile.',
    }),
  },
  { description: 'What the desired size was computed from, while the queue sizes the pool.' },
)
