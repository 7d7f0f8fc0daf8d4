import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { browserPoolPage } from './browser-pool-page.ts'
import { chartFiles } from './chart/chart-files.ts'
import { clientParameters } from './client-parameters.ts'
import { configurationPage } from './configuration-page.ts'
import { crdPage } from './crd-page.ts'
import { dashboardFiles } from './dashboards/render.ts'
import { openapiText } from './openapi-text.ts'
import { metricsPage } from './metrics-page.ts'
import { operatorPage } from './operator-page.ts'
import { parametersPage } from './parameters-page.ts'

const root = join(import.meta.dirname, '..', '..')
const pages: Record<string, string> = {
  ...dashboardFiles(),
  'clients/typescript/capture-parameters.d.ts': clientParameters(),
  'crds/browserpools.shutterfleet.dev.yaml': crdPage(),
  'docs/browser-pool.md': browserPoolPage(),
  'docs/configuration.md': configurationPage(),
  'docs/metrics.md': metricsPage(),
  'docs/openapi.json': openapiText(),
  'docs/operator.md': operatorPage(),
  'docs/parameters.md': parametersPage(),
  ...chartFiles(root, crdPage()),
}
const checkOnly = process.argv.includes('--check')

const current = (path: string) => {
  try {
    return readFileSync(join(root, path), 'utf8')
  } catch {
    return ''
  }
}

for (const [path, text] of Object.entries(pages)) {
  if (current(path) === text) continue
  if (!checkOnly) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
  }
  console.log(checkOnly ? `${path} is not what the code says; run: make docs` : `${path} written`)
  if (checkOnly) process.exitCode = 1
}
