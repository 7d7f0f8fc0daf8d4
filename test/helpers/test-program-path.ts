import { resolve } from 'node:path'
import { provideBundle } from '#local/bundle.ts'
import { programPath } from '#shared/process/program-path.ts'
import { nodeEnv } from './node-env.ts'

const root = resolve(import.meta.dirname, '../..')
const env = Object.fromEntries(Object.entries(nodeEnv).map(([name, value = '']) => [name, value]))
/** The bundled programs, made of the current sources. */
export const testPrograms = await provideBundle({ root, env })

/** The bundled file of a program, such as `gateway/main`, made of the current sources. */
export const testProgramPath = (name: string): string => programPath(name, testPrograms)
