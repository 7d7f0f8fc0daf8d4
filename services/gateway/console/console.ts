import { join } from 'node:path'
import { AppError } from '#shared/errors/app-error.ts'
import type { Answer } from '#gateway/http/answer.ts'
import type { Exchange } from '#gateway/http/exchange.ts'
import { publicPath } from '#gateway/http/public-path.ts'
import { answerStatic, readStaticFiles, servedBelow, type StaticFiles } from './static-files.ts'

/** Where `make setup` and the image put the built console. */
const builtFolder = join(import.meta.dirname, '../../../.tools/console')

/** Returns a file of the console. Throws `NOT_FOUND`, which says how to build it if it is missing. */
export type ShowConsole = (exchange: Exchange) => Promise<Answer>

/**
 * Serves the console from `folder`, by default where it is built, below the path of the public URL. Its files are read at the first
 * request that finds them.
 */
export const createConsole = (folder: string, publicUrl: () => string): ShowConsole => {
  let reading: Promise<StaticFiles | undefined> | undefined
  const read = async (): Promise<StaticFiles | undefined> => {
    reading ??= readStaticFiles(folder || builtFolder)
    try {
      const files = await reading
      if (!files) reading = undefined
      return files && servedBelow(files, publicPath(publicUrl()))
    } catch (error) {
      reading = undefined
      throw error
    }
  }
  return async (exchange) => {
    const { '*': path = '' } = exchange.params
    if (path === 'api' || path.startsWith('api/')) throw new AppError('NOT_FOUND')
    const files = await read()
    if (files) return answerStatic(files, path, exchange)
    const publicMessage =
      'The console is not built: run `make setup`, or set SHUTTERFLEET_CONSOLE_FOLDER to the folder with its index.html.'
    throw new AppError('NOT_FOUND', { publicMessage })
  }
}
