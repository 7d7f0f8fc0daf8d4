import { readBounded } from '#shared/config/read-bounded.ts'
import { readBody } from '#shared/config/read-body.ts'
import type { IssuedKeys, KeySource, S3Keys } from './s3-keys.ts'

const answerMs = 5000
/** Bounds what is read of a response or a file, in bytes. */
const bytesMax = 65_536
/** Longest part of keys, in characters: an address with a session token has to fit into a sealed capture. */
const partChars = 4096
const faultChars = 200
const metadataTokenSeconds = 60

const toKeys = (accessKey?: unknown, secretKey?: unknown, sessionToken?: unknown): S3Keys => {
  const parts = [accessKey, secretKey, ...(sessionToken === undefined ? [] : [sessionToken])]
  // Signatures and headers contain them as they are.
  if (!parts.every((part) => typeof part === 'string' && /^[\x21-\x7e]+$/.test(part) && part.length <= partChars)) {
    throw new Error(`a key, secret or session token is missing or is not 1 to ${partChars} printable characters`)
  }
  return { accessKey, secretKey, sessionToken } as S3Keys
}

const readText = async (path: string): Promise<string> => (await readBounded(path, bytesMax)).trim()

/** A token as the value of a header. The error of `fetch` for another value would contain it. */
const headerOf = (token: string, from: string): string => {
  if (!/^[\x20-\x7e]+$/.test(token)) throw new Error(`${from} does not contain a token of printable characters`)
  return token
}

/** Reads a file in the format of the AWS command line: the keys of its profile `[default]`. */
export const keysInFile =
  (path: string): KeySource =>
  async () => {
    const values = new Map<string, string>()
    let isDefault = false
    for (const line of (await readText(path)).split('\n').map((each) => each.trim())) {
      if (line.startsWith('[')) isDefault = line === '[default]'
      const at = line.indexOf('=')
      if (isDefault && at > 0) values.set(line.slice(0, at).trim(), line.slice(at + 1).trim())
    }
    const of = (name: string) => values.get(`aws_${name}`)
    try {
      return { keys: toKeys(of('access_key_id'), of('secret_access_key'), of('session_token')) }
    } catch (cause) {
      throw new Error(`${path}, profile [default]: ${String(cause)}`, { cause })
    }
  }

/** Resolves to the body of a successful response. Never follows a redirect: it could name any service. */
const request = async (url: string, options: RequestInit = {}): Promise<string> => {
  const response = await fetch(url, { ...options, redirect: 'error', signal: AbortSignal.timeout(answerMs) }).catch(
    (cause: unknown) => {
      throw new Error(`${url}: ${String(cause instanceof Error ? (cause.cause ?? cause) : cause)}`, { cause })
    },
  )
  const body = (await readBody(response, bytesMax)).toString()
  if (!response.ok) throw new Error(`${url}: status ${response.status}: ${faultOf(body).slice(0, faultChars)}`)
  return body
}

/** The text of the first element of this name, which contains no other; undefined if there is none. */
const elementOf = (xml: string, name: string): string | undefined => {
  const start = xml.indexOf(`<${name}>`)
  const end = xml.indexOf(`</${name}>`, start)
  return start < 0 || end < 0 ? undefined : xml.slice(start + name.length + 2, end)
}

const faultOf = (body: string) => [elementOf(body, 'Code'), elementOf(body, 'Message')].join(' ').trim()

const expiryOf = (text: unknown): number => {
  const ms = typeof text === 'string' ? Date.parse(text) : NaN
  if (Number.isNaN(ms)) throw new Error('the keys have no time of expiry')
  return ms
}

/** Assumes a role with the token of a service account (`AssumeRoleWithWebIdentity` of STS), for as long as the role allows by default. */
export const keysByWebIdentity =
  (options: { readonly stsUrl: string; readonly roleArn: string; readonly tokenFile: string }): KeySource =>
  async () => {
    const body = new URLSearchParams({
      Action: 'AssumeRoleWithWebIdentity',
      Version: '2011-06-15',
      RoleArn: options.roleArn,
      RoleSessionName: 'shutterfleet',
      WebIdentityToken: await readText(options.tokenFile),
    })
    const xml = await request(options.stsUrl, { method: 'POST', body })
    const of = (name: string) => elementOf(xml, name)
    return {
      keys: toKeys(of('AccessKeyId'), of('SecretAccessKey'), of('SessionToken')),
      expiresAtMs: expiryOf(of('Expiration')),
    }
  }

/** Parses a response with keys, of which the parser's error would contain a part. */
const parseIssued = (json: string, url: string): Readonly<Record<string, unknown>> => {
  try {
    return JSON.parse(json) as Readonly<Record<string, unknown>>
  } catch {
    throw new Error(`${url}: the response is not JSON`)
  }
}

const requestIssued = async (url: string, headers: Readonly<Record<string, string>>): Promise<IssuedKeys> => {
  const { AccessKeyId, SecretAccessKey, Token, Expiration } = parseIssued(await request(url, { headers }), url)
  return { keys: toKeys(AccessKeyId, SecretAccessKey, Token), expiresAtMs: expiryOf(Expiration) }
}

/** Requests keys from the credentials endpoint of a pod, with the token in a file if one is given. */
export const keysOfContainer =
  (options: { readonly url: string; readonly tokenFile: string | undefined }): KeySource =>
  async () => {
    const { url, tokenFile } = options
    const headers = tokenFile && { authorization: headerOf(await readText(tokenFile), tokenFile) }
    return requestIssued(url, { ...headers })
  }

/** Requests the keys of the machine's role from its metadata service, by IMDSv2 only. */
export const keysOfInstance =
  (metadataUrl: string): KeySource =>
  async () => {
    const tokenUrl = `${metadataUrl}/latest/api/token`
    const token = await request(tokenUrl, {
      method: 'PUT',
      headers: { 'x-aws-ec2-metadata-token-ttl-seconds': String(metadataTokenSeconds) },
    })
    const headers = { 'x-aws-ec2-metadata-token': headerOf(token, tokenUrl) }
    const roles = `${metadataUrl}/latest/meta-data/iam/security-credentials/`
    const [role = ''] = (await request(roles, { headers })).trim().split('\n')
    if (role === '') throw new Error(`${roles}: the machine has no role`)
    return requestIssued(roles + encodeURIComponent(role), headers)
  }
