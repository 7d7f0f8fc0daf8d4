import { CreateTables } from './0001-create-tables.ts'
import { Administer } from './0006-administer.ts'
import { ServeBatchesAndReplays } from './0002-serve-batches-and-replays.ts'

/** Every migration in order, under the name by which a database remembers it. */
export const migrations = [
  { name: '0001-create-tables', class: CreateTables },
  { name: '0002-serve-batches-and-replays', class: ServeBatchesAndReplays },
  { name: '0006-administer', class: Administer },
] as const
