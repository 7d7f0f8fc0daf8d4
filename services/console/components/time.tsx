import { useEffect, useState } from 'preact/hooks'
import { formatExact, formatRelative } from '#console/text/format.ts'
import { texts } from '#console/text/texts.ts'

const tickMs = 10_000

/** A time relative to now, with the exact one in the viewer's zone on hover. */
export const Time = ({ at }: { at: string | null | undefined }) => {
  const [nowMs, setNowMs] = useState(Date.now)
  useEffect(() => {
    const timer = setInterval(() => setNowMs(Date.now()), tickMs)
    return () => clearInterval(timer)
  }, [])
  if (at === null || at === undefined) return <span class="muted">{texts.common.never}</span>
  return (
    <time dateTime={at} title={formatExact(at)}>
      {formatRelative(at, nowMs)}
    </time>
  )
}
