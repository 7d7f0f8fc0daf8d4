import { address, integer, list, oneOf, type Parsed, requiredAddress, text } from './setting.ts'

/** The password of PostgreSQL, if its address contains none. */
export const databasePasswordSettings = {
  databasePasswordFile: text('DATABASE_PASSWORD_FILE', {
    help: 'file with the password of PostgreSQL, for addresses without one; each new connection reads it; empty: none',
    fallback: '',
  }),
  databasePasswordCommand: list('DATABASE_PASSWORD_COMMAND', {
    help: 'program and its arguments, separated by commas, that print the password (a token of RDS IAM, for example), for addresses without one; run without a shell and without the variables SHUTTERFLEET_*, for 4 s at most; what it prints is used for a minute; empty: none',
    fallback: '',
  }),
}

/** Connections to PostgreSQL. */
export const databaseSettings = {
  databaseUrl: requiredAddress('DATABASE_URL', {
    help: 'PostgreSQL to use, with user, password and database; sslmode=verify-full, sslrootcert, sslcert and sslkey as parameters name files that each new connection reads',
    schemes: ['postgres', 'postgresql'],
    secret: true,
  }),
  databaseDirectUrl: address('DATABASE_DIRECT_URL', {
    help: 'PostgreSQL itself, if DATABASE_URL is a transaction pooler such as PgBouncer: LISTEN, migrations and the command line connect to it; empty: there is no pooler',
    fallback: '',
    schemes: ['postgres', 'postgresql'],
    secret: true,
  }),
  ...databasePasswordSettings,
  databasePoolMax: integer('DATABASE_POOL_MAX', {
    help: 'most connections that one process opens to each address of PostgreSQL',
    fallback: 10,
    min: 1,
    max: 200,
  }),
}

/** Splits a value at the commas between addresses, not at those within a password. */
export const splitNatsUrl = (value: string): string[] => value.split(/,(?=(?:nats|tls):\/\/)/)

const natsUrl = requiredAddress('NATS_URL', {
  help: 'NATS server to use, with the user and password of this service unless it identifies itself by a file; for a cluster several, separated by commas, with the same credentials',
  schemes: ['nats', 'tls'],
  secret: true,
})

/** How a process identifies itself to NATS, if not by a user and password in the address. Each connection reads the files. */
export const queueIdentitySettings = {
  natsCredentialsFile: text('NATS_CREDENTIALS_FILE', {
    help: 'file of credentials (JWT and seed, as `nsc generate creds` prints them) of this service; each connection reads it; empty: none',
    fallback: '',
  }),
  natsNkeyFile: text('NATS_NKEY_FILE', {
    help: 'file with the nkey seed of this service; each connection reads it; empty: none',
    fallback: '',
  }),
  natsCertificateFile: text('NATS_CERTIFICATE_FILE', {
    help: 'file with the TLS certificate (PEM) of this service, for a server with `verify`; each connection reads it; empty: none',
    fallback: '',
  }),
  natsKeyFile: text('NATS_KEY_FILE', {
    help: 'file with the private key (PEM) of NATS_CERTIFICATE_FILE',
    fallback: '',
  }),
  natsCaFile: text('NATS_CA_FILE', {
    help: 'file with the certificates (PEM) of the authorities of NATS, instead of those that the process trusts; each connection reads it; empty: none',
    fallback: '',
  }),
}

/** The connection to NATS. */
export const queueSettings = {
  ...queueIdentitySettings,
  natsUrl: {
    ...natsUrl,
    parse: (value: string): Parsed<string> => {
      const urls = splitNatsUrl(value).map(natsUrl.parse)
      const fault = urls.find(({ ok }) => !ok)
      return fault ?? { ok: true, value: urls.flatMap((each) => (each.ok ? [each.value] : [])).join(',') }
    },
  },
}

/** Where the keys of an S3-compatible store may come from. */
const s3KeySources = ['url', 'file', 'web-identity', 'container', 'instance'] as const

/** The keys of an S3-compatible store. */
export const s3KeySettings = {
  s3KeysFrom: oneOf('S3_KEYS_FROM', {
    help: 'where the keys of the store come from: its address; a file that may change; a role assumed with the token of a service account (AWS IRSA, MinIO); the credentials endpoint of the pod (EKS Pod Identity); the metadata service of the machine. Keys that expire are renewed halfway',
    fallback: 'url',
    values: s3KeySources,
  }),
  s3KeysFile: text('S3_KEYS_FILE', {
    help: 'file with the keys if S3_KEYS_FROM is `file`: profile `[default]` with aws_access_key_id, aws_secret_access_key and possibly aws_session_token; read again every second in which keys are used',
    fallback: '',
  }),
  s3TokenFile: text('S3_TOKEN_FILE', {
    help: 'file with the token of the service account that `web-identity` and `container` send; each renewal reads it',
    fallback: '',
  }),
  s3RoleArn: text('S3_ROLE_ARN', { help: 'role that `web-identity` assumes, as its ARN', fallback: '' }),
  s3KeysUrl: address('S3_KEYS_URL', {
    help: 'where keys are requested, https:// unless the address is loopback or link-local; empty: https://sts.REGION.amazonaws.com with `web-identity`, http://169.254.170.23/v1/credentials with `container`, http://169.254.169.254 with `instance`',
    fallback: '',
    schemes: ['http', 'https'],
  }),
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
    help: 'S3-compatible store with access key, secret key and bucket: https://KEY:SECRET@host:port/bucket?region=us-east-1; without KEY:SECRET@ unless S3_KEYS_FROM is `url`',
    fallback: '',
    schemes: ['http', 'https'],
    secret: true,
  }),
  ...s3KeySettings,
}

/** Certificate authorities trusted in addition to the system's. */
export const trustSettings = {
  extraCa: text('EXTRA_CA', {
    help: "file of PEM certificates that webhook delivery and pages trust in addition to the system's; pages need certutil (package libnss3-tools); empty: none",
    fallback: '',
  }),
}
