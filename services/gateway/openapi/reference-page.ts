import { answerHeaders } from './answer-headers.ts'
import { markup, raw, type Html } from './markup.ts'
import { type JsonSchema, nameAt, textAt } from './json-schema.ts'
import type { OpenapiDocument } from './document.ts'
import { pageStyle } from './page-style.ts'
import { code, prose } from './prose.ts'
import { fieldsTable } from './schema-table.ts'

type Media = { readonly schema: JsonSchema; readonly example?: unknown }
type Response = {
  readonly description: string
  readonly content?: Readonly<Record<string, Media>>
  readonly headers: JsonSchema
}
type Parameter = {
  readonly name: string
  readonly in: string
  readonly required?: boolean
  readonly description: string
  readonly schema?: JsonSchema
  readonly content?: Readonly<Record<string, Media>>
}
type Operation = {
  readonly operationId: string
  readonly tags: readonly string[]
  readonly summary: string
  readonly description: string
  readonly security?: readonly unknown[]
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: { readonly required: boolean; readonly content: Readonly<Record<string, Media>> }
  readonly responses: Readonly<Record<string, Response & { readonly $ref?: string }>>
}
type Place = { readonly method: string; readonly path: string; readonly operation: Operation }

const example = (value: unknown): Html =>
  markup`<pre><code>${typeof value === 'string' ? value : JSON.stringify(value, undefined, 2)}</code></pre>`

const isError = (status: string) => Number(status) >= 400 && status !== '416'

const flagOf = (method: string, hasBody: boolean): string => {
  if (method === 'GET' || (method === 'POST' && hasBody)) return ''
  return method === 'HEAD' ? '--head ' : `-X ${method} `
}

const isImage = ({ operationId }: Operation) => ['image', 'capture_get', 'capture_post'].includes(operationId)

const bodyArguments = (body: unknown): string[] =>
  body === undefined ? [] : [`-H 'Content-Type: application/json'`, `-d '${JSON.stringify(body)}'`]

const curlOf = (document: OpenapiDocument, { method, path, operation }: Place): string => {
  const { security, requestBody, operationId } = operation
  const address = `${document.servers[0]?.url}${path}${operationId === 'capture_get' ? '?url=https://example.com/' : ''}`
  const body = requestBody?.content['application/json']?.example
  return [
    `curl --fail-with-body ${flagOf(method, body !== undefined)}'${address}'`,
    ...(security?.length === 0 ? [] : ['-H "Authorization: Bearer $KEY"']),
    ...bodyArguments(body),
    ...(isImage(operation) && method !== 'HEAD' ? ['-o image.png'] : []),
  ].join(' \\\n  ')
}

const parametersOf = (document: OpenapiDocument, { parameters = [] }: Operation): Html => {
  if (parameters.length === 0) return raw('')
  const rows = parameters.map(({ name, description, required, schema, content, ...where }) => ({
    name,
    note: where.in,
    isRequired: required === true,
    schema: { ...(schema ?? content?.['application/json']?.schema), description },
  }))
  return markup`<h4>Parameters</h4>
    ${fieldsTable(document, rows)}`
}

const bodyOf = (document: OpenapiDocument, { requestBody }: Operation): Html => {
  const media = requestBody?.content['application/json']
  if (!media) return raw('')
  const schema = resolved(document, media.schema)
  const properties = schema['properties'] as Record<string, JsonSchema>
  const required = (schema['required'] ?? []) as readonly string[]
  const rows = Object.entries(properties).map(([name, each]) => ({
    name,
    isRequired: required.includes(name),
    schema: each,
  }))
  const optional = requestBody?.required ? raw('') : markup` <small>may be empty</small>`
  return markup`<h4>Body, JSON${optional}</h4>
    ${prose(textAt(schema, 'description'))}${fieldsTable(document, rows)}`
}

const resolved = (document: OpenapiDocument, schema: JsonSchema): JsonSchema =>
  nameAt(schema) === '' ? schema : ((document.components.schemas[nameAt(schema)] ?? {}) as JsonSchema)

const headerNames = (response: Response): Html => {
  const names = Object.keys(response.headers).filter(
    (name) => !/^(X-(RateLimit|Usage|Request)|Access-Control)/.test(name),
  )
  return names.length === 0
    ? raw('')
    : markup`<p class="headers">Headers: ${names.map((name) => markup`<code>${name}</code> `)}</p>`
}

const answerOf = (status: string, response: Response): Html => {
  const types = Object.keys(response.content ?? {})
  const shown = Object.entries(response.content ?? {}).find(([, media]) => media.example !== undefined)
  const name = shown && nameAt(shown[1].schema)
  return markup`<div class="answer">
    <p>
      <b class="status ok">${status}</b> ${code(response.description)}
      ${types.map((type) => markup`<code class="type">${type}</code> `)}
    </p>
    ${headerNames(response)}
    ${
      shown
        ? markup`<details>
            <summary>Example${name ? markup`, and <a href="#schema-${name}">its schema</a>` : raw('')}</summary>
            ${example(shown[1].example)}
          </details>`
        : raw('')
    }
  </div>`
}

const errorsOf = (document: OpenapiDocument, { responses }: Operation): Html => {
  const rows = Object.entries(responses).filter(([status]) => isError(status))
  const items = rows.map(([status, response]) => {
    const named = response.$ref?.split('/').at(-1) ?? ''
    const { description } = (document.components.responses[named] ?? response) as Response
    return markup`<li><b class="status bad">${status}</b> <span>${code(description)}</span></li>`
  })
  return markup`<details>
    <summary>Errors: ${rows.map(([status]) => status).join(', ')}</summary>
    <ul class="errors">
      ${items}
    </ul>
  </details>`
}

