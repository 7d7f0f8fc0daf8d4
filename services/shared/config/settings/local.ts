import { parseRoles, type ServiceRoles } from './database-roles.ts'
import { address, integer, parsed, text } from './setting.ts'

/** Settings of one-machine operation alone. */
export const localSettings = {
  data: text('DATA', { help: 'data folder of one-machine operation', fallback: '.shutterfleet' }),
  databases: integer('DATABASES', {
    help: 'databases over which accounts are spread: each is a whole installation, behind a router (docs/cells.md)',
    fallback: 1,
    min: 1,
    max: 4,
  }),
  plansFile: text('PLANS', {
    help: "JSON file with the table of plans; empty: the contract's plans and `unlimited`",
    fallback: '',
  }),
  databaseRoles: parsed<ServiceRoles>(
    'DATABASE_ROLES',
    {
      help: 'roles of PostgreSQL, as gateway=NAME,ledger=NAME,webhooks=NAME or some of these, that `migrate` grants what these services need, whose DATABASE_URL then names them instead of the owner of the database; empty: none',
      fallback: '',
      kind: 'SERVICE=NAME,…',
      problem:
        'must be gateway=NAME, ledger=NAME and webhooks=NAME or some of these, separated by commas, with names of at most 63 of a-z 0-9 - _',
    },
    parseRoles,
  ),
  databaseConnections: integer('DATABASE_CONNECTIONS', {
    help: 'most connections that all processes of the installation open to PostgreSQL together, during a rollout too; `migrate` and `doctor` fail where it allows fewer; 0: not checked',
    fallback: 0,
    min: 0,
    max: 1_000_000,
  }),
  externalDatabaseUrl: address('DATABASE_URL', {
    help: 'PostgreSQL to use; empty: one is started',
    fallback: '',
    schemes: ['postgres', 'postgresql'],
    secret: true,
  }),
  externalNatsUrl: address('NATS_URL', {
    help: 'NATS server to use, with a user that has all permissions, which workers use too; empty: one is started',
    fallback: '',
    schemes: ['nats', 'tls'],
    secret: true,
  }),
  postgresBin: text('POSTGRES_BIN', {
    help: 'folder with the postgres and initdb to run; empty: searched for',
    fallback: '',
  }),
  natsServer: text('NATS_SERVER', { help: 'nats-server to run; empty: searched for', fallback: '' }),
}

/** Settings that override what the command line finds in a data folder. */
export const clientSettings = {
  baseUrl: address('BASE_URL', {
    help: 'HTTP interface that the command line captures with; empty: that of the data folder',
    fallback: '',
    schemes: ['http', 'https'],
  }),
  apiKey: text('API_KEY', {
    help: 'API key that the command line captures with; empty: that of the data folder',
    fallback: '',
    secret: true,
  }),
}
