import {
  accountToJson,
  createAccount,
  listAccounts,
  orderErasure,
  setDisabled,
  setPlan,
  showAccount,
} from '#shared/db/accounts.ts'
import { readTargets, setTargets } from '#shared/db/account-targets.ts'
import { onlyRow } from '#shared/db/connection.ts'
import { flag, optional } from '#shared/schema/fields.ts'
import { withUsage } from '#gateway/db/describe-usage.ts'
import { targetFields } from '#gateway/records/account.ts'
import type { AdminRoute } from './admin-route.ts'
import { fieldsReader, pageReader, storedLine } from './read-fields.ts'

const label = (characters: number) => storedLine(1, characters)

const readNew = fieldsReader({ name: label(200), email: label(320), plan: label(40) })
const readAccountsPage = pageReader({ search: storedLine(1, 320) })
const readLists = fieldsReader(targetFields)
const readChange = fieldsReader(optional({ plan: label(40), disabled: flag() }))

/** Accounts: create, list, show, change plan, disable and enable, erase. */
export const accountRoutes: readonly AdminRoute[] = [
  {
    method: 'POST',
    path: '/accounts',
    run: async ({ database }, { actor, readJson }) =>
      accountToJson(await createAccount(database, readNew(await readJson()), actor)),
  },
  {
    method: 'GET',
    path: '/accounts',
    run: async ({ database }, { query }) =>
      withUsage(database, (await listAccounts(database, readAccountsPage(query))).map(accountToJson)),
  },
  {
    method: 'GET',
    path: '/accounts/:id',
    run: async ({ database }, { id }) =>
      onlyRow(await withUsage(database, [accountToJson(await showAccount(database, id))])),
  },
  {
    method: 'PATCH',
    path: '/accounts/:id',
    run: async ({ database }, { actor, id, readJson }) => {
      const { plan, disabled } = readChange(await readJson())
      if (plan !== undefined) await setPlan(database, id, plan, actor)
      if (disabled !== undefined) await setDisabled(database, id, disabled, actor)
      return accountToJson(await showAccount(database, id))
    },
  },
  {
    method: 'GET',
    path: '/accounts/:id/targets',
    run: ({ database }, { id }) => readTargets(database, id),
  },
  {
    method: 'PUT',
    path: '/accounts/:id/targets',
    run: async ({ database }, { actor, id, readJson }) => setTargets(database, id, readLists(await readJson()), actor),
  },
  {
    method: 'DELETE',
    path: '/accounts/:id',
    run: async ({ database }, { actor, id }) => accountToJson(await orderErasure(database, id, actor)),
  },
]
