import {
  GraphThresholdsStyleConfigBuilder,
  GraphThresholdsStyleMode,
  LegendDisplayMode,
  LegendPlacement,
  ReduceDataOptionsBuilder,
  VizLegendOptionsBuilder,
} from '@grafana/grafana-foundation-sdk/common'
import {
  AnnotationQueryBuilder,
  DashboardBuilder,
  DashboardLinkBuilder,
  DashboardLinkType,
  RowBuilder,
  ThresholdsConfigBuilder,
  ThresholdsMode,
  DatasourceVariableBuilder,
  QueryVariableBuilder,
  TextBoxVariableBuilder,
  VariableRefresh,
} from '@grafana/grafana-foundation-sdk/dashboard'
import { DataqueryBuilder } from '@grafana/grafana-foundation-sdk/prometheus'
import { PanelBuilder as StatBuilder } from '@grafana/grafana-foundation-sdk/stat'
import { PanelBuilder as TimeSeriesBuilder } from '@grafana/grafana-foundation-sdk/timeseries'
import { dashboards } from './dashboards.ts'
import { type Dashboard, type Panel, series } from './panel.ts'

const datasource = { type: 'prometheus', uid: '${datasource}' }
const tag = 'shutterfleet'
const size = { stat: { span: 6, height: 4 }, series: { span: 12, height: 8 } }
/** Of a wall: with Grafana's own 38 pixels a row and 170 above them, 21 rows are 970 pixels. */
const wallSize = { stat: { span: 6, height: 5 }, series: { span: 12, height: 11 } }

/** Added to the description of panels that may have no data. */
const notes = {
  isKubernetes: 'Only with the controller on Kubernetes.',
  isEventOnly: 'Nothing until the first event.',
}

/** What a panel says of itself, or the help of its metrics. */
const describe = ({ description, isKubernetes, isEventOnly, queries }: Panel, help: MetricHelp): string =>
  [description ?? helpOf(queries, help), isKubernetes && notes.isKubernetes, isEventOnly && notes.isEventOnly]
    .filter(Boolean)
    .join(' ')

/** Help texts by the names of metrics. */
export type MetricHelp = ReadonlyMap<string, string>

const helpOf = (queries: Panel['queries'], help: MetricHelp): string => {
  const names = queries.flatMap(({ expr }) => expr.match(/shutterfleet_\w+/g) ?? [])
  const texts = names.map((name) => help.get(name) ?? help.get(name.replace(/_bucket$/, '')))
  return [...new Set(texts)].flatMap((text) => (text === undefined ? [] : [`${text}.`])).join(' ')
}

const legend = () =>
  new VizLegendOptionsBuilder()
    .showLegend(true)
    .displayMode(LegendDisplayMode.List)
    .placement(LegendPlacement.Bottom)
    .calcs([])

/** Green, orange and red, or no judgement; each step applies from its value upwards, the first from below. Grafana's own default is red from 80. */
const thresholds = (bad: Panel['bad']) => {
  const builder = new ThresholdsConfigBuilder().mode(ThresholdsMode.Absolute)
  if (!bad) return builder.steps([{ color: 'text', value: null }])
  const isHighBad = 'above' in bad
  const [first, second] = isHighBad ? bad.above : [bad.below[1], bad.below[0]]
  const [low, high] = isHighBad ? ['green', 'red'] : ['red', 'green']
  return builder.steps([
    { color: low, value: null },
    { color: 'orange', value: first },
    { color: high, value: second },
  ])
}

const createStat = ({ bad }: Panel) =>
  new StatBuilder().reduceOptions(new ReduceDataOptionsBuilder().calcs(['lastNotNull'])).thresholds(thresholds(bad))

const createSeries = ({ bad }: Panel) => {
  const builder = new TimeSeriesBuilder().legend(legend()).fillOpacity(10)
  if (!bad) return builder
  const dashed = new GraphThresholdsStyleConfigBuilder().mode(GraphThresholdsStyleMode.Dashed)
  return builder.thresholds(thresholds(bad)).thresholdsStyle(dashed)
}

/** Base addresses, which the chart replaces; Grafana shows them above each dashboard. */
const bases = {
  console: { label: 'Console', url: 'http://localhost:8080' },
  runbooks: { label: 'Runbooks, with a slash at the end', url: '/' },
}

const linkTo = (title: string, url: string) => new DashboardLinkBuilder(title).type(DashboardLinkType.Link).url(url)

