import { createAccount, listAccounts, orderErasure, setDisabled, setPlan, showAccount } from '#shared/db/accounts.ts'
import { targetStoreIn } from '#shared/db/account-targets.ts'
import { onlyRow } from '#shared/db/connection.ts'
import { component, count, flag, list, object, optional, orNull } from '#shared/schema/fields.ts'
import { withUsage } from '#gateway/db/describe-usage.ts'
import { targetFields, targetLists } from '#gateway/records/account.ts'
import { adminRoute, type AdminRoute } from './admin-route.ts'
import { pageQuery, storedLine } from './read-fields.ts'
import { accountId, queued, time, timeOrNull, words } from './records.ts'

const newFields = {
  name: storedLine(1, 200, 'Name of the account.', 'Acme'),
  email: storedLine(1, 320, 'Email address of the owner.', 'platform@example.com'),
  plan: storedLine(1, 40, 'Slug of a plan in force.', 'pro'),
}

const fields = {
  id: accountId,
  name: words('Name of the account.', 'Acme'),
  email: words('Email address of the owner.', 'platform@example.com'),
  plan: words('Slug of its plan.', 'pro'),
  created_at: time('Time of creation.'),
  disabled_at: timeOrNull('When the account was disabled, which makes its keys invalid; null if it is enabled.'),
  erasing_at: timeOrNull('When its erasure was ordered; null if it was not.'),
  moving_at: timeOrNull('Since when it is being moved to another installation, or was; null if it is not.'),
}
const account = component('Account', fields)
const accountInUse = component('AccountInUse', {
  ...fields,
  usage: object({
    screenshots_used: count('Screenshots charged in this month, including those that have not ended.', {
      example: 1204,
    }),
    screenshots_limit: orNull(count('Monthly quota of screenshots; null if unlimited.', { example: 15_000 })),
  }),
  queue: object(queued),
})
const answer = { name: 'AccountAnswer', description: 'The account.', data: account }
const targetsAnswer = { name: 'TargetListsAnswer', description: 'Both lists.', data: targetLists }
const tag = 'Accounts'

/** Accounts: create, list, show, change plan, disable and enable, erase. */
export const accountRoutes: readonly AdminRoute[] = [
  adminRoute({
    name: 'create_account',
    method: 'POST',
    path: '/accounts',
    tag,
    summary: 'Create an account',
    description: 'Creates an account on a plan in force.',
    body: {
      name: 'AccountFields',
      schema: object(newFields),
      example: { name: 'Acme', email: 'platform@example.com', plan: 'pro' },
    },
    answer,
    run: ({ database }, { actor, body }) => createAccount(database, body, actor),
  }),
  adminRoute({
    name: 'list_accounts',
    method: 'GET',
    path: '/accounts',
    tag,
    summary: 'List accounts',
    description: 'Lists accounts, the oldest first, with their usage of this month and their captures in the queue.',
    query: pageQuery({ search: storedLine(1, 320, 'Part of a name or email, or an id.', 'acme') }),
    answer: {
      name: 'AccountList',
      description: 'The accounts.',
      data: list(accountInUse, 1000, 'At most `limit` accounts.'),
    },
    errors: ['NOT_FOUND'],
    run: async ({ database }, { query }) => withUsage(database, await listAccounts(database, query)),
  }),
  adminRoute({
    name: 'show_account',
    method: 'GET',
    path: '/accounts/:id',
    tag,
    summary: 'Get an account',
    description: 'Returns an account with its usage of this month and its captures in the queue.',
    answer: { name: 'AccountInUseAnswer', description: 'The account.', data: accountInUse },
    run: async ({ database }, { id }) => onlyRow(await withUsage(database, [await showAccount(database, id)])),
  }),
  adminRoute({
    name: 'change_account',
    method: 'PATCH',
    path: '/accounts/:id',
    tag,
    summary: 'Change an account',
    description: 'Changes the plan; disables or enables the account. Both take effect at once on every replica.',
    body: {
      name: 'AccountChange',
      schema: object(
        optional({ plan: newFields.plan, disabled: flag('Whether its keys are refused.', { example: true }) }),
      ),
      example: { plan: 'pro' },
    },
    answer,
    run: async ({ database }, { actor, id, body: { plan, disabled } }) => {
      if (plan !== undefined) await setPlan(database, id, plan, actor)
      if (disabled !== undefined) await setDisabled(database, id, disabled, actor)
      return await showAccount(database, id)
    },
  }),
  adminRoute({
    name: 'show_targets',
    method: 'GET',
    path: '/accounts/:id/targets',
    tag,
    summary: "Get an account's lists of targets",
    description: 'Returns which targets captures of the account may and may not reach.',
    answer: targetsAnswer,
    run: async ({ database }, { id }) => targetStoreIn(database).read(id),
  }),
  adminRoute({
    name: 'replace_targets',
    method: 'PUT',
    path: '/accounts/:id/targets',
    tag,
    summary: "Replace an account's lists of targets",
    description: 'Replaces both lists, for captures that are accepted from then on. Returns their normal form.',
    body: {
      name: 'TargetListsFields',
      schema: object(targetFields),
      example: { allow: [], deny: ['*.ads.example'] },
    },
    answer: targetsAnswer,
    run: async ({ database }, { actor, id, body }) => targetStoreIn(database).replace(id, body, actor),
  }),
  adminRoute({
    name: 'erase_account',
    method: 'DELETE',
    path: '/accounts/:id',
    tag,
    summary: 'Erase an account',
    description:
      'Disables the account and orders its erasure with keys, captures, images and counts. Once nothing but the audit log names it, reading it returns 404.',
    answer,
    run: ({ database }, { actor, id }) => orderErasure(database, id, actor),
  }),
]
