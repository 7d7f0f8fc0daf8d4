import { readPrivate } from './data-folder.ts'

/** `<data>/local.json`: addresses and processes of `up`, for other programs of the same user. */
export type LocalFile = {
  readonly base_url: string
  /** Address of the gateway for people and other machines; `base_url` unless the operator set one. */
  readonly public_url: string
  readonly api_key: string
  readonly account_id: string
  /** PostgreSQL itself, not a pooler. */
  readonly database_url: string
  /** As the user `operator`, which has all permissions, unless the server is external. */
  readonly nats_url: string
  /** `file:` URL of the folder, or URL of the S3-compatible store. */
  readonly object_store: string
  readonly services: readonly LocalProcess[]
}

/** One process of the system. The URLs of PostgreSQL and NATS are null. */
export type LocalProcess = {
  readonly name: string
  readonly pid: number
  readonly metrics_url: string | null
  readonly health_url: string | null
}

/** Reads `<data>/local.json`; undefined if no installation is running in the data folder. */
export const readLocalFile = (path: string): Promise<LocalFile | undefined> => readPrivate<LocalFile>(path)
