import { join, resolve } from 'node:path'
import { prefix } from '#shared/config/read-env.ts'
import { databasePasswordSettings } from '#shared/config/settings/outside.ts'
import { programPath, type Programs } from '#shared/process/program-path.ts'
import { readPrivate, writePrivate } from './data-folder.ts'
import { startNodeProcess } from './node-process.ts'
import { chosenBy, type Facts, machineEnv } from './service-env.ts'

/** The account that `up` creates at the first start, and its API key. */
export type FirstAccount = { readonly accountId: string; readonly apiKey: string }

/** What is found or created in the database; the token is that of a link which signs in to the account's console, once. */
export type AnnouncedAccount = FirstAccount & { readonly signInToken: string }

/** `isNew`: this start has created the account. */
export type PreparedAccount = AnnouncedAccount & { readonly isNew: boolean }

/**
 * Migrates the database, loads the plans, finds or creates the first account, and creates a sign-in link, in a separate process.
 */
export const prepareDatabase = async (
  facts: Facts,
  programs: Programs,
  signal: AbortSignal,
): Promise<PreparedAccount> => {
  const { folder, settings } = facts
  const stored = await readPrivate<FirstAccount>(folder.account)
  const { child, addresses } = await startNodeProcess(
    {
      name: 'the preparation of the database',
      main: programPath('local/main-prepare', programs),
      logPath: join(folder.logs, 'prepare.log'),
      env: {
        ...machineEnv(facts.operator),
        ...chosenBy(facts.operator, databasePasswordSettings),
        [`${prefix}DATABASE_URL`]: facts.directUrl,
        [`${prefix}KEY_PEPPER`]: facts.secrets.keyPepper,
        [`${prefix}API_KEY`]: stored?.apiKey ?? '',
        [`${prefix}PLANS`]: settings.plansFile && resolve(settings.plansFile),
      },
    },
    signal,
  )
  const account = addresses as AnnouncedAccount
  const { accountId, apiKey } = account
  await writePrivate(folder.account, { accountId, apiKey } satisfies FirstAccount)
  await child.exited
  return { ...account, isNew: apiKey !== stored?.apiKey }
}
