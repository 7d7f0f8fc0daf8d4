import { anonymousBytes, processTree } from '#test/helpers/process-tree.ts'
import type { Carrier } from './carrier.ts'

/** Anonymous resident memory in bytes of the largest process of each part of the carrier; the stand-ins are not of the controller. */
export const readMemory = ({ pids }: Pick<Carrier, 'pids'>): ReadonlyMap<string, number> =>
  new Map(
    [...pids].map(([part, processes]) => {
      const all =
        part === 'controller' ? processes : processes.flatMap((pid) => processTree(pid).map((each) => each.pid))
      return [part, Math.max(...all.map(anonymousBytes))]
    }),
  )
