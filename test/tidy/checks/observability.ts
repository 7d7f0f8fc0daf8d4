import { type Finding, findingAt, type SourceFile } from '#test/tidy/source.ts'

const rule = 'observability'
const files = 'charts/shutterfleet/files/'
const runbooks = 'docs/runbooks/'
const cases = 'test/fixtures/rules/'
const docsPath = 'docs/metrics.md'
const headings = ['Meaning', 'Diagnosis', 'Remedy', 'What callers see', 'When to wake somebody']
const annotations = ['severity', 'summary', 'description', 'runbook_url']

/** All series of the services, by the generated list of their metrics. */
const seriesIn = (docs: string): ReadonlySet<string> =>
  new Set(
    [...docs.matchAll(/^\| `(shutterfleet_\w+)` \| (\w+)/gm)].flatMap(([, name = '', kind]) =>
      kind === 'histogram' ? ['_bucket', '_sum', '_count'].map((part) => name + part) : [name],
    ),
  )

const unknownMetrics = (file: SourceFile, known: ReadonlySet<string>): Finding[] =>
  [...file.text.matchAll(/\bshutterfleet_\w+/g)]
    .filter(([name]) => !known.has(name))
    .map(({ 0: name, index }) => findingAt(file, index, rule, `no service has ${name}`))

type Alert = { readonly file: SourceFile; readonly index: number; readonly text: string }

const alertsIn = (file: SourceFile): Alert[] =>
  [...file.text.matchAll(/^ +- alert: .*\n(?:(?! +- (?:alert|name|record):).*\n)*/gm)].map(({ 0: text, index }) => ({
    file,
    index,
    text,
  }))

const alertProblems = (
  { file, index, text }: Alert,
  pages: ReadonlySet<string>,
  tested: ReadonlySet<string>,
): Finding[] => {
  const alert = /alert: (\w+)/.exec(text)?.[1] ?? ''
  const page = /runbook_url: (\S+)/.exec(text)?.[1] ?? ''
  return [
    ...annotations
      .filter((name) => !new RegExp(`^ +${name}: \\S`, 'm').test(text))
      .map((name) => findingAt(file, index, rule, `the alert has no ${name}`)),
    ...(page !== '' && !pages.has(page) ? [findingAt(file, index, rule, `${page} does not exist`)] : []),
    ...(tested.has(alert) ? [] : [findingAt(file, index, rule, `no case in ${cases} expects ${alert}`)]),
  ]
}

/**
 * Rules and dashboards use existing metrics; every alert has a severity, a summary, an action and a case; every
 * runbook belongs to an alert, and says what callers see and when to wake somebody.
 */
export const observability = (tree: readonly SourceFile[]): Finding[] => {
  const known = seriesIn(tree.find(({ path }) => path === docsPath)?.text ?? '')
  const shipped = tree.filter(({ path }) => path.startsWith(files))
  const pages = tree.filter(({ path }) => path.startsWith(runbooks))
  const tested = new Set(
    tree
      .filter(({ path }) => path.startsWith(cases))
      .flatMap(({ text }) => [...text.matchAll(/alertname: (\w+)/g)].map(([, name = '']) => name)),
  )
  const alerts = shipped.filter(({ path }) => path.startsWith(`${files}rules/`)).flatMap(alertsIn)
  return [
    ...shipped.flatMap((file) => unknownMetrics(file, known)),
    ...alerts.flatMap((alert) => alertProblems(alert, new Set(pages.map(({ path }) => path)), tested)),
    ...pages
      .filter(({ path }) => !alerts.some(({ text }) => text.includes(path)))
      .map((page) => findingAt(page, 0, rule, 'no alert points here')),
    ...pages.flatMap((page) =>
      headings
        .filter((heading) => !page.text.includes(`\n## ${heading}\n`))
        .map((heading) => findingAt(page, 0, rule, `the runbook has no part "${heading}"`)),
    ),
  ]
}
