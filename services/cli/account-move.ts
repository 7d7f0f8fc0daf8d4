import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { dataPaths } from '#local/data-folder.ts'
import { type Database, openDatabase } from '#shared/db/connection.ts'
import {
  assertMovable,
  copyAccount,
  finishMove,
  holdAccount,
  isObjectNeeded,
  objectKeysOf,
  presenceOf,
  settleAccount,
} from '#shared/db/move-account.ts'
import { AppError } from '#shared/errors/app-error.ts'
import {
  type Command,
  type CommandContext,
  dataFlag,
  flagText,
  type ParsedArgs,
  requiredText,
  UsageError,
} from './command/command.ts'
import { readDuration } from './command/duration.ts'
import { createProgress } from './command/progress.ts'
import { findDataFolder, givenDirectUrl, runningInstallation } from './installation.ts'
import { type Copied, copyObjects, openFolder, openStore, type Store } from './objects-copy.ts'
import { withDatabase } from './with-database.ts'

const statementMs = 600_000
/** Statements that began before the hold end within their time-out. */
const settleMs = 10_000
const pollMs = 500
const actor = 'command line'

/** The two installations, and the stores of their images. */
type Move = {
  readonly id: string
  readonly from: Database
  readonly to: Database
  readonly images: { readonly from: Store; readonly to: Store }
}

type Moved = { readonly rows: number; readonly images: number; readonly bytes: number }

/** The address of the other installation's PostgreSQL, of a data folder or a file; never an argument, which others can see. */
const targetUrl = async (place: string): Promise<string> => {
  if (!place.startsWith('@')) return (await runningInstallation(resolve(place), '')).database_url
  const url = await readFile(place.slice(1), 'utf8').catch((cause: unknown) => {
    throw new UsageError(`--to ${place}: there is no such file`, { cause })
  })
  return url.trim()
}

/** The images of a data folder, unless a flag names where they are. */
const openImages = async (
  { env }: CommandContext,
  args: ParsedArgs,
  name: 'objects-from' | 'objects-to',
  folder: string | undefined,
): Promise<Store> => {
  if (flagText(args, name) === undefined && folder !== undefined) return openFolder(dataPaths(folder).objects)
  return openStore(args, name, env)
}

const settle = async ({ from, id }: Move, { note, stop }: CommandContext, withinMs: number): Promise<void> => {
  const began = performance.now()
  let noted = 0
  for (;;) {
    const { captures, deliveries } = await settleAccount(from, id)
    const heldMs = performance.now() - began
    if (captures + deliveries === 0 && heldMs >= settleMs) return
    const left = `${captures} captures have not ended, ${deliveries} deliveries are in flight`
    if (heldMs > withinMs || stop.aborted)
      throw new AppError('SERVICE_UNAVAILABLE', { publicMessage: `the account stays where it is: ${left}` })
    if (heldMs >= noted) {
      note(`its changes get 503; ${left}`)
      noted = heldMs + settleMs
    }
    await delay(pollMs)
  }
}

/** Copies the images that the other store lacks. Throws if one is missing that a capture refers to. */
const copyImages = async ({ from, id, images }: Move, context: CommandContext): Promise<Copied> => {
  const keys = await objectKeysOf(from, id)
  const prefixes = [...new Set(keys.map((key) => key.slice(0, key.indexOf('/', key.indexOf('/') + 1) + 1)))]
  const source = {
    list: async function* () {
      yield* keys
    },
    get: async (key: string) => {
      const found = await images.from.objects.get(key)
      if (found || !(await isObjectNeeded(from, key))) return found
      const publicMessage = `the images of this installation lack ${key}: is --objects-from right?`
      throw new AppError('SERVICE_UNAVAILABLE', { publicMessage })
    },
  }
  // Only of the hours in which the account has images.
  const target = {
    list: async function* () {
      for (const prefix of prefixes) yield* images.to.objects.list(prefix)
    },
  }
  using progress = createProgress(context)
  return await copyObjects(source, { objects: target, store: images.to.store }, ({ copied, bytes }) =>
    progress.showText(`copied ${copied} of ${keys.length} images, ${bytes} bytes`),
  )
}

const moveHeld = async (move: Move, context: CommandContext, withinMs: number): Promise<Moved> => {
  const { from, to, id } = move
  try {
    await settle(move, context, withinMs)
    const rows = await copyAccount(from, to, id)
    const { copied, bytes } = await copyImages(move, context)
    return { rows, images: copied, bytes }
  } catch (error) {
    await holdAccount(from, id, false, actor)
    throw error
  }
}

const moveAccount = async (move: Move, context: CommandContext, withinMs: number) => {
  const { from, to, id } = move
  const [here, there] = [await presenceOf(from, id), await presenceOf(to, id)]
  if (here === 'away') throw new AppError('NOT_FOUND', { publicMessage: `account ${id} has been moved from here` })
  if (there === 'here' && here !== 'moving')
    throw new AppError('VALIDATION_ERROR', { publicMessage: `the other installation has an account ${id}` })
  if (there !== 'here') await assertMovable(from, to, id)
  // Most are copied while the account is served.
  const { copied, bytes } = await copyImages(move, context)
  await holdAccount(from, id, true, actor)
  const heldAt = performance.now()
  const held = there === 'here' ? undefined : await moveHeld(move, context, withinMs)
  await finishMove(from, to, id, actor)
  return {
    id,
    rows: held?.rows ?? 0,
    images: copied + (held?.images ?? 0),
    bytes: bytes + (held?.bytes ?? 0),
    held_ms: Math.round(performance.now() - heldAt),
  }
}

/** `account move`: moves an account to another installation behind the same router. */
export const accountMove: Command = {
  usage: 'account move ID --to PLACE [--objects-from PLACE] [--objects-to PLACE] [--wait TIME] [--data DIR]',
  summary: 'moves an account to another cell behind the same router',
  json: '{ id, rows, images, bytes, held_ms }',
  flags: {
    to: { type: 'string', value: 'PLACE', help: "the other cell: its data folder, or @FILE with its PostgreSQL's URL" },
    'objects-from': {
      type: 'string',
      value: 'PLACE',
      help: 'where its images are, unless in a data folder: as in objects copy',
    },
    'objects-to': { type: 'string', value: 'PLACE', help: 'where they go, unless to a data folder' },
    wait: { type: 'string', value: 'TIME', help: 'longest wait for its captures to end (default 10m)' },
    data: dataFlag,
  },
  run: async (context, args) => {
    const { env } = context
    const place = requiredText(args, 'to')
    const withinMs = readDuration('wait', flagText(args, 'wait') ?? '10m')
    const isFolder = givenDirectUrl(env) === undefined || flagText(args, 'data') !== undefined
    const images = {
      from: await openImages(context, args, 'objects-from', isFolder ? findDataFolder(env, args) : undefined),
      to: await openImages(context, args, 'objects-to', place.startsWith('@') ? undefined : resolve(place)),
    }
    await using to = openDatabase({ url: await targetUrl(place), poolMax: 2, statementMs })
    const [id = ''] = args.operands
    const done = await withDatabase(env, args, (from) => moveAccount({ id, from, to, images }, context, withinMs), {
      statementMs,
    })
    const text = `account ${id} is in ${place}: ${done.rows} rows, ${done.images} images; its changes were held up for ${done.held_ms} ms`
    context.print({ json: done, text })
  },
}
