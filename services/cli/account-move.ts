import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { cancelMove, refuseAway, refuseOtherCell } from '#shared/db/cancel-move.ts'
import { type Database, openDatabase } from '#shared/db/connection.ts'
import {
  assertMovable,
  copyAccount,
  countUnsettled,
  finishMove,
  findDeparture,
  type Hold,
  holdAccount,
  isObjectNeeded,
  objectKeysOf,
  presenceOf,
  releaseAccount,
  withdrawCopy,
} from '#shared/db/move-account.ts'
import { AppError, toAppError } from '#shared/errors/app-error.ts'
import { newObjectKey, objectsPrefix } from '#shared/storage/objects.ts'
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
import { type Copied, copyObjects, openStore, type Store } from './objects-copy.ts'
import { withDatabase } from './with-database.ts'

const statementMs = 600_000
/** Statements that began before the hold end within their time-out. */
const settleMs = 10_000
const noteEveryMs = 10_000
const pollMs = 500
/** A removal of an object that a ledger has claimed ends within its claim. */
const removalMs = 60_000
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
  if (place.includes('://')) throw new UsageError('--to: must be a data folder, or @FILE with the URL')
  if (!place.startsWith('@')) return (await runningInstallation(resolve(place), '')).database_url
  const url = await readFile(place.slice(1), 'utf8').catch((cause: unknown) => {
    throw new UsageError(`--to ${place}: there is no such file`, { cause })
  })
  return url.trim()
}

/** Where images are: of the flag, else of a data folder. */
const imagesOf = async (args: ParsedArgs, flag: 'objects-from' | 'objects-to', folder: string | undefined) =>
  flagText(args, flag) ?? (folder ? (await runningInstallation(folder, '')).object_store : requiredText(args, flag))

/** Throws if the addresses lead to one place, however they are written: the images would be deleted with the old account. */
const assertApart = async ({ from, to }: Move['images']): Promise<void> => {
  const key = newObjectKey(randomUUID(), new Date())
  await to.store(key, Buffer.from('of the other cell'))
  try {
    const found = await from.objects.get(key)
    found?.body.destroy()
    if (found) throw new UsageError('the images of both cells are in one place: each needs its own')
  } finally {
    await to.objects.delete([key])
  }
}

const openImages = async ({ env }: CommandContext, args: ParsedArgs, place: string): Promise<Move['images']> => {
  const isFolder = givenDirectUrl(env) === undefined || flagText(args, 'data') !== undefined
  const from = await imagesOf(args, 'objects-from', isFolder ? findDataFolder(env, args) : undefined)
  const to = await imagesOf(args, 'objects-to', place.startsWith('@') ? undefined : resolve(place))
  const images = { from: await openStore(from, 'objects-from', env), to: await openStore(to, 'objects-to', env) }
  await assertApart(images)
  return images
}

/** Waits until the account has nothing left to do; rejects if it takes too long, or is stopped. */
const settle = async ({ from, id }: Move, { note, stop }: CommandContext, withinMs: number): Promise<void> => {
  const began = performance.now()
  let noteMs = 0
  for (;;) {
    const { captures, deliveries, answers } = await countUnsettled(from, id)
    const heldMs = performance.now() - began
    if (captures + deliveries + answers === 0 && heldMs >= settleMs) return
    const left = `${captures} captures have not ended, ${deliveries} deliveries are in flight, ${answers} responses to store`
    if (heldMs > withinMs) throw new AppError('SERVICE_UNAVAILABLE', { publicMessage: left })
    if (heldMs >= noteMs) {
      note(`the account's changes get 503; ${left}`)
      noteMs = heldMs + noteEveryMs
    }
    await delay(pollMs, undefined, { signal: stop })
  }
}

/** Copies the images that the other store lacks. Throws if one is missing that a capture refers to. */
const copyImages = async ({ from, id, images }: Move, context: CommandContext): Promise<Copied> => {
  const keys = await objectKeysOf(from, id)
  const hours = [...new Set(keys.map((key) => key.slice(0, key.indexOf('/', objectsPrefix.length) + 1)))]
  const source = {
    list: async function* () {
      for (const key of keys) {
        context.stop.throwIfAborted()
        yield key
      }
    },
    get: async (key: string) => {
      const found = await images.from.objects.get(key)
      if (found || !(await isObjectNeeded(from, key))) return found
      const publicMessage = `the images of this installation lack ${key}: is --objects-from right?`
      throw new AppError('SERVICE_UNAVAILABLE', { publicMessage })
    },
  }
  const target = {
    list: async function* () {
      for (const hour of hours) yield* images.to.objects.list(hour)
    },
  }
  using progress = createProgress(context)
  return await copyObjects(source, { objects: target, store: images.to.store }, ({ copied, bytes }) =>
    progress.showText(`copied ${copied} of ${keys.length} images, ${bytes} bytes`),
  )
}

