import t from 'tap'
import { names } from './checks/names.ts'
import { readSources } from './source.ts'
import { testCheck } from './test-check.ts'

const path = 'services/gateway/x.ts'
const badFile = (file: string) => ({ name: file, tree: { [file]: '' }, at: [`${file}:1`] })
const bad = (text: string) => ({ name: text, tree: { [path]: text }, at: [`${path}:1`] })
const good = (text: string, file = path) => ({ name: `${text} in ${file}`, tree: { [file]: text } })

await testCheck(t, {
  check: names,
  real: () => names(readSources()),
  bad: [
    badFile('services/worker/browser-manager.ts'),
    badFile('services/shared/utils.ts'),
    badFile('test/unit/queue-helper.test.ts'),
    bad('export class BrowserManager {}'),
    bad('export const readHelper = 1'),
    bad('export const URL_UTILS = 1'),
    bad('export type PoolInfo = string'),
    bad('export interface CaptureData {}'),
    bad('export const captureService = 1, x = 2'),
    bad('export function routeHandler() {}'),
    bad('const jobData = 1; export { jobData as pageData }'),
  ],
  good: [
    good('export const metadata = 1'),
    good('export type ServiceName = string'),
    good('const data = 1'),
    good('app.setErrorHandler(f)'),
    good('', 'test/helpers/free-port.ts'),
    good('', 'services/worker/data-url.ts'),
  ],
})
