import { examples } from '#gateway/openapi/examples.ts'
import {
  type AnswerDoc,
  emptyAnswer,
  headerParameter,
  jsonAnswer,
  type OperationDoc,
  usualErrors,
} from '#gateway/openapi/operation-doc.ts'

const ifNoneMatch = headerParameter('If-None-Match', 'An `ETag` that the client has: 304 where it still holds.', {
  type: 'string',
})

const page = (description: string, type: string, schema: object): Record<number, AnswerDoc> => ({
  200: { description, headers: ['ETag', 'Cache-Control'], content: { [type]: { schema: { ...schema } } } },
  304: emptyAnswer('The client has it already.', ['ETag', 'Cache-Control']),
})

/** The account, and the description of the interface itself. */
export const accountOperations = {
  account: {
    tag: 'Account',
    summary: 'Show the account',
    description: 'The account of the key, with the plan that is in force for it.',
    answers: { 200: jsonAnswer('The account.', 'AccountAnswer', examples.account) },
    errors: [...usualErrors, 'Forbidden', 'Invalid'],
  },
  usage: {
    tag: 'Account',
    summary: 'Show the usage',
    description: 'What the account has used of its running period, as the headers of the same answer say it.',
    answers: { 200: jsonAnswer('The usage.', 'UsageAnswer', examples.usage) },
    errors: [...usualErrors, 'Forbidden', 'Invalid'],
  },
  openapi: {
    tag: 'Reference',
    summary: 'This document',
    description: 'The interface as OpenAPI 3.1.',
    isOpen: true,
    parameters: [ifNoneMatch],
    answers: page('The document.', 'application/json', { type: 'object', required: ['openapi', 'info', 'paths'] }),
    errors: ['BadRequest', 'HeadTooLarge', 'InternalError'],
  },
  docs: {
    tag: 'Reference',
    summary: 'The reference as a page',
    description: 'This document for people: one page without scripts or anything from elsewhere.',
    isOpen: true,
    parameters: [ifNoneMatch],
    answers: page('The page.', 'text/html', { type: 'string' }),
    errors: ['BadRequest', 'HeadTooLarge', 'InternalError'],
  },
} as const satisfies Record<string, OperationDoc>
