import { nkeys } from '@nats-io/transport-node'
import {
  type PoolAccount,
  poolAccounts,
  type QueueUser,
  type QueueUserName,
  queueUsers,
  serviceUsers,
} from '#shared/queue/permissions.ts'

type KeyPair = ReturnType<typeof nkeys.createAccount>
type Claims = { readonly sub: string; readonly name: string; readonly exp?: number; readonly nats: object }

const base64 = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')

/** A token in the format of NATS: signed by the key pair of an operator or an account. */
const signToken = (issuer: KeyPair, claims: Claims): string => {
  const iat = Math.floor(Date.now() / 1000)
  const body = { jti: `${claims.name}-${iat}`, iat, iss: issuer.getPublicKey(), ...claims }
  const signed = `${base64({ typ: 'JWT', alg: 'ed25519-nkey' })}.${base64(body)}`
  return `${signed}.${Buffer.from(issuer.sign(Buffer.from(signed))).toString('base64url')}`
}

const unlimited = { subs: -1, data: -1, payload: -1 }
const accountLimits = { ...unlimited, imports: -1, exports: -1, wildcards: true, conn: -1, leaf: -1 }
const storage = { mem_storage: -1, disk_storage: -1, streams: -1, consumer: -1 }

const accountClaims = (parts: object, limits: object = accountLimits) => ({
  type: 'account',
  version: 2,
  limits,
  ...parts,
})

/** What the services' account exports, and a pool's account imports: subjects with their kind. */
const shares = ({ pulls, publishes, subscribes }: PoolAccount) => [
  ...pulls.map((subject) => ({ subject, type: 'service', response_type: 'Stream' })),
  ...publishes.map((subject) => ({ subject, type: 'service', response_type: 'Singleton' })),
  ...subscribes.map((subject) => ({ subject, type: 'stream' })),
]

const userClaims = ({ publish, subscribe, responds }: QueueUser) => ({
  type: 'user',
  version: 2,
  ...unlimited,
  pub: { allow: publish },
  sub: { allow: subscribe },
  ...(responds && { resp: { max: 1, ttl: 0 } }),
})

/**
 * An operator of NATS with the accounts of `permissions.ts`: the server's configuration, and a file of credentials for each user,
 * issued anew by each call.
 */
export const createNatsOperator = () => {
  const operator = nkeys.createOperator()
  const [system, services] = [nkeys.createAccount(), nkeys.createAccount()]
  const pools = new Map(poolAccounts.map((account) => [account, nkeys.createAccount()]))
  const publicServices = services.getPublicKey()
  const tokens = new Map<KeyPair, string>()
  const issue = (account: KeyPair, name: string, nats: object) =>
    tokens.set(account, signToken(operator, { sub: account.getPublicKey(), name, nats }))
  issue(system, 'SYS', accountClaims({}))
  const exported = poolAccounts.flatMap(shares).map((share) => ({ name: share.subject, ...share }))
  issue(services, 'SERVICES', accountClaims({ exports: exported }, { ...accountLimits, ...storage }))
  for (const [account, pair] of pools) {
    const imports = shares(account).map(({ subject, type }) => ({
      name: subject,
      subject,
      type,
      account: publicServices,
    }))
    issue(pair, account.name, accountClaims({ imports }))
  }
  const preload = [...tokens].map(([pair, token]) => `${pair.getPublicKey()}: "${token}"`)
  const operatorToken = signToken(operator, {
    sub: operator.getPublicKey(),
    name: 'operator',
    nats: { type: 'operator', version: 2, system_account: system.getPublicKey() },
  })
  const accountOf = (user: QueueUser) =>
    serviceUsers.includes(user) ? services : [...pools].find(([account]) => account.user === user)?.[1]
  return {
    config: `operator: "${operatorToken}"\nresolver: MEMORY\nresolver_preload {\n${preload.join('\n')}\n}`,
    /** A new user's file of credentials; valid for `seconds`, if given. */
    credentials: (name: QueueUserName, seconds?: number): string => {
      const user = queueUsers.find((each) => each.name === name)!
      const pair = nkeys.createUser()
      const exp = seconds === undefined ? {} : { exp: Math.floor(Date.now() / 1000) + seconds }
      const token = signToken(accountOf(user)!, { sub: pair.getPublicKey(), name, ...exp, nats: userClaims(user) })
      const part = (title: string, text: string) => `-----BEGIN ${title}-----\n${text}\n------END ${title}------\n`
      return part('NATS USER JWT', token) + part('USER NKEY SEED', Buffer.from(pair.getSeed()).toString())
    },
  }
}
