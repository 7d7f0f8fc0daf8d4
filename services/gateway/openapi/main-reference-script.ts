// Takes the renderer of the reference out of its package, which gives it to nobody but Fastify, and posts it compressed.
import { promisify } from 'node:util'
import { parentPort } from 'node:worker_threads'
import { gzip } from 'node:zlib'
import scalar from '@scalar/fastify-api-reference'
import Fastify from 'fastify'

/** The description comes from beside the page; nothing is loaded from elsewhere, or sent there, and a key is not stored. */
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
