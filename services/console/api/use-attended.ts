import { useEffect, useState } from 'preact/hooks'

const attendedMs = 300_000
const inputs = ['pointermove', 'pointerdown', 'keydown', 'scroll'] as const

/**
 * Whether the viewer has used the page within five minutes. Without that nothing is read again by a timer, so that a session
 * that nobody uses reaches its idle end.
 */
export const useAttended = (): boolean => {
  const [isAttended, setIsAttended] = useState(true)
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined
    const attend = () => {
      clearTimeout(timer)
      timer = setTimeout(() => setIsAttended(false), attendedMs)
      setIsAttended(true)
    }
    attend()
    for (const name of inputs) addEventListener(name, attend, { passive: true })
    return () => {
      clearTimeout(timer)
      for (const name of inputs) removeEventListener(name, attend)
    }
  }, [])
  return isAttended
}
