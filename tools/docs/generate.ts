import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { browserPoolPage } from './browser-pool-page.ts'
import { chartFiles } from './chart/chart-files.ts'
import { clientTypes } from './client-types.ts'
import { commandLinePage } from './command-line-page.ts'
import { compiledClient } from './compiled-client.ts'
import { configurationPage } from './configuration-page.ts'
import { consoleControls } from './console-controls.ts'
import { crdPage } from './crd-page.ts'
import { dashboardFiles } from './dashboards/render.ts'
import { errorsPage } from './errors-page.ts'
import { fromOtherServicesPage } from './from-other-services-page.ts'
import { adminOpenapiText, exactOpenapiText, openapiText } from './openapi-text.ts'
import { metricHelp, metricsPage } from './metrics-page.ts'
import { operatorPage } from './operator-page.ts'
import { parametersPage } from './parameters-page.ts'
import { pythonClient } from './python-client.ts'
import { pythonTypes } from './python-types.ts'
import { scalingPage } from './scaling-page.ts'
import { versionFiles } from './version-files.ts'

const root = join(import.meta.dirname, '..', '..')
const checkOnly = process.argv.includes('--check')

const current = (path: string) => {
  try {
    return readFileSync(join(root, path), 'utf8')
  } catch {
    return ''
  }
}

const bringUpToDate = ([path, text]: [path: string, text: string]) => {
  if (current(path) === text) return
  if (!checkOnly) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
  }
  console.log(checkOnly ? `${path} is not what the code says; run: make docs` : `${path} written`)
  if (checkOnly) process.exitCode = 1
}

// First: the chart has a copy of one of them.
for (const file of Object.entries(versionFiles(current))) bringUpToDate(file)

const client = clientTypes(exactOpenapiText())
const pages: Record<string, string> = {
  ...dashboardFiles(metricHelp()),
  ...pythonClient(root),
  'clients/python/src/shutterfleet/types.py': pythonTypes(exactOpenapiText()),
  'clients/typescript/src/requests.ts': client.requests,
  'clients/typescript/src/account-requests.ts': client.accountRequests,
  'clients/typescript/src/screenshot-options.ts': client.options,
  'clients/typescript/src/responses.ts': client.responses,
  'clients/typescript/src/account-responses.ts': client.accountResponses,
  'crds/browserpools.shutterfleet.dev.yaml': crdPage(),
  'docs/admin-openapi.json': adminOpenapiText(),
  'docs/browser-pool.md': browserPoolPage(),
  'docs/command-line.md': await commandLinePage(),
  'docs/configuration.md': configurationPage(),
  'docs/from-other-services.md': fromOtherServicesPage(),
  'docs/metrics.md': metricsPage(),
  'docs/openapi.json': openapiText(),
  'docs/operator.md': operatorPage(),
  'docs/parameters.md': parametersPage(),
  'docs/scaling.md': scalingPage(current('docs/benchmarks.md')),
  'services/gateway/openapi/errors.html': errorsPage(root),
  'services/console/views/playground/controls.json': consoleControls(),
  ...chartFiles(root, crdPage()),
}
for (const page of Object.entries(pages)) bringUpToDate(page)
// One of its sources is among the pages.
for (const file of Object.entries(compiledClient(root))) bringUpToDate(file)
