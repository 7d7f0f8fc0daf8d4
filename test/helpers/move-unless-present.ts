import { existsSync } from 'node:fs'
import { rename } from 'node:fs/promises'

/** Moves a completed file or folder to its shared place. If a concurrent process was first, its copy stays. */
export const moveUnlessPresent = async (made: string, place: string): Promise<void> =>
  rename(made, place).catch((error: unknown) => {
    if (!existsSync(place)) throw error
  })
