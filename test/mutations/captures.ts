import type { Mutation } from './mutation.ts'

const fails = 'Synchronous capture that fails (a known departure: image bytes cannot carry a record)'

/** Faults against the contract of capture operations: requests. */
export const captures: readonly Mutation[] = [
  {
    point: 'A synchronous capture that waits',
    at: 'services/gateway/capture/capture-synchronously.ts > awaitEnd',
    drop: '$created.budgetMs',
  },
  {
    point: 'A synchronous capture that waits',
    at: 'services/gateway/capture/accepted-response.ts > acceptedHead',
    replace: 'captureUrls($$args).status',
    by: 'captureUrls($$args).image',
  },
  {
    point: '`response_type=json` on capture',
    at: 'services/gateway/operations/captures/capture.ts > capture',
    replace: '{ request: $request, response: $response }',
    by: "{ request: $request, response: 'image' }",
  },
  {
    point: '`response_type=image` on create',
    at: 'services/gateway/operations/captures/create.ts > createScreenshot > run',
    drop: '$webhookUrl === undefined',
  },
  {
    point: fails,
    at: 'services/shared/errors/catalog.ts > catalog',
    replace: 'DNS_FAILED: target($$args)',
    by: 'DNS_FAILED: ours($$args)',
  },
  {
    point: fails,
    at: 'services/gateway/capture/capture-synchronously.ts > answerFailed',
    replace: 'errorAnswer($error, $requestId, $id)',
    by: 'errorAnswer($error, $requestId)',
  },
  {
    point: 'Validation',
    at: 'services/gateway/capture/read-request.ts > readParameters',
    replace: "$exchange.query === ''",
    by: '$exchange.query.length < 20',
  },
  {
    point: 'Validation',
    at: 'services/gateway/parameters/parse-capture.ts > checkSource',
    replace: 'for (const $name of $given) report($$args)',
    by: 'for (const $name of $given.slice(1)) report($$args)',
  },
  {
    point: 'GET parameters',
    at: 'services/shared/capture/from-query.ts > convertText',
    replace: '/^-?\\d+$/.test($text) ? Number($text) : $text',
    by: 'Number.isNaN(Number($text)) ? $text : Number($text)',
  },
  {
    point: 'Bounds not given',
    at: 'services/gateway/parameters/check-headers.ts > nameForm',
    replaceText: '{1,100}$',
    by: '{1,101}$',
  },
  {
    point: 'Bounds not given',
    at: 'services/shared/capture/pdf-lengths.ts > pdfPageSize',
    replace: '$options.pdf_landscape ? $landscape : $portrait',
    by: '$portrait',
  },
  {
    point: 'Headers that a caller may not set',
    at: 'services/gateway/parameters/check-headers.ts > isForbidden',
    replace: "$name.startsWith('proxy-')",
    by: "$name === 'proxy-authorization'",
  },
  {
    point: 'Ports',
    at: 'services/shared/policy/target.ts > checkTarget',
    replace: 'isBadPort($port)',
    by: "isBadPort($port) && !schemes.includes('socks5:')",
  },
  {
    point: '`proxy`',
    at: 'services/gateway/parameters/check-targets.ts > checkProxy',
    replace: "['http:', $$socks]",
    by: "['http:', 'https:', $$socks]",
  },
  {
    point: 'Flags set to `false` or their default',
    at: 'services/shared/capture/is-requested.ts > isRequested',
    drop: '$value !== defaultOf($name)',
  },
  { point: 'Missing selectors', at: 'services/gateway/parameters/check-selectors.ts > names', drop: "'scroll_to'" },
]
