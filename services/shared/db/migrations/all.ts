import { CreateTables } from './0001-create-tables.ts'

/** Every migration in order, under the name by which a database remembers it. */
export const migrations = [{ name: '0001-create-tables', class: CreateTables }] as const
