import { existsSync } from 'node:fs'
import { rename } from 'node:fs/promises'

/** Moves what is made whole to the place where all processes look for it. Of two that made it at the same time, one is too late. */
export const keepMade = async (made: string, place: string): Promise<void> =>
  rename(made, place).catch((error: unknown) => {
    if (!existsSync(place)) throw error
  })