const operationSection = (document: OpenapiDocument, place: Place): Html => {
  const { method, path, operation } = place
  const answers = Object.entries(operation.responses).filter(([status]) => !isError(status))
  const parts = path.split(/(\{\w+\})/).map((part) => (part.startsWith('{') ? markup`<i>${part}</i>` : markup`${part}`))
  return markup`<section id="${operation.operationId}" class="operation">
    <h3><a href="#${operation.operationId}">${operation.summary}</a></h3>
    <p class="address"><b class="method ${method.toLowerCase()}">${method}</b> <code>${parts}</code></p>
    ${prose(operation.description)} ${example(curlOf(document, place))} ${parametersOf(document, operation)}
    ${bodyOf(document, operation)}
    <h4>Answers</h4>
    ${answers.map(([status, response]) => answerOf(status, response))} ${errorsOf(document, operation)}
  </section>`
}

type Event = Operation & { readonly requestBody: NonNullable<Operation['requestBody']> }

const eventsOf = (document: OpenapiDocument): [string, Event][] =>
  Object.entries(document.webhooks as Readonly<Record<string, { readonly post: Event }>>).map(([name, { post }]) => [
    name,
    post,
  ])

const eventSection = (document: OpenapiDocument, name: string, event: Event): Html =>
  markup`<section id="event-${name}" class="operation">
    <h3><a href="#event-${name}">${event.summary}</a></h3>
    <p class="address"><b class="method post">POST</b> <code>${name}</code></p>
    ${prose(event.description)} ${parametersOf(document, event)} ${bodyOf(document, event)}
    <details>
      <summary>Example</summary>
      ${example(event.requestBody.content['application/json']?.example)}
    </details>
  </section>`

const headersSection = (): Html =>
  markup`<section id="headers">
    <h2>Headers of answers</h2>
    <div class="table">
      <table>
        <tr>
          <th>Header</th>
          <th></th>
        </tr>
        ${Object.entries(answerHeaders).map(
          ([name, { description }]) =>
            markup`<tr>
              <td><code>${name}</code></td>
              <td>${code(description)}</td>
            </tr>`,
        )}
      </table>
    </div>
  </section>`

const schemasSection = (document: OpenapiDocument): Html => {
  const shown = Object.entries(document.components.schemas as Record<string, JsonSchema>).filter(
    ([name]) => !(name in document.components.responses) && !/Parameters$|^NewWebhook$|^WebhookChange$/.test(name),
  )
  return markup`<section id="schemas">
    <h2>Schemas</h2>
    ${shown.map(([name, schema]) => {
      const required = (schema['required'] ?? []) as readonly string[]
      const rows = Object.entries((schema['properties'] ?? {}) as Record<string, JsonSchema>).map(([field, each]) => ({
        name: field,
        isRequired: required.includes(field),
        schema: each,
      }))
      const choices = (schema['oneOf'] ?? []) as readonly JsonSchema[]
      return markup`<details id="schema-${name}" class="schema" open>
        <summary><code>${name}</code></summary>
        ${prose(textAt(schema, 'description'))}
        ${choices.length > 0 ? markup`<p>One of ${choices.map((each) => link(nameAt(each)))}</p>` : fieldsTable(document, rows)}
      </details>`
    })}
  </section>`
}

const link = (name: string): Html => markup`<a href="#schema-${name}"><code>${name}</code></a> `

const placesOf = (document: OpenapiDocument): Place[] =>
  Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      method: method.toUpperCase(),
      path,
      operation: operation as unknown as Operation,
    })),
  )

const navigation = (document: OpenapiDocument, places: readonly Place[]): Html =>
  markup`<nav>
    <a class="brand" href="#top">${document.info.title} <small>v${document.info.version}</small></a>
    ${document.tags.map(
      ({ name }) =>
        markup`<h2>${name}</h2>
          <ul>
            ${places
              .filter(({ operation }) => operation.tags.includes(name))
              .map(
                ({ method, operation }) =>
                  markup`<li>
                    <a href="#${operation.operationId}"
                      ><b class="method ${method.toLowerCase()}">${method}</b>${operation.summary}</a
                    >
                  </li>`,
              )}
          </ul>`,
    )}
    <h2>Events</h2>
    <ul>
      ${eventsOf(document).map(([name]) => markup`<li><a href="#event-${name}">${name}</a></li>`)}
    </ul>
    <h2>More</h2>
    <ul>
      <li><a href="#headers">Headers of answers</a></li>
      <li><a href="#schemas">Schemas</a></li>
      <li><a href="openapi.json">openapi.json</a></li>
    </ul>
  </nav>`

/** The document as one HTML page, without scripts and without anything from elsewhere. */
export const referencePage = (document: OpenapiDocument): string => {
  const places = placesOf(document)
  const { title, summary, description } = document.info
  return markup`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>${title} API reference</title>
        <style>
          ${raw(pageStyle)}
        </style>
      </head>
      <body id="top">
        ${navigation(document, places)}
        <main>
          <header>
            <h1>${title} API</h1>
            <p class="lead">${summary}</p>
            <p class="address"><b>Base</b> <code>${document.servers[0]?.url}/v1</code></p>
            ${prose(description)}
          </header>
          ${document.tags.map(
            ({ name, description: about }) =>
              markup`<h2 class="tag">${name}</h2>
                <p>${about}</p>
                ${places
                  .filter(({ operation }) => operation.tags.includes(name))
                  .map((place) => operationSection(document, place))}`,
          )}
          <h2 class="tag">Events</h2>
          <p>What is sent to receivers. Answer with any 2xx; ignore events that you do not know.</p>
          ${eventsOf(document).map(([name, event]) => eventSection(document, name, event))}
          ${headersSection()}${schemasSection(document)}
        </main>
      </body>
    </html>`.text
}
