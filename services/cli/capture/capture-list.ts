import { mkdir, stat, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { systemReason } from '#local/system-error.ts'
import { AppError } from '#shared/errors/app-error.ts'
import { type CommandContext, flagCount, flagText, type ParsedArgs } from '#cli/command/command.ts'
import { createProgress } from '#cli/command/progress.ts'
import type { Screenshot, Shutterfleet } from '#client/shutterfleet.js'
import { captureImage, extensionOf } from './capture-image.ts'
import { captureMany, type CaptureManyDeps, type Ended } from './capture-many.ts'
import { type Address, readAddresses } from './read-addresses.ts'

const concurrencyMax = 64
const slugMax = 80

/** Bounds of `--concurrency`. */
const concurrency = { min: 1, max: concurrencyMax, fallback: 4 }

const unusable = (folder: string, reason: string | undefined) =>
  new AppError('CONFIGURATION', {
    publicMessage: `${folder} cannot be used (${systemReason(reason)}); choose another folder with -o`,
  })

const openFolder = async (folder: string): Promise<void> => {
  await mkdir(folder).catch(async (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw unusable(folder, error.code)
    if (!(await stat(folder)).isDirectory()) throw unusable(folder, 'ENOTDIR')
  })
}

/** The name of an image: the line in the list, then what the address says. */
const nameOf = ({ line, url }: Address, extension: string): string => {
  const { host, pathname } = new URL(url)
  const slug = `${host}${pathname}`.replaceAll(/[^\w.-]+/g, '-').slice(0, slugMax)
  return `${String(line).padStart(5, '0')}-${slug.replace(/-$/, '')}${extension}`
}

const toJson = ({ line, ...end }: Ended) =>
  'error' in end ? { line, url: end.url, error: end.error } : { line, ...end.record, file: end.file }

/** Where the captures are made, and with which parameters. */
export type CaptureListOptions = {
  readonly client: Pick<Shutterfleet, 'captureRecord' | 'image'>
  readonly parameters: object
}

const captureInto = async (
  folder: string,
  addresses: readonly Address[],
  context: CommandContext,
  { workers, options, ended }: Pick<CaptureManyDeps, 'ended'> & { workers: number; options: CaptureListOptions },
): Promise<Ended[]> => {
  const { client, parameters } = options
  using progress = createProgress(context)
  const deps = {
    capture: (url: string) => captureImage(client, { ...parameters, url }, { signal: context.stop }),
    store: async (address: Address, { record, image }: { record: Screenshot; image: Uint8Array }) => {
      const file = join(folder, nameOf(address, extensionOf(record)))
      await writeFile(file, image).catch((error: NodeJS.ErrnoException) => {
        throw unusable(folder, error.code)
      })
      return file
    },
    progressed: progress.show,
    ended,
    stop: context.stop,
  }
  return await captureMany(deps, addresses, workers)
}

/** `capture --from`: captures the addresses of a list into a folder. Throws `SERVICE_UNAVAILABLE` if any failed. */
export const captureList = async (
  context: CommandContext,
  args: ParsedArgs,
  options: CaptureListOptions,
): Promise<void> => {
  const addresses = await readAddresses(flagText(args, 'from') ?? '-', context.input)
  const workers = Math.min(flagCount(args, 'concurrency', concurrency), addresses.length)
  const folder = resolve(flagText(args, 'output') ?? 'captures')
  await openFolder(folder)
  const isJson = args.flags['json'] === true
  const ended = (end: Ended) => context.printEach({ json: toJson(end) })
  const captures = await captureInto(folder, addresses, context, { workers, options, ended })
  const failures = captures.flatMap((end) => ('error' in end ? [end] : []))
  const completed = captures.length - failures.length
  const lines = failures.map(({ line, url, error }) => `line ${line}: ${url}: ${error.code}: ${error.message}`)
  const text = [...lines, `${completed} of ${captures.length} captured into ${folder}`].join('\n')
  if (!isJson) context.print({ json: undefined, text })
  if (failures.length === 0) return
  const publicMessage = `${failures.length} of ${captures.length} captures failed`
  throw new AppError('SERVICE_UNAVAILABLE', { publicMessage })
}
