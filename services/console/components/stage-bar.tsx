import type { Screenshot } from '#client/responses.js'
import { formatDuration } from '#console/text/format.ts'
import { texts } from '#console/text/texts.ts'

type Stage = keyof typeof texts.stages
const stages = Object.keys(texts.stages) as Stage[]

/** The time of each stage as a bar, and in words as its legend. */
export const StageBar = ({ timings }: { timings: NonNullable<Screenshot['timings']> }) => {
  const parts = stages.flatMap((stage) => {
    const ms = timings[stage]
    return ms === undefined || ms === 0 ? [] : [{ stage, ms }]
  })
  const totalMs = parts.reduce((sum, { ms }) => sum + ms, 0)
  return (
    <div class="stages">
      <svg class="stage-bar" viewBox="0 0 1000 10" preserveAspectRatio="none" aria-hidden="true">
        {parts.map(({ stage, ms }, index) => {
          const startMs = parts.slice(0, index).reduce((sum, part) => sum + part.ms, 0)
          const [x, width] = [(startMs / totalMs) * 1000, (ms / totalMs) * 1000]
          return <rect key={stage} class={`stage-${stage}`} x={x} y="0" width={Math.max(width - 2, 1)} height="10" />
        })}
      </svg>
      <ul class="legend">
        {parts.map(({ stage, ms }) => (
          <li key={stage}>
            <span class={`swatch stage-${stage}`} aria-hidden="true" />
            {texts.stages[stage]} <span class="number">{formatDuration(ms)}</span>
          </li>
        ))}
      </ul>
    </div>
  )
}
