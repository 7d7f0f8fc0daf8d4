import type { Sql } from '#shared/db/connection.ts'

/** A database whose rows a test makes up, of whatever type the statement's caller expects. */
export const createSqlDouble = (
  answer: (text: string, parameters: readonly unknown[]) => Promise<readonly object[]>,
): Sql => ({
  query: async <Row extends object>(text: string, parameters: readonly unknown[] = []) =>
    (await answer(text, parameters)) as Row[],
})
