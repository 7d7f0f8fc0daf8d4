import { Socket } from 'node:net'
import { readFrames, writeFrame } from '#worker/protocol/frames.ts'
import { type HostReport, type Message, pipeFd } from '#worker/protocol/protocol.ts'

/** More than any order with its HTML, CSS and scripts. */
const textBytesMax = 64 * 2 ** 20

const withBytes = (report: HostReport): readonly [message: unknown, bytes?: Uint8Array] => {
  if (report.kind !== 'ended' || report.outcome.outcome !== 'completed') return [report]
  const { bytes, ...shot } = report.outcome.shot
  return [{ ...report, outcome: { ...report.outcome, shot } }, bytes]
}

/**
 * Opens the pipe, calls `take` with each message, and returns a function that sends a report; it resolves once the kernel has
 * accepted the report, or never. When the supervisor closes the pipe, kills this process; Chromium ends with its own pipe.
 */
export const openSupervisorPipe = (take: (message: Message) => void): ((report: HostReport) => Promise<void>) => {
  const pipe = new Socket({ fd: pipeFd })
  const end = () => process.kill(process.pid, 'SIGKILL')
  pipe.on('error', () => {}).once('close', end)
  readFrames(pipe, { textBytesMax, bytesMax: 0 }, { take: (text) => take(JSON.parse(text) as Message), broken: end })
  return (report) => writeFrame(pipe, ...withBytes(report))
}
