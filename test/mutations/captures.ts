import type { Mutation } from './mutation.ts'

const fails = 'Synchronous capture that fails (a known departure: image bytes cannot carry a record)'

/** Faults against the contract of capture operations: requests. */
export const captures: readonly Mutation[] = [
  {
    point: 'A synchronous capture that waits',
    file: 'services/gateway/capture/capture-synchronously.ts',
    find: 'created.budgetMs + context.queueAllowanceMs',
    replace: 'context.queueAllowanceMs',
  },
  {
    point: 'A synchronous capture that waits',
    file: 'services/gateway/capture/capture-synchronously.ts',
    find: 'location: captureUrls(context.publicUrl(), id).status',
    replace: 'location: captureUrls(context.publicUrl(), id).image',
  },
  {
    point: '`response_type=json` on capture',
    file: 'services/gateway/operations/captures/capture.ts',
    find: '{ request, response })',
    replace: "{ request, response: 'image' })",
  },
  {
    point: '`response_type=image` on create',
    file: 'services/gateway/operations/captures/create.ts',
    find: "if (response === 'image' && webhookUrl === undefined)",
    replace: "if (response === 'image')",
  },
  {
    point: fails,
    file: 'services/shared/errors/catalog.ts',
    find: 'DNS_FAILED: target(11',
    replace: 'DNS_FAILED: ours(11',
  },
  {
    point: fails,
    file: 'services/gateway/capture/capture-synchronously.ts',
    find: 'publicMessage: message }), requestId, id)',
    replace: 'publicMessage: message }), requestId)',
  },
  {
    point: 'Validation',
    file: 'services/gateway/capture/read-request.ts',
    find: "exchange.query === '' ? parsing",
    replace: 'exchange.query.length < 20 ? parsing',
  },
  {
    point: 'Validation',
    file: 'services/gateway/parameters/parse-capture.ts',
    find: 'if (given.length > 1) for (const name of given)',
    replace: 'if (given.length > 1) for (const name of given.slice(1))',
  },
  {
    point: 'GET parameters',
    file: 'services/shared/capture/from-query.ts',
    find: "if (schema.type === 'integer') return /^-?\\d+$/.test(text) ? Number(text) : text",
    replace: "if (schema.type === 'integer') return Number.isNaN(Number(text)) ? text : Number(text)",
  },
  {
    point: 'Bounds not given',
    file: 'services/gateway/parameters/check-headers.ts',
    find: '{1,100}$/',
    replace: '{1,101}$/',
  },
  {
    point: 'Bounds not given',
    file: 'services/shared/capture/pdf-lengths.ts',
    find: 'return options.pdf_landscape ? [height, width] : [width, height]',
    replace: 'return [width, height]',
  },
  {
    point: 'Headers that a caller may not set',
    file: 'services/gateway/parameters/check-headers.ts',
    find: "name.startsWith('proxy-')",
    replace: "name === 'proxy-authorization'",
  },
  {
    point: 'Ports',
    file: 'services/shared/policy/target.ts',
    find: 'if (isBadPort(port)) return',
    replace: "if (isBadPort(port) && !schemes.includes('socks5:')) return",
  },
  {
    point: '`proxy`',
    file: 'services/gateway/parameters/check-targets.ts',
    find: "schemes: ['http:', 'socks5:', 'socks5h:'], allow",
    replace: "schemes: ['http:', 'https:', 'socks5:', 'socks5h:'], allow",
  },
  {
    point: 'Flags set to `false` or their default',
    file: 'services/shared/capture/is-requested.ts',
    find: 'value !== undefined && value !== defaultOf(name) && !isEmpty(value)',
    replace: 'value !== undefined && !isEmpty(value)',
  },
  {
    point: 'Missing selectors',
    file: 'services/gateway/parameters/check-selectors.ts',
    find: "  'scroll_to',\n",
    replace: '',
  },
]
