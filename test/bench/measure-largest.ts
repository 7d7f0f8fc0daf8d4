// Measures the largest captures of each format while two busy loops take the processor beside them:
// node test/bench/measure-largest.ts [format ...]
import { spawn } from 'node:child_process'
import { loadavg } from 'node:os'
import { type Format, mediaTypes } from '#shared/capture/options.ts'
import { ownCpuSeconds } from '#test/bench/cpu-seconds.ts'
import { countCpuByPart } from '#test/bench/engine/cpu-by-part.ts'
import { captureWith, startTestHost, startTestEgress } from '#test/helpers/browser-host.ts'
import type { Host } from '#worker/host/steer-host.ts'

const busyLoops = 2

/** Retina makes 80 million device pixels of it, within what each format holds on a side. */
const [width, height] = [3840, 5208]

/** What looks like photographs: waves of all lengths, and the grain of a sensor, which never repeats itself. */
const photographs = `<canvas width="${width}" height="${height}" style="display:block"></canvas><script>
  const context = document.querySelector('canvas').getContext('2d')
  const strip = context.createImageData(${width}, 217)
  let seed = 1
  const random = () => (seed = (seed * 48271) % 2147483647) / 2147483647
  for (let at = 0; at < strip.data.length; at += 4) {
    const [x, y] = [(at / 4) % ${width}, Math.floor(at / 4 / ${width})]
    const wave = Math.sin(x / 97) + Math.sin(y / 61) + Math.sin((x + y) / 13) / 2 + Math.sin((x * y) / 9000) / 2
    for (const [channel, shift] of [0, 25, 60].entries()) strip.data[at + channel] = 110 + shift + wave * 30 + random() * 9
    strip.data[at + 3] = 255
  }
  for (let y = 0; y < ${height}; y += 217) context.putImageData(strip, 0, y)
</script>`

const line = 'The quick brown fox jumps over the lazy dog while 1,234 captures wait for their turn. '
const words = `<div style="height:${height}px;overflow:hidden;font:15px sans-serif">${line.repeat(9000)}</div>`

const pages = { photographs, words }

/** The kernel ends it with this process. */
const startBusyLoop = () =>
  spawn('setpriv', ['--pdeathsig', 'KILL', process.execPath, '-e', 'for (;;);'], { stdio: 'ignore' })

const requested = process.argv.slice(2)
const formats = (Object.keys(mediaTypes) as Format[]).filter(
  (format) => requested.length === 0 || requested.includes(format),
)

await using egress = await startTestEgress('127.0.0.1')
const loops = Array.from({ length: busyLoops }, startBusyLoop)

const capture = async (host: Host, html: string, format: Format): Promise<string> => {
  using counted = countCpuByPart(process.pid)
  const sum = (numbers: Iterable<number>) => [...numbers].reduce((all, each) => all + each, 0)
  const used = () => sum(counted.read().values()) - sum(loops.map(({ pid = 0 }) => ownCpuSeconds(pid)))
  const before = used()
  const outcome = await captureWith(host, { html, width, retina: true, full_page: true, format, timeout: 60 })
  const usedSeconds = used() - before
  if (outcome.outcome !== 'completed') return JSON.stringify(outcome)
  const { shot, timings } = outcome
  const { inspect = 0, shoot = 0, encode = 0 } = timings
  const pictureSeconds = ((inspect + shoot + encode) / 1000).toFixed(1)
  const size = `${shot.width} x ${shot.height}, ${(shot.bytes.byteLength / 1e6).toFixed(1)} MB`
  return `picture ${pictureSeconds} s, processor of all ${usedSeconds.toFixed(1)} s, ${size}, ${JSON.stringify(timings)}`
}

try {
  for (const [page, html] of Object.entries(pages)) {
    for (const format of formats) {
      await using host = await startTestHost(egress)
      console.log(page, format, await capture(host, html, format), `load ${loadavg()[0]?.toFixed(1)}`)
    }
  }
} finally {
  for (const loop of loops) loop.kill('SIGKILL')
}
