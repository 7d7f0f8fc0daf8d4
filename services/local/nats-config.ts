import { type QueueUser, type QueueUserName, queueUsers } from '#shared/queue/permissions.ts'
import { maxMessageBytes } from '#shared/queue/topology.ts'

/** A password for each user. */
export type QueuePasswords = Readonly<Record<QueueUserName, string>>

const quote = (text: string) => JSON.stringify(text)
const list = (subjects: readonly string[]) => `[${subjects.map(quote).join(', ')}]`

const userText = ({ name, publish, subscribe }: QueueUser, password: string) =>
  `    { user: ${name}, password: ${quote(password)}, permissions: {
        publish: ${list(publish)}
        subscribe: ${list(subscribe)} } }`

/** The part of the configuration file that says who may do what; a server without it lets everybody do everything. */
export const usersText = (passwords: QueuePasswords): string =>
  `authorization {
  users: [
${queueUsers.map((user) => userText(user, passwords[user.name])).join('\n')}
  ]
}
`

/** The configuration file of the one machine's NATS server: loopback only, JetStream in `storeFolder`. */
export const natsConfig = (options: { port: number; storeFolder: string; passwords: QueuePasswords }): string =>
  `listen: "127.0.0.1:${options.port}"
max_payload: ${maxMessageBytes}
jetstream { store_dir: ${quote(options.storeFolder)} }
${usersText(options.passwords)}`
