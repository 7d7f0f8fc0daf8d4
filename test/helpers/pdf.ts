import { inflateSync } from 'node:zlib'

const decodeLatin1 = (pdf: Uint8Array): string => Buffer.from(pdf).toString('latin1')

/** The decompressed streams of a PDF; metadata such as the producer and the date is not in streams. */
export const streamsOf = (pdf: Uint8Array): string[] =>
  [...decodeLatin1(pdf).matchAll(/stream\r?\n([^]*?)\r?\nendstream/g)].map(([, bytes = '']) => {
    try {
      return inflateSync(Buffer.from(bytes, 'latin1')).toString('latin1')
    } catch {
      return bytes
    }
  })

/** Width and height of each page of a PDF, in points. */
export const readPageSizes = (pdf: Uint8Array): [width: number, height: number][] =>
  [...decodeLatin1(pdf).matchAll(/\/MediaBox\s*\[\s*0 0 ([\d.]+) ([\d.]+)\]/g)].map(([, width, height]) => [
    Number(width),
    Number(height),
  ])

/** Whether a PDF has an outline. */
export const hasOutline = (pdf: Uint8Array): boolean => decodeLatin1(pdf).includes('/Outlines')
