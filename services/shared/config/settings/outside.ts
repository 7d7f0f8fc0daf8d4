import { address, integer, oneOf, type Parsed, requiredAddress, text } from './setting.ts'

/** Connections to PostgreSQL. */
export const databaseSettings = {
  databaseUrl: requiredAddress('DATABASE_URL', {
    help: 'PostgreSQL to use, with user, password and database',
    schemes: ['postgres', 'postgresql'],
    secret: true,
  }),
  databaseDirectUrl: address('DATABASE_DIRECT_URL', {
    help: 'PostgreSQL itself, if DATABASE_URL is a transaction pooler such as PgBouncer: LISTEN, migrations and the command line connect to it; empty: there is no pooler',
    fallback: '',
    schemes: ['postgres', 'postgresql'],
    secret: true,
  }),
  databasePoolMax: integer('DATABASE_POOL_MAX', {
    help: 'most connections that one process opens to PostgreSQL',
    fallback: 10,
    min: 1,
    max: 200,
  }),
}

/** Splits a value at the commas between addresses, not at those within a password. */
export const splitNatsUrl = (value: string): string[] => value.split(/,(?=(?:nats|tls):\/\/)/)

const natsUrl = requiredAddress('NATS_URL', {
  help: 'NATS server to use, with the user and password of this service; for a cluster several, separated by commas, with the same credentials',
  schemes: ['nats', 'tls'],
  secret: true,
})

/** The connection to NATS. */
export const queueSettings = {
  natsUrl: {
    ...natsUrl,
    parse: (value: string): Parsed<string> => {
      const urls = splitNatsUrl(value).map(natsUrl.parse)
      const fault = urls.find(({ ok }) => !ok)
      return fault ?? { ok: true, value: urls.flatMap((each) => (each.ok ? [each.value] : [])).join(',') }
    },
  },
}

/** Where images are stored. */
export const storageSettings = {
  storageDriver: oneOf('STORAGE_DRIVER', {
    help: 'where images are stored: an S3-compatible store, or files on this machine',
    fallback: 's3',
    values: ['s3', 'files'],
  }),
  storageFolder: text('STORAGE_FOLDER', { help: 'folder of the files driver', fallback: '' }),
  storageFilesUrl: address('STORAGE_FILES_URL', {
    help: "address under which the gateway's object endpoint is reached by workers (files driver)",
    fallback: '',
    schemes: ['http', 'https'],
  }),
  storageSigningKey: text('STORAGE_SIGNING_KEY', {
    help: 'secret that signs the addresses of the files driver, 32 bytes as base64',
    fallback: '',
    secret: true,
  }),
  s3Url: address('S3_URL', {
    help: 'S3-compatible store with access key, secret key and bucket: https://KEY:SECRET@host:port/bucket?region=us-east-1',
    fallback: '',
    schemes: ['http', 'https'],
    secret: true,
  }),
}

/** Certificate authorities trusted in addition to the system's. */
export const trustSettings = {
  extraCa: text('EXTRA_CA', {
    help: "file of PEM certificates that webhook delivery and pages trust in addition to the system's; pages need certutil (package libnss3-tools); empty: none",
    fallback: '',
  }),
}
