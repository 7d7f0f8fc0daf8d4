import t from 'tap'
import { printTemplate } from '#worker/browser-host/capture/load/print-template.ts'

const fields = { date: '29.11.2026', colour: null }
const logo = '<img width="40" src="data:image/png;base64,AAAA" />'

t.test('print template: keeps text, styles and images in it, and names what it removes', (t) => {
  const rows: [template: string, html: string, removed: string[]][] = [
    ['text', 'text', []],
    ['<html><body><p class="title"></p>', '<p class="title"></p>', []],
    [`${logo} Invoice`, `${logo} Invoice`, []],
    ['<style>p > b { color: red }</style>', '<style>p > b { color: red }</style>', []],
    ['<script>1</script><iframe src="/"></iframe>', '', ['script', 'iframe']],
    ['<img src="https://example.com/a.png"><img src="data:image/svg+xml;base64,AAAA">', '', ['img']],
    ['<style>@IMPORT url(/a)</style><b>b</b>', '<b>b</b>', ['style']],
    ['<style>@font-face { src: url(/a) }</style>', '', ['style']],
    ['<style>@\\69mport url(/a)</style>', '', ['style']],
    ['<p onclick="go()">a</p>', '<p>a</p>', []],
  ]
  for (const [template, html, removed] of rows)
    t.strictSame(printTemplate(template, fields), { html, removed }, template)
  t.end()
})

t.test('print template: fills in the date that it is given, and colours text', (t) => {
  const { html } = printTemplate('<span class="small date">then</span><i class="dated"></i>', fields)
  t.equal(html, '<span class="small">29.11.2026</span><i class="dated"></i>')
  t.match(
    printTemplate('a', { ...fields, colour: 'rgb(1, 2, 3)' }).html,
    /^<div style="[^"]*color:rgb\(1, 2, 3\)">a<\/div>$/,
  )
  t.end()
})
