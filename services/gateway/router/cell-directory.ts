import { createHash } from 'node:crypto'
import type { Cell } from '#shared/config/settings/router.ts'
import { movingMessage } from '#shared/db/classify-error.ts'
import { AppError } from '#shared/errors/app-error.ts'
import type { Client } from '#shared/policy/client.ts'
import { clientHolders, Shares } from '#shared/policy/shares.ts'
import { setWithEviction } from '#gateway/limits/set-with-eviction.ts'
import type { Says } from './ask-cell.ts'
import type { Credential } from './credential.ts'

/** Credentials whose cell is remembered; the one that was found first is evicted. */
const knownMax = 100_000
/** For how long without asking again, and beyond that while a cell is silent. */
const knownMs = 600_000
/** Maximum of credentials for which cells are asked at a time; a client gets a share. */
const askingMax = 500
const retrySeconds = 5
/** An account is between two cells for moments: requests wait for it, unless the move was killed. */
const awayTries = 5
const awayPauseMs = 200
/** A cell that is busy is asked no more often about one credential. */
const doubtMs = 1000
/** A cell that did not answer is not waited for until then, so that others' wrong credentials do not hold up what is asked. */
const silenceMs = 1000

/** What asking all cells came to. `away`: the account is between two cells; `contradicted`: several cells proved to serve it. */
export type Outcome = 'found' | 'unknown' | 'silent' | 'away' | 'contradicted'

type Dependencies<C extends Cell> = {
  readonly cells: readonly C[]
  /** What the cell says of the credential, valid or not, and has proved. Throws if it does not say so in time. */
  readonly ask: (cell: C, credential: Credential) => Promise<Says>
  readonly events: {
    readonly located: (outcome: Outcome) => void
    readonly contradicted: (cells: readonly Cell[]) => void
    readonly silent: (cell: Cell, cause: unknown) => void
    /** The cell was silent a moment ago, and is not asked. */
    readonly notAsked: (cell: Cell) => void
  }
  readonly nowMs: () => number
  readonly wait: (ms: number) => Promise<unknown>
}

/** Secrets are not kept. */
const nameOf = ({ kind, value }: Credential) => createHash('sha256').update(`${kind} ${value}`).digest('base64')

type Found = { readonly outcome: Outcome; readonly cell?: Cell }

const unknownMessage = 'It is not known now to which account the request belongs; try again.'

/** Thrown of a credential whose account is between two cells. */
export class AccountAwayError extends AppError {
  constructor() {
    super('SERVICE_UNAVAILABLE', { publicMessage: movingMessage, retryAfterSeconds: 1 })
  }
}

/**
 * Finds the cells of credentials by asking all of them, and remembers the answers. A remembered cell is a hint: it checks the
 * credential like any other, so that a wrong one costs a refusal, and nobody has to be told of changes.
 */
export class CellDirectory<C extends Cell = Cell> {
  readonly #deps: Dependencies<C>
  readonly #known = new Map<string, { readonly cell: Cell; untilMs: number }>()
  readonly #asking = new Map<string, Promise<Found>>()
  readonly #places = new Shares(askingMax)
  readonly #silentUntil = new Map<Cell, number>()

  constructor(deps: Dependencies<C>) {
    this.#deps = deps
  }

  /**
   * Undefined: no cell knows it. Throws `SERVICE_UNAVAILABLE` if none does of those that answered, and others did not, if its account is
   * between two cells, if several claim it, or if cells are asked for too many credentials of the client, or in all.
   */
  async find(credential: Credential, client: Client): Promise<Cell | undefined> {
    const [only, ...others] = this.#deps.cells
    if (others.length === 0) return only
    const name = nameOf(credential)
    const known = this.#known.get(name)
    if (known && known.untilMs > this.#deps.nowMs()) return known.cell
    const { outcome, cell } = await this.#findAnew(name, credential, client)
    if (outcome === 'silent' && known) return known.cell
    if (outcome === 'away') throw new AccountAwayError()
    if (outcome === 'silent' || outcome === 'contradicted')
      throw new AppError('SERVICE_UNAVAILABLE', { publicMessage: unknownMessage, retryAfterSeconds: retrySeconds })
    return cell
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

  async #findAnew(name: string, credential: Credential, client: Client): Promise<Found> {
    const running = this.#asking.get(name)
    if (running) return running
    const place = this.#places.take(1, clientHolders(client))
    if (typeof place === 'string') return { outcome: 'silent' }
    const asking = this.#askUntilThere(name, credential).finally(() => {
      this.#asking.delete(name)
      place[Symbol.dispose]()
    })
    this.#asking.set(name, asking)
    return asking
  }

  async #askUntilThere(name: string, credential: Credential): Promise<Found> {
    for (let tries = 1; ; tries += 1) {
      const found = await this.#askAll(name, credential)
      if (found.outcome !== 'away' || tries === awayTries) return found
      await this.#deps.wait(awayPauseMs)
    }
  }

  /** Waits for all, so that a claim that contradicts another is not too late. */
  async #askAll(name: string, credential: Credential): Promise<Found> {
    const { cells, events, nowMs } = this.#deps
    const asked = await Promise.all(cells.map(async (cell) => ({ cell, says: await this.#ask(cell, credential) })))
    const serving = asked.filter(({ says }) => says === 'serves').map(({ cell }) => cell)
    const says = (answer: Says | 'silent') => asked.some((each) => each.says === answer)
    const [cell] = serving
    const unserved = says('away') ? 'away' : says('silent') ? 'silent' : 'unknown'
    const outcome = serving.length > 1 ? 'contradicted' : cell ? 'found' : unserved
    events.located(outcome)
    if (outcome === 'contradicted') events.contradicted(serving)
    if (outcome !== 'found' || !cell) return { outcome }
    setWithEviction(this.#known, name, { cell, untilMs: nowMs() + knownMs }, knownMax)
    return { outcome, cell }
  }

  async #ask(cell: C, credential: Credential): Promise<Says | 'silent'> {
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
      const says = await ask(cell, credential)
      this.#silentUntil.delete(cell)
      return says
    } catch (cause) {
      this.#silentUntil.set(cell, nowMs() + silenceMs)
      events.silent(cell, cause)
      return 'silent'
    }
  }
}
