import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { promisify } from 'node:util'
import t from 'tap'
import { commandLine } from '#test/helpers/command-line.ts'
import { listening } from '#test/helpers/egress-filter.ts'

const name = 'browserpools.shutterfleet.dev'
const definition = (version?: string) => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name, ...(version !== undefined && { annotations: { 'shutterfleet.dev/version': version } }) },
  spec: { group: 'shutterfleet.dev' },
})

t.test('cluster crd: updates a definition, but not that of a later release', async (t) => {
  const folder = t.testdir()
  const state: { installed?: string; patches: unknown[] } = { patches: [] }
  await using server = await listening(
    createServer(async (request, response) => {
      const body = await text(request)
      if (request.method !== 'GET') state.patches.push(JSON.parse(body))
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify(definition(state.installed)))
    }),
  )
  const kubeconfig = join(folder, 'kubeconfig')
  await writeFile(
    kubeconfig,
    JSON.stringify({
      clusters: [
        { name: 'a', cluster: { server: `http://127.0.0.1:${server.port}`, 'insecure-skip-tls-verify': true } },
      ],
      users: [{ name: 'a', user: {} }],
      contexts: [{ name: 'a', context: { cluster: 'a', user: 'a' } }],
      'current-context': 'a',
    }),
  )
  const file = join(folder, 'crd.json')
  const upgrade = async (installed: string | undefined, own: string) => {
    Object.assign(state, { installed, patches: [] })
    await writeFile(file, JSON.stringify(definition(own)))
    const env = { PATH: process.env['PATH'], SHUTTERFLEET_KUBECONFIG: kubeconfig }
    return (await promisify(execFile)(commandLine, ['cluster', 'crd', file], { env })).stdout
  }
  t.match(await upgrade('0.10.0', '0.9.2'), /stays that of 0\.10\.0, which is later than 0\.9\.2/)
  t.strictSame(state.patches, [])
  for (const installed of [undefined, '0.9.2', '0.10.0', '0.10.0-rc.1']) {
    t.match(await upgrade(installed, '0.10.0'), /is that of this release/, String(installed))
    const annotations = { 'shutterfleet.dev/version': '0.10.0' }
    t.strictSame(state.patches, [{ metadata: { annotations }, spec: { group: 'shutterfleet.dev' } }])
  }
})