/** A link with a field's label works only from a point of the series, as a data link. */
const isOfSeries = (page: string) => page.includes('__field')

const linksOf = ({ link, runbook, console: page }: Panel) => [
  ...(link === undefined ? [] : [linkTo(`Dashboard: ${link}`, `/d/${tag}-${link}`).keepTime(true).includeVars(true)]),
  ...(runbook === undefined
    ? []
    : [
        linkTo(`Runbook: docs/runbooks/${runbook}.md`, `\${runbooks:raw}docs/runbooks/${runbook}.md`).targetBlank(true),
      ]),
  ...(page === undefined || isOfSeries(page)
    ? []
    : [linkTo('Console', `\${console:raw}/console${page}`).targetBlank(true)]),
]

const renderPanel = (panel: Panel, { isWall }: Pick<Dashboard, 'isWall'>, help: MetricHelp) => {
  const { stat, series: graph } = isWall ? wallSize : size
  const { span, height } = panel.isStat ? stat : graph
  const builder = panel.isStat ? createStat(panel) : createSeries(panel)
  builder.title(panel.title).datasource(datasource).unit(panel.unit).min(0).span(span).height(height)
  const links = linksOf(panel)
  if (links.length > 0) builder.links(links)
  const page = panel.console ?? ''
  if (isOfSeries(page)) builder.dataLinks([linkTo('Console', `\${console:raw}/console${page}`).targetBlank(true)])
  if (panel.seriesLink) builder.dataLinks([linkTo(panel.seriesLink.title, panel.seriesLink.url).targetBlank(true)])
  builder.description(describe(panel, help))
  for (const [index, { expr, legend: name }] of panel.queries.entries()) {
    const query = new DataqueryBuilder()
      .refId(String.fromCodePoint(65 + index))
      .expr(expr)
      .legendFormat(name)
    builder.withTarget(panel.isStat ? query.instant() : query.range())
  }
  return builder
}

const namespaces = () =>
  new QueryVariableBuilder('namespace')
    .label('Namespace')
    .datasource(datasource)
    .query('label_values(shutterfleet_event_loop_utilization_ratio, namespace)')
    .refresh(VariableRefresh.OnTimeRangeChanged)
    .includeAll(true)
    .allValue('.*')
    .multi(true)
    .current({ selected: true, text: 'All', value: '$__all' })

const address = (name: keyof typeof bases) => {
  const { label, url } = bases[name]
  return new TextBoxVariableBuilder(name).label(label).defaultValue(url)
}

/** Jobs are not marked: each capture starts one. */
const scaling = () =>
  new AnnotationQueryBuilder()
    .name('Scaling')
    .datasource(datasource)
    .enable(true)
    .iconColor('blue')
    .expr(
      `sum by (browserpool, direction) (increase(${series('pool_scale_events_total', 'queue!="proxied"')}[90s])) > 0`,
    )
    .step('60s')
    .titleFormat('{{browserpool}} {{direction}}')

const toJson = ({ name, title, panels, showsScaling, isWall }: Dashboard, help: MetricHelp): string => {
  // Every supported Grafana provisions this format from a ConfigMap; only the newest reads version 2.
  // oxlint-disable-next-line typescript/no-deprecated
  const builder = new DashboardBuilder(title)
    .uid(`${tag}-${name}`)
    .tags([tag])
    .time({ from: 'now-1h', to: 'now' })
    .refresh('30s')
    .readonly()
    .link(new DashboardLinkBuilder(tag).type(DashboardLinkType.Dashboards).tags([tag]).asDropdown(true).keepTime(true))
    .withVariable(new DatasourceVariableBuilder('datasource').label('Data source').type('prometheus'))
    .withVariable(namespaces())
    .withVariable(address('console'))
    .withVariable(address('runbooks'))
  if (showsScaling) builder.annotation(scaling())
  let row: string | undefined
  for (const panel of panels) {
    if (panel.row !== undefined && panel.row !== row) builder.withRow(new RowBuilder(panel.row))
    row = panel.row
    builder.withPanel(renderPanel(panel, { ...(isWall && { isWall }) }, help))
  }
  return `${JSON.stringify(builder.build(), null, 2)}\n`
}

/** The JSON text of each dashboard by its path in the repository. */
export const dashboardFiles = (help: MetricHelp): Record<string, string> =>
  Object.fromEntries(
    dashboards.map((dashboard) => [
      `charts/shutterfleet/files/dashboards/${dashboard.name}.json`,
      toJson(dashboard, help),
    ]),
  )
