import { Type } from 'typebox'
import {
  type AccountView,
  createAccount,
  listAccounts,
  setDisabled,
  setPlan,
  showAccount,
} from '#shared/db/accounts.ts'
import { eraseAccount } from '#gateway/db/erase-account.ts'
import type { AdminRoute } from './admin-route.ts'
import { fieldsReader, line, optionalFieldsReader, readPage } from './read-fields.ts'

const label = (characters: number) => line(1, characters)

const readNew = fieldsReader({ name: label(200), email: label(320), plan: label(40) })
const readChange = optionalFieldsReader({ plan: label(40), disabled: Type.Boolean({ description: 'true or false' }) })

const toJson = ({ createdAt, disabledAt, ...account }: AccountView) => ({
  ...account,
  created_at: createdAt,
  disabled_at: disabledAt,
})

/** Accounts: create, list, show, change plan, disable and enable, erase. */
export const accountRoutes: readonly AdminRoute[] = [
  {
    method: 'POST',
    path: '/accounts',
    run: async ({ database }, { actor, readJson }) => {
      const account = await createAccount(database, readNew(await readJson()), actor)
      return { status: 200, body: { data: toJson(account) } }
    },
  },
  {
    method: 'GET',
    path: '/accounts',
    run: async ({ database }, { query }) => {
      const accounts = await listAccounts(database, readPage(query))
      return { status: 200, body: { data: accounts.map(toJson) } }
    },
  },
  {
    method: 'GET',
    path: '/accounts/:id',
    run: async ({ database }, { params }) => {
      const account = await showAccount(database, params['id'] ?? '')
      return { status: 200, body: { data: toJson(account) } }
    },
  },
  {
    method: 'PATCH',
    path: '/accounts/:id',
    run: async ({ database }, { actor, params, readJson }) => {
      const { plan, disabled } = readChange(await readJson())
      const id = params['id'] ?? ''
      if (plan !== undefined) await setPlan(database, id, plan, actor)
      if (disabled !== undefined) await setDisabled(database, id, disabled, actor)
      return { status: 200, body: { data: toJson(await showAccount(database, id)) } }
    },
  },
  {
    method: 'DELETE',
    path: '/accounts/:id',
    run: async ({ database }, { actor, params }) => {
      await eraseAccount(database, params['id'] ?? '', actor)
      return { status: 204 }
    },
  },
]
