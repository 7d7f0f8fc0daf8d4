import { type Finding, findingAt, type SourceFile } from '#test/tidy/source.ts'

const rule = 'observability'
const files = 'charts/shutterfleet/files/'
const runbooks = 'docs/runbooks/'
const cases = 'test/fixtures/rules/'
const docsPath = 'docs/metrics.md'
const headings = ['Meaning', 'Diagnosis', 'Remedy', 'What callers see', 'When to wake somebody']
/** How the part of a runbook about whom to wake begins, by severity: only critical alerts may page at night. */
const wakes: Readonly<Record<string, RegExp>> = { critical: /^now\b/i, warning: /^(?:in the morning|never)\b/i }
/** Labels that scrapers set, and thereby rename in what they scrape, unless told otherwise. */
const scraperLabels = /\b(?:job|instance|service|pod|container|endpoint|node|exported_\w+|app_kubernetes_io_\w+)\b/
const annotations = ['severity', 'summary', 'description', 'runbook_url']

/** The sentence of a runbook on when an alert wakes somebody: the item that names it, or all; undefined if there is none. */
const wakeTime = (page: string, alert: string): string | undefined => {
  const [, part] = page.split('\n## When to wake somebody\n')
  const item = part?.split('\n').find((line) => line.startsWith('- ') && line.includes(`\`${alert}\``))
  return item === undefined ? part : item.split(': ')[1]
}

/** Metrics with a label that scrapers set. */
const renamedLabels = (docs: SourceFile): Finding[] =>
  [...docs.text.matchAll(/^\| `shutterfleet_\w+` \| \w+ \| ([^|]*)\|/gm)].flatMap(({ 1: labels = '', index }) => {
    const [label] = scraperLabels.exec(labels) ?? []
    return label ? [findingAt(docs, index, rule, `scrapers set the label ${label}, and rename that of the metric`)] : []
  })

/** Expressions of rules with a label that scrapers set; strings aside. */
const scraperLabelsIn = (file: SourceFile): Finding[] =>
  [...file.text.matchAll(/^ +expr: (?:\|-\n(?: {10,}.*\n)+|.*\n)/gm)].flatMap(({ 0: expr, index }) => {
    const [label] = scraperLabels.exec(expr.replaceAll(/"[^"]*"/g, '')) ?? []
    return label ? [findingAt(file, index, rule, `scrapers may rename ${label}: use the label component`)] : []
  })

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

/** Whether a runbook wakes somebody at another time than the severity of an alert means. */
const disagrees = (text: string, alert: string, page: string): boolean => {
  const severity = /severity: (\S+)/.exec(text)?.[1] ?? ''
  const time = wakeTime(page, alert)
  return time !== undefined && wakes[severity]?.test(time) === false
}

const alertProblems = (
  { file, index, text }: Alert,
  pages: ReadonlyMap<string, string>,
  tested: ReadonlySet<string>,
): Finding[] => {
  const alert = /alert: (\w+)/.exec(text)?.[1] ?? ''
  const page = /runbook_url: (\S+)/.exec(text)?.[1] ?? ''
  return [
    ...annotations
      .filter((name) => !new RegExp(`^ +${name}: \\S`, 'm').test(text))
      .map((name) => findingAt(file, index, rule, `the alert has no ${name}`)),
    ...(page !== '' && !pages.has(page) ? [findingAt(file, index, rule, `${page} does not exist`)] : []),
    ...(disagrees(text, alert, pages.get(page) ?? '')
      ? [findingAt(file, index, rule, `${page} says when ${alert} wakes somebody, and its severity means another time`)]
      : []),
    ...(tested.has(alert) ? [] : [findingAt(file, index, rule, `no case in ${cases} expects ${alert}`)]),
  ]
}

/**
 * Rules and dashboards use existing metrics, and no labels that scrapers set; every alert has a severity, a summary, an action and a
 * case; every runbook belongs to an alert, and says what callers see and when to wake somebody, which agrees with the severity.
 */
export const observability = (tree: readonly SourceFile[]): Finding[] => {
  const docs = tree.filter(({ path }) => path === docsPath)
  const known = seriesIn(docs[0]?.text ?? '')
  const shipped = tree.filter(({ path }) => path.startsWith(files))
  const pages = tree.filter(({ path }) => path.startsWith(runbooks))
  const tested = new Set(
    tree
      .filter(({ path }) => path.startsWith(cases))
      .flatMap(({ text }) => [...text.matchAll(/alertname: (\w+)/g)].map(([, name = '']) => name)),
  )
  const rules = shipped.filter(({ path }) => path.startsWith(`${files}rules/`))
  const alerts = rules.flatMap(alertsIn)
  const texts = new Map(pages.map(({ path, text }) => [path, text]))
  return [
    ...docs.flatMap(renamedLabels),
    ...rules.flatMap(scraperLabelsIn),
    ...shipped.flatMap((file) => unknownMetrics(file, known)),
    ...alerts.flatMap((alert) => alertProblems(alert, texts, tested)),
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
