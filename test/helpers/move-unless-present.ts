import { existsSync } from 'node:fs'
import { rename } from 'node:fs/promises'

/** Moves a completed file or folder to its shared place. If a concurrent process was first, its copy stays. */
export const moveUnlessPresent = async (source: string, target: string): Promise<void> =>
  rename(source, target).catch((error: unknown) => {
    if (!existsSync(target)) throw error
  })
