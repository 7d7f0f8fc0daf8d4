import type { Static } from 'typebox'
import { keyTemplateMax, keyTemplateProblem } from '#shared/capture/parameters/upload-key.ts'
import { flag, line, object, typed } from '#shared/schema/fields.ts'
import { isAddress, normalHost } from '#shared/policy/host.ts'
import { checkTarget } from '#shared/policy/target.ts'
import type { ErrorCollector } from '#shared/capture/validation-errors.ts'
import type { CheckInput, InputRules } from '#gateway/http/input.ts'

const form = (pattern: string, expected: string, description: string, more: { default?: string } = {}) =>
  typed<string>({ type: 'string', pattern, expected, description, ...more })

/** The body of a new upload destination. */
export const newDestination = object({
  name: form(
    '^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$',
    'a name of 1 to 64 letters, digits, - and _ that begins with a letter or digit',
    'Name, by which captures select the destination in `upload_to`.',
  ),
  endpoint: line(1, 2048, { description: 'Public https URL of the S3-compatible store, without a path.' }),
  region: form('^[a-z0-9-]{1,64}$', 'a region such as eu-central-1', 'Region that requests are signed for.', {
    default: 'us-east-1',
  }),
  bucket: form(
    '^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$',
    'the name of a bucket: 3 to 63 lower-case letters, digits, dots and hyphens',
    'Name of the bucket, which must exist.',
  ),
  path_style: flag('Whether the bucket is in the path of the URL; otherwise it is the first label of the host.', {
    default: true,
  }),
  prefix: line(0, keyTemplateMax, {
    description: 'Template that begins the key of every object, with the placeholders of `upload_key`.',
    default: '',
  }),
  access_key_id: line(1, 256, { description: 'Id of the access key that signs requests.' }),
  secret_access_key: line(1, 256, { description: 'Secret of the access key. Stored sealed, and never returned.' }),
})

type NewDestination = Static<typeof newDestination>

/** The URL of a destination's bucket, without a slash at its end. `endpoint` is valid. */
export const bucketUrl = ({
  endpoint,
  bucket,
  path_style: isPathStyle,
}: Pick<NewDestination, 'endpoint' | 'bucket' | 'path_style'>): string => {
  const { host } = new URL(endpoint)
  return isPathStyle ? `https://${host}/${bucket}` : `https://${bucket}.${host}`
}

/** What is wrong with the URL of a store; undefined if it is a public https URL without anything but host and port. */
const endpointProblem = (endpoint: string, allow: Parameters<typeof checkTarget>[1]['allow']): string | undefined => {
  const target = checkTarget(endpoint, { schemes: ['https:'], allow })
  if (!target.ok) return target.problem
  const { origin, href } = target.url
  return href === `${origin}/` ? undefined : 'must have no path, query or credentials'
}

/** Checks the URL that requests are sent to: with the bucket in its host, a valid endpoint alone says little. */
const checkBucketUrl = (destination: NewDestination, errors: ErrorCollector, rules: InputRules): void => {
  const { endpoint, path_style: isPathStyle } = destination
  if (!isPathStyle && isAddress(normalHost(new URL(endpoint).hostname) ?? '')) {
    errors.report('path_style', 'must be true for an endpoint that is an IP address')
    return
  }
  const url = bucketUrl(destination)
  const { allowTargets: allow, targetLists: lists } = rules
  const target = checkTarget(url, { schemes: ['https:'], allow, lists })
  if (target.ok) return
  if (isPathStyle) errors.report('endpoint', target.problem)
  else errors.report('bucket', `with path_style false its URL is ${url}, which ${target.problem}`)
}

/** Reports an endpoint or bucket whose URL is not a public https URL, and a template that is not valid. */
export const checkDestination: CheckInput<NewDestination> = (destination, errors, rules) => {
  const { endpoint, prefix, ...others } = destination
  if (!errors.hasErrorWithin('endpoint')) {
    const problem = endpointProblem(endpoint, rules.allowTargets)
    if (problem !== undefined) errors.report('endpoint', problem)
  }
  if (!['endpoint', 'bucket', 'path_style'].some((name) => errors.hasErrorWithin(name))) {
    checkBucketUrl(destination, errors, rules)
  }
  const problem = errors.hasErrorWithin('prefix') ? undefined : keyTemplateProblem(prefix ?? '')
  if (problem !== undefined) errors.report('prefix', problem)
  for (const name of ['access_key_id', 'secret_access_key'] as const) {
    const value: unknown = others[name]
    if (typeof value === 'string' && !/^[\u0021-\u007e]*$/.test(value)) {
      errors.report(name, 'must contain only visible ASCII characters')
    }
  }
}
