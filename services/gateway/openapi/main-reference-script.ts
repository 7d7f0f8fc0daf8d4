// Extracts the reference's renderer from its package, which exposes it only as a Fastify plugin, and posts it compressed.
import { promisify } from 'node:util'
import { parentPort } from 'node:worker_threads'
import { gzip } from 'node:zlib'
import scalar from '@scalar/fastify-api-reference'
import Fastify from 'fastify'

/** Loads the document from a relative URL; loads from and sends to no other host, and does not store the API key. */
const configuration = {
  url: 'openapi.json',
  withDefaultFonts: false,
  telemetry: false,
  persistAuth: false,
  hideClientButton: true,
  showDeveloperTools: 'never',
  documentDownloadType: 'direct',
  defaultOpenAllTags: true,
  orderSchemaPropertiesBy: 'preserve',
  agent: { disabled: true },
  mcp: { disabled: true },
} as const

const app = Fastify()
app.register(scalar, { routePrefix: '/reference', configuration })
const { body } = await app.inject('/reference/js/scalar.js')
const start = `Scalar.createApiReference('#reference', ${JSON.stringify(configuration)})`
const script = await promisify(gzip)(`${body}\n${start}\n`)
parentPort?.postMessage(script, [script.buffer])
