import { readPrivate } from './data-folder.ts'

/** Addresses and processes of `up`, for other programs of its user, in `<data>/local.json`. */
export type LocalFile = {
  readonly base_url: string
  readonly api_key: string
  readonly account_id: string
  /** PostgreSQL itself, past a pooler. */
  readonly database_url: string
  /** With the user that may do everything, where the NATS server is our own. */
  readonly nats_url: string
  /** `file:` address of the folder, or the address of the S3-compatible store. */
  readonly object_store: string
  readonly services: readonly LocalProcess[]
}

/** One process of the system. PostgreSQL and NATS have no addresses to ask. */
export type LocalProcess = {
  readonly name: string
  readonly pid: number
  readonly metrics_url: string | null
  readonly health_url: string | null
}

/** Reads `<data>/local.json`; undefined where nothing runs on this data folder. */
export const readLocalFile = (path: string): Promise<LocalFile | undefined> => readPrivate<LocalFile>(path)
