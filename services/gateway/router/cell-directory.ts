import { createHash } from 'node:crypto'
import type { Cell } from '#shared/config/settings/router.ts'
import { AppError } from '#shared/errors/app-error.ts'
import { setWithEviction } from '#gateway/limits/set-with-eviction.ts'
import type { Credential } from './credential.ts'

/** Credentials whose cell is remembered; the one that was found first is evicted. */
const knownMax = 100_000
/** For how long without asking again, and beyond that while a cell is silent. */
const knownMs = 600_000
/** Maximum of credentials for which cells are asked at a time. */
const askingMax = 500
const retrySeconds = 5
/** A cell that is busy is asked no more often about one credential. */
const doubtMs = 1000
/** A cell that did not answer is not waited for until then, so that others' wrong credentials do not hold up what is asked. */
const silenceMs = 1000

type Dependencies = {
  readonly cells: readonly Cell[]
  /** Whether the cell knows the credential, valid or not. Throws if it does not say so in time. */
  readonly ask: (cell: Cell, credential: Credential) => Promise<boolean>
  readonly events: {
    readonly located: (outcome: 'found' | 'unknown' | 'silent') => void
    readonly silent: (cell: Cell, cause: unknown) => void
    /** The cell was silent a moment ago, and is not asked. */
    readonly notAsked: (cell: Cell) => void
  }
  readonly nowMs: () => number
}

/** Secrets are not kept. A link that somebody has changed is another one. */
const nameOf = ({ kind, value, query = '' }: Credential) =>
  createHash('sha256').update(`${kind} ${value} ${query}`).digest('base64')

/**
 * Finds the cells of credentials by asking all of them, and remembers the answers. A remembered cell is a hint: it checks the
 * credential like any other, so that a wrong one costs a refusal, and nobody has to be told of changes.
 */
export class CellDirectory {
  readonly #deps: Dependencies
  readonly #known = new Map<string, { readonly cell: Cell; untilMs: number }>()
  readonly #asking = new Map<string, Promise<Cell | undefined>>()
  readonly #silentUntil = new Map<Cell, number>()

  constructor(deps: Dependencies) {
    this.#deps = deps
  }

  /** Undefined: no cell knows it. Throws `SERVICE_UNAVAILABLE` if none does of those that answered, and others did not. */
  async find(credential: Credential): Promise<Cell | undefined> {
    const [only, ...others] = this.#deps.cells
    if (others.length === 0) return only
    const name = nameOf(credential)
    const known = this.#known.get(name)
    if (known && known.untilMs > this.#deps.nowMs()) return known.cell
    try {
      return await this.#findAnew(name, credential)
    } catch (error) {
      if (!known) throw error
      return known.cell
    }
  }

  /** The next request with this credential asks again: its cell has refused it. */
  forget(credential: Credential): void {
    this.#known.delete(nameOf(credential))
  }

  /** As `forget`, but a second later, and the cell is remembered while another one is silent: it may only be busy. */
  doubt(credential: Credential): void {
    const known = this.#known.get(nameOf(credential))
    if (known) known.untilMs = Math.min(known.untilMs, this.#deps.nowMs() + doubtMs)
  }

  #findAnew(name: string, credential: Credential): Promise<Cell | undefined> {
    const running = this.#asking.get(name)
    if (running) return running
    if (this.#asking.size >= askingMax) throw new AppError('SERVICE_UNAVAILABLE', { retryAfterSeconds: retrySeconds })
    const asking = this.#askAll(name, credential).finally(() => this.#asking.delete(name))
    this.#asking.set(name, asking)
    return asking
  }

  async #askAll(name: string, credential: Credential): Promise<Cell | undefined> {
    const { cells, events, nowMs } = this.#deps
    let silent = 0
    const asked = cells.map(async (cell) => {
      const says = await this.#ask(cell, credential)
      if (says === 'knows') return cell
      if (says === 'silent') silent += 1
      throw new Error('not its credential')
    })
    const cell = await Promise.any(asked).catch(() => undefined)
    events.located(cell ? 'found' : silent > 0 ? 'silent' : 'unknown')
    if (cell) setWithEviction(this.#known, name, { cell, untilMs: nowMs() + knownMs }, knownMax)
    else if (silent > 0) {
      const publicMessage = 'It is not known now to which account the request belongs; try again.'
      throw new AppError('SERVICE_UNAVAILABLE', { publicMessage, retryAfterSeconds: retrySeconds })
    }
    return cell
  }

  async #ask(cell: Cell, credential: Credential): Promise<'knows' | 'knows not' | 'silent'> {
    const { ask, events, nowMs } = this.#deps
    const silentUntil = this.#silentUntil.get(cell)
    if (silentUntil !== undefined) {
      if (silentUntil > nowMs()) {
        events.notAsked(cell)
        return 'silent'
      }
      // One question tries; others do not wait for it.
      this.#silentUntil.set(cell, nowMs() + silenceMs)
    }
    try {
      const isKnown = await ask(cell, credential)
      this.#silentUntil.delete(cell)
      return isKnown ? 'knows' : 'knows not'
    } catch (cause) {
      this.#silentUntil.set(cell, nowMs() + silenceMs)
      events.silent(cell, cause)
      return 'silent'
    }
  }
}
