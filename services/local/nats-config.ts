import {
  type PoolAccount,
  poolAccounts,
  type QueueUser,
  type QueueUserName,
  servicesAccount,
  serviceUsers,
} from '#shared/queue/permissions.ts'
import { maxMessageBytes } from '#shared/queue/topology.ts'

/** A password for each user. */
export type QueuePasswords = Readonly<Record<QueueUserName, string>>

const quote = (text: string) => JSON.stringify(text)
const list = (subjects: readonly string[]) => `[${subjects.map(quote).join(', ')}]`
const lines = (texts: readonly string[]) => texts.map((text) => `      ${text}\n`).join('')

const userText = ({ name, publish, subscribe, responds = false }: QueueUser, passwords: QueuePasswords) =>
  `{ user: ${name}, password: ${quote(passwords[name])}, permissions: {
        publish: ${list(publish)}
        subscribe: ${list(subscribe)}${responds ? '\n        allow_responses: true' : ''} } }`

/** The services' exports to one pool's account only. */
const exportTexts = ({ name, pulls, publishes, subscribes }: PoolAccount) => [
  ...pulls.map((subject) => `{ service: ${quote(subject)}, response_type: stream, accounts: [${name}] }`),
  ...publishes.map((subject) => `{ service: ${quote(subject)}, accounts: [${name}] }`),
  ...subscribes.map((subject) => `{ stream: ${quote(subject)}, accounts: [${name}] }`),
]

const importTexts = ({ pulls, publishes, subscribes }: PoolAccount) => {
  const from = (subject: string) => `{ account: ${servicesAccount}, subject: ${quote(subject)} }`
  return [
    ...[...pulls, ...publishes].map((subject) => `{ service: ${from(subject)} }`),
    ...subscribes.map((subject) => `{ stream: ${from(subject)} }`),
  ]
}

const servicesText = (passwords: QueuePasswords) => `  ${servicesAccount} {
    jetstream: enabled
    users: [
${lines(serviceUsers.map((user) => userText(user, passwords)))}    ]
    exports: [
${lines(poolAccounts.flatMap(exportTexts))}    ]
  }
`

const poolText = (account: PoolAccount, passwords: QueuePasswords) => `  ${account.name} {
    users: [
${lines([userText(account.user, passwords)])}    ]
    imports: [
${lines(importTexts(account))}    ]
  }
`

/** Accounts and permissions; without this section a server allows every client everything. */
export const accountsText = (passwords: QueuePasswords): string =>
  `accounts {
${servicesText(passwords)}${poolAccounts.map((account) => poolText(account, passwords)).join('')}}
`

/**
 * The configuration of a NATS server of ours. `http` serves its health. By default it would refuse streams that are larger
 * than 75 % of the space that is free at its start, which they rarely fill.
 */
export const natsConfig = (
  to: { readonly listen: string; readonly http: string; readonly storeFolder: string },
  passwords: QueuePasswords,
): string =>
  `listen: ${quote(to.listen)}
http: ${quote(to.http)}
max_payload: ${maxMessageBytes}
jetstream { store_dir: ${quote(to.storeFolder)}, max_file_store: 2TB }
${accountsText(passwords)}`
