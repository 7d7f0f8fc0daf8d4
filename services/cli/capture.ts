import { access, constants, readFile, stat, writeFile } from 'node:fs/promises'
import { dirname, extname, resolve } from 'node:path'
import type { Screenshot } from '#client/responses.js'
import { fromQuery } from '#shared/capture/from-query.ts'
import { type Format, mediaTypes } from '#shared/capture/options.ts'
import { systemReason } from '#local/system-error.ts'
import { AppError } from '#shared/errors/app-error.ts'
import {
  type Command,
  type CommandContext,
  dataFlag,
  flagText,
  flagTexts,
  type ParsedArgs,
  UsageError,
} from './command/command.ts'
import { captureImage, extensionOf } from './capture/capture-image.ts'
import { openClient } from './open-client.ts'

/** How often a request for an address of a list waits for the minute limit, or for room in the queue. */
const retriesMax = 10

/** The kind of source by file extension. */
const sourceKinds = [
  ['.html', 'html'],
  ['.htm', 'html'],
  ['.md', 'markdown'],
] as const

const fileEndings = sourceKinds.map(([ending]) => ending).join(' or ')

/** What the operand SOURCE is. */
export const operandHelp = { SOURCE: `an http or https URL, or a file ending in ${fileEndings}` }

/** What looks like a URL without its scheme: a public host, and one of this machine or an IPv4 address. */
const hostForm = /^(?:[a-z0-9-]+\.)+[a-z]{2,}(?:[:/]|$)/i
const localForm = /^(?:localhost|\d{1,3}(?:\.\d{1,3}){3})(?:[:/]|$)/i

const schemeHint = (source: string): string => {
  if (localForm.test(source)) return `, such as http://${source}`
  return hostForm.test(source) ? `, such as https://${source}` : ''
}

/** The source of a capture by its kind: a URL, or the content of a file. Throws `UsageError`. */
export const readSource = async (source: string): Promise<Readonly<Record<string, string>>> => {
  if (/^https?:/i.test(source)) return { url: source }
  const [, kind] = sourceKinds.find(([ending]) => ending === extname(source).toLowerCase()) ?? []
  if (!kind) {
    throw new UsageError(
      `SOURCE ${source}: must be an http or https URL${schemeHint(source)}, or a file ending in ${fileEndings}`,
    )
  }
  try {
    return { [kind]: await readFile(source, 'utf8') }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new UsageError(
      `SOURCE ${source}: ${code === 'ENOENT' ? 'there is no such file' : `cannot be read (${systemReason(code)})`}`,
    )
  }
}

const otherEndings: Partial<Record<Format, readonly string[]>> = { jpeg: ['.jpg'], tiff: ['.tif'] }

/** Formats by file extension. */
const formatsByEnding: Readonly<Record<string, Format>> = Object.fromEntries(
  (Object.keys(mediaTypes) as Format[]).flatMap((format) =>
    [`.${format}`, ...(otherEndings[format] ?? [])].map((ending) => [ending, format]),
  ),
)

/**
 * The format by the extension of the output file; empty if it has none, or if the format is supplied. Throws `UsageError` for
 * an unknown extension, and for one that contradicts the supplied format.
 */
const formatFor = (output: string | undefined, supplied: unknown): { readonly format?: Format } => {
  const ending = extname(output ?? '').toLowerCase()
  if (ending === '') return {}
  const format = formatsByEnding[ending]
  if (typeof supplied === 'string') {
    if (format === undefined || format === supplied) return {}
    throw new UsageError(`-o ${output} and -p format=${supplied} contradict each other`)
  }
  if (format) return { format }
  const known = Object.keys(formatsByEnding).join(', ')
  throw new UsageError(`-o ${output}: the ending must be one of ${known}, or the format given with -p format=NAME`)
}

const unwritable = (file: string, code: string | undefined) =>
  new AppError('SERVICE_UNAVAILABLE', {
    publicMessage: `${file} cannot be written (${systemReason(code)}); choose another with -o`,
  })

/** Fails before the capture is charged if its file cannot be written. */
const assertWritable = async (file: string): Promise<void> => {
  const found = await stat(file).catch(() => undefined)
  if (found?.isDirectory()) throw unwritable(file, 'EISDIR')
  await access(found ? file : dirname(file), constants.W_OK).catch((error: NodeJS.ErrnoException) => {
    throw unwritable(file, error.code)
  })
}