const copyAndFinish = async (move: Move, hold: Hold, context: CommandContext, withinMs: number): Promise<Moved> => {
  const { from, to, id } = move
  await settle(move, context, withinMs)
  const { rows, removals } = await copyAccount(from, to, { id })
  // A ledger there may be removing them just now.
  if (removals > 0) await delay(removalMs, undefined, { signal: context.stop })
  const { copied: images, bytes } = await copyImages(move, context)
  context.stop.throwIfAborted()
  await finishMove(from, to, hold, { actor, copied: rows })
  return { rows: [...rows.values()].reduce((sum, each) => sum + each, 0), images, bytes }
}

/** Leaves the account as it was. Returns the error that says so, or that it failed too. */
const undo = async ({ from, to }: Move, hold: Hold, error: unknown): Promise<AppError> => {
  const why = toAppError(error).message
  try {
    await withdrawCopy(to, hold)
    await releaseAccount(from, hold, actor)
    return new AppError('SERVICE_UNAVAILABLE', { publicMessage: `the account stays where it is: ${why}`, cause: error })
  } catch (cause) {
    const publicMessage = `the account's changes, or all its requests, still get 503; repeat the command: ${why}`
    return new AppError('SERVICE_UNAVAILABLE', { publicMessage, cause })
  }
}

/** The hold of a move of which only the end is left. Throws `NOT_FOUND` or `VALIDATION_ERROR` if the account cannot be moved. */
const assertReady = async ({ from, to, id }: Move): Promise<Hold | undefined> => {
  const [here, there] = [await presenceOf(from, id), await presenceOf(to, id)]
  if (here === 'away') refuseAway(id)
  if (here === 'leaving') return there === undefined ? refuseOtherCell(id) : findDeparture(from, id)
  if (there === 'here')
    throw new AppError('VALIDATION_ERROR', { publicMessage: `the other installation has an account ${id}` })
  await assertMovable(from, to, id)
  return undefined
}

const moveAccount = async (move: Move, context: CommandContext, withinMs: number) => {
  const { from, to, id } = move
  const departed = await assertReady(move)
  if (departed) {
    await finishMove(from, to, departed, { actor })
    return { id, rows: 0, images: 0, bytes: 0, held_ms: Date.now() - departed.since.getTime() }
  }
  // Most are copied while the account is served.
  const { copied, bytes } = await copyImages(move, context)
  const hold = await holdAccount(from, id, actor)
  const heldAt = performance.now()
  const copying = copyAndFinish(move, hold, context, withinMs)
  const moved = await copying.catch(async (error: unknown) => Promise.reject(await undo(move, hold, error)))
  const held_ms = Math.round(performance.now() - heldAt)
  return { id, rows: moved.rows, images: copied + moved.images, bytes: bytes + moved.bytes, held_ms }
}

const cancel = async ({ env, print }: CommandContext, args: ParsedArgs, { id, to }: Pick<Move, 'id' | 'to'>) => {
  await withDatabase(env, args, (from) => cancelMove(from, to, id, actor), { statementMs })
  const json = { id, rows: 0, images: 0, bytes: 0, held_ms: 0 }
  print({ json, text: `account ${id} stays where it is; the other cell has no copy of it` })
}

const waitOf = (args: ParsedArgs): number => {
  const text = flagText(args, 'wait') ?? '10m'
  const ms = readDuration('wait', text)
  if (ms > settleMs) return ms
  throw new UsageError(`--wait ${text}: must be longer than ${settleMs / 1000}s`)
}

/** `account move`: moves an account to another installation behind the same router. */
export const accountMove: Command = {
  usage: 'account move ID --to PLACE [--objects-from PLACE] [--objects-to PLACE] [--wait TIME] [--cancel] [--data DIR]',
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
    cancel: { type: 'boolean', help: 'end a move that was killed or hangs: the account stays, its copy is removed' },
    data: dataFlag,
  },
  run: async (context, args) => {
    const { env } = context
    const place = requiredText(args, 'to')
    const withinMs = waitOf(args)
    const id = (args.operands[0] ?? '').toLowerCase()
    await using to = openDatabase({ url: await targetUrl(place), poolMax: 2, statementMs })
    if (args.flags['cancel'] === true) return await cancel(context, args, { id, to })
    const images = await openImages(context, args, place)
    const done = await withDatabase(env, args, (from) => moveAccount({ id, from, to, images }, context, withinMs), {
      statementMs,
    })
    const text = `account ${id} is in ${place}: ${done.rows} rows, ${done.images} images; its changes were held up for ${done.held_ms} ms`
    context.print({ json: done, text })
  },
}
