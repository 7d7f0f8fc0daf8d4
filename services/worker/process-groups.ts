import { readFileSync } from 'node:fs'

/**
 * The children that a process started from its main thread, as the kernel counts them. Browsers lead process groups of
 * their own, so each is a group's id too. Empty where the process is gone.
 */
export const childrenOf = (pid: number): readonly number[] => {
  try {
    const text = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
    return text.split(' ').flatMap((child) => (/^\d+$/.test(child) ? [Number(child)] : []))
  } catch {
    return []
  }
}
