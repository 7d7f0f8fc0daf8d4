import { address, integer, oneOf, type Parsed, requiredAddress, text } from '#shared/config/setting.ts'

/** Where PostgreSQL is. */
export const databaseSettings = {
  databaseUrl: requiredAddress('DATABASE_URL', {
    help: 'PostgreSQL to use, with user, password and database',
    schemes: ['postgres', 'postgresql'],
    secret: true,
  }),
  databaseDirectUrl: address('DATABASE_DIRECT_URL', {
    help: 'PostgreSQL itself, where DATABASE_URL is a pooler of transactions such as PgBouncer: LISTEN, migrations and the command line go there; empty: there is no pooler',
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

/** The addresses that one value names. A comma within a password is none between addresses. */
export const splitNatsUrl = (value: string): string[] => value.split(/,(?=(?:nats|tls):\/\/)/)

const natsUrl = requiredAddress('NATS_URL', {
  help: 'NATS server to use, with the user and password of this service; of a cluster several, separated by commas, which have the same',
  schemes: ['nats', 'tls'],
  secret: true,
})

/** Where NATS is. */
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

/** Whom the service trusts beside those that the system does. */
export const trustSettings = {
  extraCa: text('EXTRA_CA', {
    help: "file of PEM certificates that webhook delivery and pages trust beside the system's; for pages it takes certutil (package libnss3-tools); empty: none",
    fallback: '',
  }),
}
