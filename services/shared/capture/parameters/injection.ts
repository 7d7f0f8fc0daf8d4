import { Type } from 'typebox'
import { line } from '#shared/schema/fields.ts'
import { code, cookie, storageItems, withDoc } from './kinds.ts'

/** Most origins in `header_origins`. */
const headerOriginsMax = 10

/** What is added to the page or to its requests. */
export const injection = {
  css: withDoc(code(), { description: 'CSS to add to the page.', example: 'body { margin: 0 }' }),
  js: withDoc(code(), { description: 'JavaScript to run on the page.', example: 'window.scrollTo(0, 0)' }),
  headers: withDoc(Type.Record(Type.String(), line(0, 4096), { maxProperties: 20 }), {
    description: 'HTTP headers that the browser sends to the origin of the target. Values are never returned.',
    example: { 'X-Token': 'abc' },
    more: 'The headers are not sent to other hosts or ports, even after a redirect, nor from https to http; from http they follow to https if both ports are the default ones. `header_origins` names other origins.',
    appliesTo: 'url',
  }),
  header_origins: withDoc(Type.Array(line(1, 500), { maxItems: headerOriginsMax, uniqueItems: true }), {
    description: 'Origins besides that of the target to which the browser sends `headers`.',
    example: ['https://api.example.com', 'https://example.com:8443'],
    more: 'Each is a scheme, http or https, a host, and a port unless it is the default one.',
    appliesTo: 'url',
  }),
  cookies: withDoc(Type.Array(cookie, { maxItems: 20 }), {
    description: 'Cookies that are set before the page loads. Values are never returned.',
    example: [{ name: 'session', value: 'abc', domain: 'example.com' }],
  }),
  local_storage: withDoc(storageItems(), {
    description:
      'Items of the local storage of the target that are set before the page loads. Values are never returned.',
    example: { theme: 'dark' },
    more: 'They are set for the origin of `url` only.',
    appliesTo: 'url',
  }),
  session_storage: withDoc(storageItems(), {
    description:
      'Items of the session storage of the target that are set before the page loads. Values are never returned.',
    example: { theme: 'dark' },
    more: 'They are set for the origin of `url` only.',
    appliesTo: 'url',
  }),
}
