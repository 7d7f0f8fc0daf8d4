import t from 'tap'
import { keysOfAddress, openKeys } from '#shared/storage/open-keys.ts'
import { RenewedKeys } from '#shared/storage/s3-keys.ts'

const inAddress = { accessKey: 'K', secretKey: 'S' }
const web = { ...keysOfAddress, s3KeysFrom: 'web-identity', s3RoleArn: 'arn', s3TokenFile: '/token' } as const

t.test('open keys: the keys of the address are used only if no other source is named', async (t) => {
  t.equal(await openKeys(keysOfAddress, 'r', inAddress).current(), inAddress)
  t.ok(openKeys(web, 'r', undefined) instanceof RenewedKeys)
  t.throws(() => openKeys(keysOfAddress, 'r', undefined), { code: 'CONFIGURATION', publicMessage: /S3_KEYS_FROM/ })
  t.throws(() => openKeys(web, 'r', inAddress), { code: 'CONFIGURATION', publicMessage: /S3_URL contains keys/ })
})

t.test('open keys: names the setting that a source lacks', async (t) => {
  const of = (s3KeysFrom: typeof web.s3KeysFrom | 'file') => ({ ...keysOfAddress, s3KeysFrom })
  t.throws(() => openKeys(of('file'), 'r', undefined), {
    code: 'CONFIGURATION',
    publicMessage: /SHUTTERFLEET_S3_KEYS_FILE is not set/,
  })
  t.throws(() => openKeys(of('web-identity'), 'r', undefined), {
    code: 'CONFIGURATION',
    publicMessage: /SHUTTERFLEET_S3_ROLE_ARN is not set/,
  })
  t.throws(() => openKeys({ ...of('web-identity'), s3RoleArn: 'arn' }, 'r', undefined), {
    code: 'CONFIGURATION',
    publicMessage: /SHUTTERFLEET_S3_TOKEN_FILE is not set/,
  })
})

t.test('open keys: a token or a session is sent without TLS only to the machine and the node', async (t) => {
  const urls: Readonly<Record<string, boolean>> = {
    'https://keys.example.com': true,
    'http://169.254.170.23/v1/credentials': true,
    'http://[fd00:ec2::23]/v1/credentials': true,
    'http://127.0.0.1:51679/creds': true,
    'http://keys.example.com': false,
    'http://169.254.1.1.example.com': false,
    'http://10.0.0.1': false,
  }
  for (const s3KeysFrom of ['container', 'instance', 'web-identity'] as const) {
    for (const [s3KeysUrl, isAllowed] of Object.entries(urls)) {
      const open = () => openKeys({ ...web, s3KeysFrom, s3KeysUrl }, 'r', undefined)
      if (isAllowed) t.doesNotThrow(open, s3KeysUrl)
      else t.throws(open, { code: 'CONFIGURATION', publicMessage: /SHUTTERFLEET_S3_KEYS_URL/ }, s3KeysUrl)
    }
  }
})
