import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { inspect } from 'node:util'
import t from 'tap'
import { keysByWebIdentity, keysInFile, keysOfContainer, keysOfInstance } from '#shared/storage/key-sources.ts'
import { listening } from '#test/helpers/egress-filter.ts'

type Serve = (request: IncomingMessage, response: ServerResponse) => unknown

const serving = async (serve: Serve) => {
  const server = await listening(createServer((request, response) => void serve(request, response)))
  return { url: `http://127.0.0.1:${server.port}`, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() }
}

const expiry = '2030-01-01T00:00:00Z'
const issued = { keys: { accessKey: 'K', secretKey: 'S', sessionToken: 'T/+=' }, expiresAtMs: Date.parse(expiry) }
const issuedJson = JSON.stringify({ AccessKeyId: 'K', SecretAccessKey: 'S', Token: 'T/+=', Expiration: expiry })

t.test('key sources: a file contains the keys of the profile [default]', async (t) => {
  const path = join(t.testdir(), 'credentials')
  const write = (lines: readonly string[]) => writeFile(path, lines.join('\n'))
  await write(['[other]', 'aws_access_key_id=X', '[default]', 'aws_access_key_id = K', 'aws_secret_access_key = S=='])
  t.strictSame(await keysInFile(path)(), { keys: { accessKey: 'K', secretKey: 'S==', sessionToken: undefined } })
  await write(['[default]', 'aws_access_key_id=K', 'aws_secret_access_key=S', 'aws_session_token=T'])
  t.match(await keysInFile(path)(), { keys: { sessionToken: 'T' } })
  for (const bad of [['aws_access_key_id=K', 'aws_secret_access_key=S'], ['[default]', 'aws_access_key_id=K'], []]) {
    await write(bad)
    await t.rejects(keysInFile(path)(), { message: /credentials, profile \[default\]/ })
  }
  await write(['[default]', 'aws_access_key_id=K', `aws_secret_access_key=${'s'.repeat(4097)}`])
  await t.rejects(keysInFile(path)(), { message: /1 to 4096 printable/ })
  await t.rejects(keysInFile(join(path, 'missing'))())
})

t.test('key sources: a web identity is exchanged at STS, with the token that the file contains now', async (t) => {
  const tokenFile = join(t.testdir(), 'token')
  const asked: string[] = []
  await using sts = await serving(async (request, response) => {
    asked.push(`${request.method} ${await text(request)}`)
    response.end(
      `<R><Credentials><AccessKeyId>K</AccessKeyId><SecretAccessKey>S</SecretAccessKey><SessionToken>T/+=</SessionToken><Expiration>${expiry}</Expiration></Credentials></R>`,
    )
  })
  const source = keysByWebIdentity({ stsUrl: sts.url, roleArn: 'arn:aws:iam::1:role/shots', tokenFile })
  await writeFile(tokenFile, 'one\n')
  t.strictSame(await source(), issued)
  await writeFile(tokenFile, 'two\n')
  await source()
  t.match(asked, [
    /^POST Action=AssumeRoleWithWebIdentity&.*RoleArn=arn%3Aaws%3Aiam%3A%3A1%3Arole%2Fshots&.*Token=one$/,
    /Token=two$/,
  ])
})

t.test("key sources: an error names the URL and the server's code, and never the token", async (t) => {
  const tokenFile = join(t.testdir({ token: 'the-token' }), 'token')
  await using sts = await serving((_, response) =>
    response.writeHead(403).end('<E><Code>AccessDenied</Code><Message>no such role</Message></E>'),
  )
  const error: Error = await keysByWebIdentity({ stsUrl: sts.url, roleArn: 'r', tokenFile })().then(
    () => new Error('no error'),
    (thrown: Error) => thrown,
  )
  t.match(error.message, /^http:\/\/127.*: status 403: AccessDenied no such role$/)
  t.notMatch(error.message, /the-token/)
})

t.test(
  'key sources: an error contains nothing of a token with a line break, or of keys that cannot be parsed',
  async (t) => {
    const tokenFile = join(t.testdir({ token: 'the-secret\ntoken' }), 'token')
    let requests = 0
    await using server = await serving((request, response) => {
      requests += 1
      response.end(request.method === 'PUT' ? 'the-secret\ntoken' : '{"SecretAccessKey":the-secret')
    })
    for (const [source, fault] of [
      [keysOfContainer({ url: server.url, tokenFile }), /token does not contain a token of printable characters$/],
      [keysOfInstance(server.url), /token does not contain a token of printable characters$/],
      [keysOfContainer({ url: server.url, tokenFile: undefined }), /: the response is not JSON$/],
    ] as const) {
      const error: unknown = await source().catch((thrown: unknown) => thrown)
      t.match(error, { message: fault })
      t.notMatch(inspect(error), /secret/)
    }
    t.equal(requests, 2)
  },
)

t.test('key sources: redirects are not followed, and endless or incomplete responses are rejected', async (t) => {
  let followed = 0
  const answers: Serve[] = [
    (_, response) => response.writeHead(302, { location: '/elsewhere' }).end(),
    (_, response) => response.end('x'.repeat(65_537)),
    (_, response) => response.end('{"AccessKeyId":"K","SecretAccessKey":"S"}'),
    (_, response) => response.end(JSON.stringify({ ...JSON.parse(issuedJson), Token: 'two\nlines' })),
    (_, response) => response.end('not JSON'),
  ]
  await using server = await serving((request, response) => {
    if (request.url === '/elsewhere') followed += 1
    return answers[0]?.(request, response)
  })
  for (; answers.length > 0; answers.shift()) {
    await t.rejects(keysOfContainer({ url: server.url, tokenFile: undefined })())
  }
  t.equal(followed, 0)
})

t.test("key sources: a container's endpoint gets the token in the file as its authorization", async (t) => {
  const tokenFile = join(t.testdir({ token: 'secret' }), 'token')
  const tokens: (string | undefined)[] = []
  await using server = await serving((request, response) => {
    tokens.push(request.headers.authorization)
    response.end(issuedJson)
  })
  t.strictSame(await keysOfContainer({ url: server.url, tokenFile })(), issued)
  await keysOfContainer({ url: server.url, tokenFile: undefined })()
  t.strictSame(tokens, ['secret', undefined])
})

t.test('key sources: the metadata service is only used with a session of its version 2', async (t) => {
  const requests: string[] = []
  await using server = await serving((request, response) => {
    const { method, url, headers } = request
    const token = headers['x-aws-ec2-metadata-token'] ?? headers['x-aws-ec2-metadata-token-ttl-seconds']
    requests.push(`${method} ${url} ${String(token)}`)
    if (method === 'PUT') response.end('session')
    else response.end(url?.endsWith('/') ? 'a-role' : issuedJson)
  })
  t.strictSame(await keysOfInstance(server.url)(), issued)
  t.strictSame(requests, [
    'PUT /latest/api/token 60',
    'GET /latest/meta-data/iam/security-credentials/ session',
    'GET /latest/meta-data/iam/security-credentials/a-role session',
  ])
})