/** Parses `-p name=value` like the query of a GET capture. */
export const readParameters = (args: ParsedArgs): Readonly<Record<string, unknown>> => {
  const query = new URLSearchParams()
  for (const pair of flagTexts(args, 'parameter')) {
    const at = pair.indexOf('=')
    if (at < 1) throw new UsageError(`-p ${pair}: must have the form name=value`)
    query.append(pair.slice(0, at), pair.slice(at + 1))
  }
  if (query.size === 0) return {}
  if (query.has('response_type'))
    throw new UsageError('-p response_type: the image is stored in a file; --json prints the record')
  const read = fromQuery(query.toString())
  if (read.ok) return read.input
  const [[name, problems] = ['', []]] = Object.entries(read.errors)
  throw new UsageError(`-p ${name}: ${problems.join(', ')}`)
}

const describe = (record: Screenshot, file: string): string => {
  const size = `${record.width} × ${record.height}, ${record.file_size} bytes, ${record.mime_type}`
  const answered = record.target_status === undefined ? '' : `, the page answered ${record.target_status}`
  const stages = Object.entries(record.timings ?? {}).map(([stage, ms]) => `${stage} ${ms} ms`)
  return [
    `${file}: ${size}${answered}${record.cached ? ', from the cache' : ''}`,
    ...(stages.length === 0 ? [] : [stages.join(', ')]),
    ...(record.warnings ?? []).map(({ code, message }) => `warning: ${code}: ${message}`),
  ].join('\n')
}

const captureOne = async (context: CommandContext, args: ParsedArgs): Promise<void> => {
  const { print, note, write } = context
  const source = await readSource(args.operands[0] ?? '')
  const output = flagText(args, 'output')
  const toStandardOutput = output === '-'
  if (toStandardOutput && args.flags['json'] === true) {
    throw new UsageError('-o - and --json both need the standard output')
  }
  const supplied = readParameters(args)
  const parameters = { ...formatFor(output, supplied['format']), ...supplied, ...source }
  if (!toStandardOutput) await assertWritable(resolve(output ?? 'capture.png'))
  const { record, image } = await captureImage(await openClient(context, args), parameters)
  if (!image) {
    const { code = 'JOB_FAILED', message = '' } = record.error ?? {}
    throw new AppError('SERVICE_UNAVAILABLE', { publicMessage: `capture ${record.id} failed: ${code}: ${message}` })
  }
  if (toStandardOutput) {
    write(image)
    return note(describe(record, 'standard output'))
  }
  const file = resolve(output ?? `capture${extensionOf(record)}`)
  await writeFile(file, image).catch((error: NodeJS.ErrnoException) => {
    throw unwritable(file, error.code)
  })
  print({ json: { ...record, file }, text: describe(record, file) })
}

/** `capture`: captures a page or a file with the running service and writes the image; with `--from` a list of addresses. */
export const capture: Command = {
  usage:
    'capture SOURCE [-o FILE] [-p name=value]… [--data DIR], or capture --from FILE [-o FOLDER] [--concurrency N] [-p name=value]… [--data DIR]',
  summary: `captures a URL, a file ending in ${fileEndings}, or the addresses of a list, with the running service`,
  operandHelp,
  json: '{ id, file, … }, the record of the HTTP interface; with --from each capture on a line, also with its line, or { line, url, error: { code, message } }',
  flags: {
    output: {
      type: 'string',
      short: 'o',
      value: 'FILE',
      help: 'where the image goes; its ending decides the format (default capture.png); - is the standard output; with --from the folder (default captures)',
    },
    parameter: {
      type: 'string',
      short: 'p',
      value: 'name=value',
      multiple: true,
      help: 'parameter of the capture as in the HTTP interface, such as full_page=true',
    },
    from: {
      type: 'string',
      value: 'FILE',
      help: 'list with one address per line, comments after #; - is the standard input',
    },
    concurrency: { type: 'string', value: 'N', help: 'captures of the list at a time, from 1 to 64 (default 4)' },
    data: dataFlag,
  },
  operandsUnless: 'from',
  run: async (context, args) => {
    if (flagText(args, 'from') === undefined) {
      if (flagText(args, 'concurrency') !== undefined) throw new UsageError('--concurrency needs --from')
      return captureOne(context, args)
    }
    const { captureList } = await import('./capture/capture-list.ts')
    const client = await openClient(context, args, { retries: retriesMax })
    await captureList(context, args, { client, parameters: readParameters(args) })
  },
}
