import { Type } from 'typebox'
import { line } from '#shared/schema/fields.ts'
import { code, cookie, storageItems, withDoc } from './kinds.ts'

/** What is added to the page or to its requests. */
export const injection = {
  css: withDoc(code(), { description: 'CSS to add to the page.', example: 'body { margin: 0 }' }),
  js: withDoc(code(), { description: 'JavaScript to run on the page.', example: 'window.scrollTo(0, 0)' }),
  headers: withDoc(Type.Record(Type.String(), line(0, 4096), { maxProperties: 20 }), {
    description: 'HTTP headers that the browser sends to the host of the target. Values are never returned.',
    example: { 'X-Token': 'abc' },
    more: 'The headers are not sent to other hosts, even after a redirect; credentials (`Authorization`, `Cookie`, keys and tokens) are not sent to other ports of the host either, nor from https to http.',
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
